"""Memories by id through the facade, over an engine in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda import Memory, MemoryAuthError, MemoryRequestContext


def test_what_is_shared_is_changed_and_deleted_by_its_owner_alone(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        ada, bob = (memory.bind(MemoryRequestContext(user_id=user)) for user in ("ada", "bob"))
        shared = ada.save_semantic(text="the office is in Lyon", label="office", visibility="org")
        with pytest.raises(MemoryAuthError, match="belongs to another user"):
            bob.update_memory(shared.id, visibility="private")
        with pytest.raises(MemoryAuthError, match="belongs to another user"):
            bob.delete_memory(shared.id)
        found = bob.get_memory(shared.id)
        assert found is not None
        assert (found.visibility, found.version) == ("org", 1)
        assert ada.update_memory(shared.id, visibility="private").visibility == "private"
        assert bob.get_memory(shared.id) is None
        assert memory.update_memory(shared.id, visibility="org").version == 3
