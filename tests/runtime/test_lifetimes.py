"""What has a lifetime ends with it, and takes along what it alone gave."""

from __future__ import annotations

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
