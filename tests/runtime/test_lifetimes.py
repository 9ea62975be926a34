"""What has a lifetime ends with it, and takes along what it alone gave."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memoranda import Memory, MemoryRequestContext
from memoranda.testing.clock import ManualClock

CONFIG = {"background_extraction": {"snapshot": {"delete_promoted": True, "ttl_days": 30}}}


def test_memories_of_turns_that_went_on_promotion_go_with_their_session_also_late(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 3, 1, tzinfo=UTC))
    with Memory.open(tmp_path / "memory.db", config=CONFIG, embedder=None, worker=False, clock=clock) as memory:
        ann = memory.bind(MemoryRequestContext(user_id="ann", session_id="spring"))
        ann.record_turn(role="user", content="I live in Paris.")
        memory.wait_until_idle()
        assert ann.list_turns().items == []
        assert [entry.label for entry in ann.list_memories().items] == ["residence"]
        clock.advance(timedelta(days=31))
        memory.wait_until_idle()
        assert [entry.label for entry in ann.list_memories().items] == ["residence"]
        assert ann.delete_session("spring").memories == 1
        assert ann.list_memories().items == []


def test_a_deleted_user_is_named_nowhere_in_the_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=None, worker=False) as memory:
        for user in ("zoe-the-deleted", "ann"):
            handle = memory.bind(MemoryRequestContext(user_id=user, session_id="spring"))
            handle.record_turn(role="user", content="I live in Paris.", idempotency_key="k")
            handle.save_semantic(text="Likes tea", label="drink", visibility="org", idempotency_key="k")
            memory.wait_until_idle()
        memory.delete_user("zoe-the-deleted")
        memory.wait_until_idle(promote=False)
    with closing(sqlite3.connect(path)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [(table, row) for table in tables for row in connection.execute(f"SELECT * FROM {table}")]
    assert [(table, row) for table, row in rows if "zoe-the-deleted" in repr(row)] == []
    assert any("ann" in repr(row) for _, row in rows)
