"""Memories by id through the facade, over an engine in this process."""

from __future__ import annotations

from pathlib import Path

from memoranda import Memory, MemoryRequestContext


def test_an_update_returns_what_it_wrote_also_where_the_caller_may_not_read_it_again(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        ada, bob = (memory.bind(MemoryRequestContext(user_id=user)) for user in ("ada", "bob"))
        shared = ada.save_semantic(text="the office is in Lyon", label="office", visibility="org")
        assert bob.update_memory(shared.id, visibility="private").visibility == "private"
        assert bob.get_memory(shared.id) is None
