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


def test_every_text_of_a_turn_may_hold_anything(memory: Memory) -> None:
    ada = memory.bind(MemoryRequestContext(user_id="ada", session_id="monday"))
    text = "\ud800a\0b"
    call = {"id": text, "type": "function", "function": {"name": text, "arguments": text}}
    ada.record_turn(role="assistant", content=text, tool_calls=[call], model_name=text, metadata={text: text})
    ada.record_turn(role=text, content=text, tool_call_id=text, tool_name=text)
    call_turn, result = ada.list_turns().items
    assert result.role == result.tool_name == result.content == call_turn.model_name == "\ufffdab"
    assert [each["id"] for each in call_turn.tool_calls or ()] == [result.tool_call_id]


@pytest.mark.parametrize("project_id", ["a\0b", SURROGATE])
def test_a_project_id_that_cannot_be_stored_is_refused(tmp_path: Path, project_id: str) -> None:
    with pytest.raises(MemoryBadRequestError, match="unpaired surrogate"):
        Memory.open(tmp_path / "other.db", project_id=project_id, embedder=None, worker=False)
