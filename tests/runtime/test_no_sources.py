"""A context of no sources: nothing was asked, so nothing is given, and that is no error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memoranda import Memory
from memoranda.sdk.errors import MemoryBadRequestError


@pytest.mark.parametrize(("style", "nothing"), [(None, []), ("openai", []), ("claude", ""), ("jinja2", "")])
def test_a_context_of_no_sources_is_empty(tmp_path: Path, style: str | None, nothing: Any) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        memory.save_semantic(text="tea", label="drink", user_id="ada")
        context = memory.build_context("tea", enabled_sources=set(), format_style=style, include_memories=True)
        plain = memory.build_context("tea", enabled_sources=set(), format_style=style)
    assert (context.formatted_context, context.selected_memories, context.metadata.memory_counts) == (nothing, [], {})
    assert plain.selected_memories is None


def test_a_source_that_does_not_exist_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with (
        Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory,
        pytest.raises(MemoryBadRequestError, match=r"bogus.*stm, semantic"),
    ):
        memory.build_context("tea", enabled_sources={"bogus"})
