"""What ends: lifetimes and deletion, with everything that was derived."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.sdk.errors import MemoryBadRequestError, MemoryNotFoundError
from memoranda.sdk.memory import Memory
from memoranda.testing.clock import ManualClock
from memoranda.testing.extractors import ScriptedExtractor
from memoranda.testing.memory_suite.base import MemoryRules, OpenMemory, user


def sentences(turns: Sequence[SourceTurn]) -> list[ExtractedItem]:
    """Take every sentence of every turn for a fact."""
    return [
        ExtractedItem("semantic", sentence.strip(), record_type="fact", turn_ids=(turn.turn_id,))
        for turn in turns
        for sentence in turn.content.split(".")
        if sentence.strip()
    ]


class LifetimeRules(MemoryRules):
    """``ttl_days`` and the clock."""

    def test_a_memory_ends_with_its_lifetime_in_every_read(
        self, memory: Memory, alice: Memory, clock: ManualClock
    ) -> None:
        saved = alice.save_semantic(text="the code is zebra", label="code", ttl_days=2)
        memory.wait_until_idle(promote=False)
        clock.advance(timedelta(days=2))
        assert alice.get_memory(saved.id) is None
        assert alice.get_semantic("code") is None
        assert alice.list_memories(include_superseded=True).items == []
        for mode in ("text", "semantic", "hybrid"):
            assert alice.search_semantic("zebra", mode=mode) == []
        assert alice.history(saved.id) == []

    def test_the_expiry_job_removes_it(self, memory: Memory, alice: Memory, clock: ManualClock) -> None:
        alice.save_semantic(text="the code is zebra", label="code", ttl_days=2)
        alice.save_semantic(text="kept", label="kept")
        clock.advance(timedelta(days=3))
        memory.wait_until_idle(promote=False)
        assert memory.status().memories == {"semantic": 1}

    def test_a_save_after_the_end_begins_anew(self, alice: Memory, clock: ManualClock) -> None:
        first = alice.save_semantic(text="old", label="code", ttl_days=1)
        clock.advance(timedelta(days=1))
        second = alice.save_semantic(text="new", label="code")
        assert second.id != first.id
        assert [state.content for state in alice.history(second.id)] == ["new"]

    def test_saying_it_again_renews_the_lifetime(self, alice: Memory, clock: ManualClock) -> None:
        saved = alice.save_semantic(text="x", label="code", ttl_days=2)
        clock.advance(timedelta(days=1))
        alice.save_semantic(text="x", label="code", ttl_days=2)
        clock.advance(timedelta(days=1.5))
        assert alice.get_memory(saved.id) is not None
        clock.advance(timedelta(days=1))
        assert alice.get_memory(saved.id) is None

    @pytest.mark.parametrize("days", [0, -1, float("nan"), float("inf"), True, "1x"])
    def test_a_lifetime_is_a_positive_number(self, alice: Memory, days: Any) -> None:
        with pytest.raises((ValueError, MemoryBadRequestError)):
            alice.save_semantic(text="x", label="y", ttl_days=days)


class DeletionRules(MemoryRules):
    """``delete_*``: a report of what went, and nothing left."""

    @pytest.fixture
    def extractor(self) -> ScriptedExtractor:
        return ScriptedExtractor(sentences)

    def test_deleting_a_fact_leaves_no_trace_of_it(self, memory: Memory, alice: Memory) -> None:
        alice.record_turn(role="user", content="My name is Pahwa. I prefer Python over JavaScript")
        memory.wait_until_idle()
        facts = {item.content: item for item in alice.list_memories(kind="semantic").items}
        assert len(facts) == 2
        gone = facts["My name is Pahwa"]
        report = alice.delete_memory(gone.id)
        assert (report.memories, report.vectors) == (1, 1)
        assert report.postings > 0
        memory.wait_until_idle()
        for mode in ("text", "semantic", "hybrid"):
            assert gone.id not in [chunk.id for chunk in alice.search_semantic("Pahwa", mode=mode)]
        assert alice.history(gone.id) == []
        assert [item.content for item in alice.list_memories(kind="semantic").items] == [
            "I prefer Python over JavaScript"
        ]

    def test_a_fact_goes_with_its_last_turn(self, memory: Memory, alice: Memory) -> None:
        turns = [alice.record_turn(role="user", content="I like tea") for _ in range(2)]
        written = alice.save_semantic(text="written directly", label="direct")
        memory.wait_until_idle()
        assert len(alice.list_memories(kind="semantic").items) == 2
        assert alice.delete_turn(turns[0].id).memories == 0
        assert alice.delete_turn(turns[1].id).memories == 1
        assert [item.id for item in alice.list_memories(kind="semantic").items] == [written.id]

    def test_deleting_a_session_takes_what_came_from_it_alone(self, memory: Memory, alice: Memory) -> None:
        alice.record_turn(role="user", content="I like tea. I live in Oslo", session_id="one")
        alice.record_turn(role="user", content="I like tea", session_id="two")
        memory.wait_until_idle()
        report = memory.delete_session("one", user_id="alice")
        assert (report.turns, report.snapshots, report.memories) == (1, 1, 1)
        assert [item.content for item in alice.list_memories(kind="semantic").items] == ["I like tea"]
        assert memory.delete_session("one", user_id="alice").turns == 0

    def test_deleting_a_session_drops_its_waiting_work(self, memory: Memory, alice: Memory) -> None:
        alice.record_turn(role="user", content="I like tea", session_id="one")
        memory.promote("one")
        memory.delete_session("one")
        memory.wait_until_idle()
        assert alice.list_memories().items == []
        assert (memory.status().turns, memory.status().failures) == (0, {})

    def test_deleting_a_user_leaves_the_other(self, memory: Memory, alice: Memory, bob: Memory) -> None:
        for handle, number in ((alice, 3), (bob, 2)):
            for at in range(number):
                handle.save_semantic(text=f"memory {at}", label=f"label {at}")
            handle.record_turn(role="user", content="I like tea")
        memory.wait_until_idle()
        report = memory.delete_user("alice")
        assert (report.memories, report.turns, report.snapshots) == (4, 1, 1)
        assert alice.list_memories().items == []
        assert len(bob.list_memories().items) == 3
        assert memory.status().turns == 1

    @pytest.mark.parametrize("name", ["", "  ", "\n"])
    def test_a_deletion_of_nobody_is_refused(self, memory: Memory, alice: Memory, name: str) -> None:
        alice.save_semantic(text="kept", label="kept")
        with pytest.raises((ValueError, MemoryBadRequestError)):
            memory.delete_user(name)
        with pytest.raises((ValueError, MemoryBadRequestError)):
            memory.delete_session(name)
        assert len(alice.list_memories().items) == 1

    def test_a_large_user_is_deleted_whole(self, memory: Memory, alice: Memory, bob: Memory) -> None:
        alice.record_turns([{"role": "user", "content": f"I like tea {number}"} for number in range(1200)])
        alice.save_many([{"kind": "semantic", "text": f"fact {n}", "label": f"l{n}"} for n in range(700)])
        bob.record_turn(role="user", content="I like tea")
        report = memory.delete_user("alice")
        assert (report.turns, report.memories) == (1200, 700)
        assert (memory.status().turns, memory.status().memories) == (1, {})

    def test_another_project_with_the_same_names_is_untouched(
        self, open_memory: OpenMemory, options: dict[str, Any]
    ) -> None:
        with open_memory(**{**options, "project_id": "one"}) as memory:
            user(memory, "alice").record_turn(role="user", content="doc-1")
            saved = user(memory, "alice").save_semantic(text="doc-1", label="doc-1")
        with open_memory(**{**options, "project_id": "two"}) as memory:
            alice = user(memory, "alice")
            alice.record_turn(role="user", content="doc-1")
            kept = alice.save_semantic(text="doc-1", label="doc-1")
            assert alice.get_memory(saved.id) is None
            with pytest.raises(MemoryNotFoundError):
                alice.delete_memory(saved.id)
            before = (alice.list_turns(), alice.list_memories(), memory.status())
        with open_memory(**{**options, "project_id": "one"}) as memory:
            memory.delete_user("alice")
        with open_memory(**{**options, "project_id": "two"}) as memory:
            alice = user(memory, "alice")
            assert (alice.list_turns(), alice.list_memories(), memory.status()) == before
            assert [chunk.id for chunk in alice.search_semantic("doc-1", mode="text")] == [kept.id]
