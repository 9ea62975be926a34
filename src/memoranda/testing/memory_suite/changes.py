"""The change feed: everything that changed, once, in an order that can be followed, without content."""

from __future__ import annotations

import hashlib
import threading
import time
from datetime import timedelta
from typing import Any

import pytest

from memoranda.sdk.errors import MemoryBadRequestError
from memoranda.sdk.memory import Memory
from memoranda.sdk.models import ChangeEntry
from memoranda.testing.clock import ManualClock
from memoranda.testing.memory_suite.base import CONFIG, MemoryRules, OpenMemory, user


def _told(memory: Memory) -> list[tuple[str, str, str, str | None]]:
    return [(each.entity, each.entity_id, each.operation, each.user_id) for each in followed(memory)]


def followed(memory: Memory, after: str | None = None, limit: int = 2) -> list[ChangeEntry]:
    """Return every change after a cursor, page by page."""
    found: list[ChangeEntry] = []
    while True:
        page = memory.changes(after=after, limit=limit)
        after = page.next_cursor
        if not page.items:
            return found
        found += page.items


class ChangeRules(MemoryRules):
    """``changes``."""

    def test_a_memory_is_told_of_when_it_is_made_changed_superseded_and_deleted(self, alice: Memory) -> None:
        first = alice.save_semantic(text="Lives in Oslo", label="home")
        alice.update_memory(first.id, content="Lives in Bergen")
        alice.delete_memory(first.id)
        assert _told(alice) == [
            ("memory", first.id, "created", "alice"),
            ("memory", first.id, "updated", "alice"),
            ("memory", first.id, "deleted", None),
        ]

    def test_positions_grow_by_one_and_entries_have_no_content(self, alice: Memory, clock: ManualClock) -> None:
        alice.save_semantic(text="a secret", label="hidden", metadata={"tag": "covert"})
        alice.save_procedure(procedure="open", description="d", content="a secret")
        found = followed(alice)
        assert [each.position for each in found] == [1, 2]
        assert {each.at for each in found} == {clock.now()}
        assert not [word for word in ("secret", "hidden", "covert", "open") if word in repr(found)]

    def test_who_goes_on_from_a_cursor_reads_what_came_since(self, alice: Memory) -> None:
        alice.save_semantic(text="one", label="one")
        page = alice.changes()
        empty = alice.changes(after=page.next_cursor)
        assert (empty.items, empty.next_cursor) == ([], page.next_cursor)
        later = alice.save_semantic(text="two", label="two")
        assert [each.entity_id for each in followed(alice, empty.next_cursor)] == [later.id]

    def test_turns_are_told_of_only_where_the_configuration_says_so(self, alice: Memory) -> None:
        alice.record_turn(role="user", content="hello")
        assert _told(alice) == []

    def test_turns_and_sessions_where_the_configuration_says_so(
        self, open_memory: OpenMemory, options: dict[str, Any]
    ) -> None:
        config = {"memory": {**CONFIG["memory"], "change_feed": {"turns": True, "memories": False}}}
        with open_memory(**{**options, "config": config}) as memory:
            alice = user(memory, "alice")
            ids = [alice.record_turn(role="user", content=text).id for text in ("hello", "again")]
            alice.save_semantic(text="not told of", label="x")
            alice.delete_turn(ids[0])
            alice.delete_session("s1")
            assert _told(memory) == [
                ("session", "s1", "created", "alice"),
                ("turn", ids[0], "created", "alice"),
                ("turn", ids[1], "created", "alice"),
                ("turn", ids[0], "deleted", None),
                ("session", "s1", "deleted", "alice"),
                ("turn", ids[1], "deleted", None),
            ]

    def test_nothing_is_told_where_the_feed_is_off(self, open_memory: OpenMemory, options: dict[str, Any]) -> None:
        config = {"memory": {**CONFIG["memory"], "change_feed": {"memories": False}}}
        with open_memory(**{**options, "config": config}) as memory:
            user(memory, "alice").save_semantic(text="a", label="a")
            memory.delete_user("alice")
            assert _told(memory) == []

    def test_a_user_who_is_deleted_is_named_nowhere_any_more(self, memory: Memory, alice: Memory, bob: Memory) -> None:
        mine, other = alice.save_semantic(text="a", label="a"), bob.save_semantic(text="b", label="b")
        followed(memory)
        memory.delete_user("alice")
        digest = hashlib.sha256(b"alice").hexdigest()
        told = _told(memory)
        assert told == [
            ("memory", other.id, "created", "bob"),
            ("memory", mine.id, "deleted", None),
            ("user", digest, "deleted", None),
        ]
        assert "alice" not in repr(told)

    def test_a_user_who_comes_back_is_told_of(self, memory: Memory, alice: Memory) -> None:
        memory.delete_user("alice")
        again = alice.save_semantic(text="a", label="a")
        assert _told(memory)[-1] == ("memory", again.id, "created", "alice")

    def test_entries_go_after_their_days_and_who_was_behind_is_told(
        self, memory: Memory, alice: Memory, clock: ManualClock
    ) -> None:
        start = memory.changes().next_cursor
        alice.save_semantic(text="a", label="a")
        followed(memory)
        clock.advance(timedelta(days=31))
        memory.wait_until_idle(promote=False)
        kept = alice.save_semantic(text="b", label="b")
        assert [(each.position, each.entity_id) for each in followed(memory)] == [(2, kept.id)]
        with pytest.raises(MemoryBadRequestError) as expired:
            memory.changes(after=start)
        assert expired.value.code == "CURSOR_EXPIRED"

    @pytest.mark.parametrize("bad", ["nonsense", "WyJhIiwxXQ"])
    def test_a_cursor_of_something_else_is_refused(self, memory: Memory, bad: str) -> None:
        with pytest.raises(MemoryBadRequestError, match="not one of this listing"):
            memory.changes(after=bad)

    def test_who_waits_is_given_the_change_that_comes(self, memory: Memory, alice: Memory) -> None:
        cursor = memory.changes().next_cursor
        saver = threading.Timer(0.1, lambda: alice.save_semantic(text="a", label="a"))
        saver.start()
        page = memory.changes(after=cursor, wait=20)
        saver.join()
        assert [each.operation for each in page.items] == ["created"]

    def test_who_waits_for_nothing_is_answered_in_the_end(self, memory: Memory) -> None:
        began = time.monotonic()
        assert memory.changes(wait=0.3).items == []
        assert time.monotonic() - began >= 0.3
