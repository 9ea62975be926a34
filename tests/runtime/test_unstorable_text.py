"""Ids and names that no database can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memoranda import Memory, MemoryBadRequestError, MemoryRequestContext

SURROGATE = "\ud800x"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        yield memory


@pytest.mark.parametrize(
    "read",
    [
        lambda memory: memory.search_semantic("tea", user_id=SURROGATE),
        lambda memory: memory.list_turns(SURROGATE, user_id="ada"),
        lambda memory: memory.get_memory(SURROGATE),
        lambda memory: memory.get_turn(SURROGATE),
        lambda memory: memory.get_failure(SURROGATE),
        lambda memory: memory.delete_user(SURROGATE),
        lambda memory: memory.promote(SURROGATE),
    ],
)
def test_a_read_by_an_id_that_cannot_exist_says_so(memory: Memory, read: Callable[[Memory], object]) -> None:
    memory.save_semantic(user_id="ada", label="drink", text="likes tea")
    with pytest.raises(MemoryBadRequestError, match="unpaired surrogate"):
        read(memory)


@pytest.mark.parametrize("label", ["a\0b", SURROGATE, "\ud83d\ude00"])
def test_what_was_saved_under_a_name_is_found_by_it(memory: Memory, label: str) -> None:
    ada = memory.bind(MemoryRequestContext(user_id="ada"))
    saved = ada.save_semantic(label=label, text="likes tea")
    found = ada.get_semantic(label)
    assert found is not None
    assert found["id"] == saved.id
