"""Background work: when turns are distilled, exactly once, and what becomes of what fails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.sdk.errors import MemoryNotFoundError
from memoranda.sdk.memory import Memory
from memoranda.testing.clock import ManualClock
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.extractors import ScriptedExtractor
from memoranda.testing.memory_suite.base import MemoryRules, OpenMemory, user
from memoranda.testing.memory_suite.lifetimes import sentences


class BackgroundRules(MemoryRules):
    """Promotion, extraction, waiting."""

    @pytest.fixture
    def extractor(self) -> ScriptedExtractor:
        return ScriptedExtractor(sentences)

    def test_a_full_session_is_promoted(self, memory: Memory, alice: Memory, extractor: ScriptedExtractor) -> None:
        alice.record_turns([{"role": "user", "content": f"Fact {number}"} for number in range(19)])
        memory.wait_until_idle(promote=False)
        assert extractor.calls == []
        alice.record_turn(role="user", content="Fact 19")
        memory.wait_until_idle(promote=False)
        assert [len(call) for call in extractor.calls] == [20]
        assert all(turn.promoted for turn in alice.list_turns().items)

    def test_an_idle_session_is_promoted(
        self, memory: Memory, alice: Memory, extractor: ScriptedExtractor, clock: ManualClock
    ) -> None:
        alice.record_turn(role="user", content="Fact 1")
        clock.advance(timedelta(minutes=2))
        alice.record_turn(role="user", content="Fact 2")
        clock.advance(timedelta(minutes=2.9))
        memory.wait_until_idle(promote=False)
        assert extractor.calls == []
        clock.advance(timedelta(minutes=0.2))
        memory.wait_until_idle(promote=False)
        assert [len(call) for call in extractor.calls] == [2]

    def test_back_filled_turns_are_not_idle_for_their_age(
        self, memory: Memory, alice: Memory, extractor: ScriptedExtractor
    ) -> None:
        alice.record_turn(role="user", content="Fact 1", timestamp="2019-05-04")
        memory.wait_until_idle(promote=False)
        assert extractor.calls == []

    def test_promotion_on_request_takes_what_was_asked(
        self, memory: Memory, alice: Memory, bob: Memory, extractor: ScriptedExtractor
    ) -> None:
        for handle in (alice, bob):
            for session in ("s1", "s2"):
                handle.record_turn(role="user", content="Fact", session_id=session)
        (result,) = alice.promote("s1")
        assert (result.session_id, result.promoted_count) == ("s1", 1)
        assert [each.session_id for each in alice.promote()] == ["s2"]
        memory.wait_until_idle(promote=False)
        assert len(extractor.calls) == 2
        assert not any(turn.promoted for turn in bob.list_turns().items)
        assert alice.promote("s1") == [] or alice.promote("s1")[0].promoted_count == 0

    def test_every_turn_is_extracted_exactly_once(
        self, memory: Memory, alice: Memory, extractor: ScriptedExtractor
    ) -> None:
        ids: list[str] = []
        for number in range(50):
            ids.append(alice.record_turn(role="user", content=f"Fact {number}").id)
            if number % 7 == 0:
                memory.wait_until_idle(promote=number % 14 == 0)
        memory.wait_until_idle()
        memory.wait_until_idle()
        assert [turn_id for call in extractor.calls for turn_id in call] == ids

    def test_a_worker_does_it_by_itself(self, open_memory: OpenMemory, options: dict[str, Any]) -> None:
        with open_memory(**{**options, "worker": True}) as memory:
            alice = user(memory, "alice")
            alice.record_turns([{"role": "user", "content": f"Fact {number}"} for number in range(20)])
            memory.wait_until_idle(timeout=60, promote=False)
            assert len(alice.list_memories(kind="semantic").items) == 20

    def test_work_that_was_accepted_is_done_after_reopening(
        self, open_memory: OpenMemory, options: dict[str, Any]
    ) -> None:
        with open_memory(**options) as memory:
            user(memory, "alice").record_turn(role="user", content="Fact 1")
            memory.promote()
        with open_memory(**options) as memory:
            memory.wait_until_idle(promote=False)
            assert len(user(memory, "alice").list_memories().items) == 1

    def test_a_statement_that_is_repeated_is_one_memory(self, memory: Memory, alice: Memory) -> None:
        for number in range(5):
            alice.record_turn(role="user", content="Works at DGIA", session_id=f"s{number}")
        alice.record_turn(role="user", content="works at  DGIA.", session_id="s9")
        memory.wait_until_idle()
        (entry,) = alice.list_memories(kind="semantic").items
        assert entry.occurrences == 6

    def test_a_repeated_statement_of_another_user_is_theirs(self, memory: Memory, alice: Memory, bob: Memory) -> None:
        for handle in (alice, bob):
            handle.record_turn(role="user", content="Works at DGIA")
        memory.wait_until_idle()
        assert [item.occurrences for item in memory.list_memories(kind="semantic").items] == [1, 1]

    def test_a_fact_without_a_time_takes_that_of_its_turn(self, memory: Memory, alice: Memory) -> None:
        alice.record_turn(role="user", content="I moved to Oslo last month", timestamp="2019-05-04T10:00:00Z")
        memory.wait_until_idle()
        (entry,) = alice.list_memories(kind="semantic").items
        assert entry.valid_from == datetime(2019, 5, 4, 10, tzinfo=UTC)
        assert entry.event_time == datetime(2019, 5, 4, 10, tzinfo=UTC)

    def test_provenance_says_who_extracted_it(self, memory: Memory, alice: Memory) -> None:
        turn = alice.record_turn(role="user", content="Fact 1")
        memory.wait_until_idle()
        (entry,) = alice.list_memories(kind="semantic").items
        assert "scripted" in str(entry.provenance)
        assert turn.id in str(entry.provenance) or entry.provenance.get("snapshot_id")
        assert (entry.user_id, entry.visibility) == ("alice", "private")

    def test_nothing_to_say_is_not_sent_to_a_model(
        self, memory: Memory, alice: Memory, extractor: ScriptedExtractor, embedder: HashedEmbedder
    ) -> None:
        for content in (None, "", "  \n "):
            alice.record_turn(role="user", content=content)
        memory.wait_until_idle()
        assert (extractor.calls, embedder.calls) == ([], [])
        assert memory.status().failures == {}

    def test_turns_get_their_vectors(self, memory: Memory, alice: Memory, embedder: HashedEmbedder) -> None:
        alice.record_turns([{"role": "user", "content": f"words {number}"} for number in range(5)])
        assert embedder.calls == []
        memory.wait_until_idle(promote=False)
        assert sorted(embedder.calls) == sorted(f"words {number}" for number in range(5))

    def test_status_counts_what_there_is(self, memory: Memory, alice: Memory) -> None:
        alice.record_turn(role="user", content="Fact 1")
        alice.save_semantic(text="x", label="x")
        alice.save_taxonomic(domain="d", term="t", definition="x")
        status = memory.status()
        assert (status.turns, status.sessions, status.memories) == (1, 1, {"semantic": 1, "taxonomic": 1})
        assert sum(status.jobs.values()) > 0
        memory.wait_until_idle()
        status = memory.status()
        assert (status.jobs.get("running", 0), status.lag_seconds) == (0, 0.0)
        assert not {"extract", "embed"} & status.queue.keys()

    def test_waiting_has_an_end(self, open_memory: OpenMemory, options: dict[str, Any]) -> None:
        def slow(turns: Sequence[SourceTurn]) -> list[ExtractedItem]:
            raise ConnectionError("the model is away")

        with open_memory(**{**options, "llm": ScriptedExtractor(slow)}) as memory:
            user(memory, "alice").record_turn(role="user", content="Fact 1")
            memory.wait_until_idle(timeout=30)
            assert memory.status().jobs["pending"] >= 1, "it backs off and is not waited for"


class FailureRules(MemoryRules):
    """Three outcomes: nothing, failed for now, failed for good; and what an operator may do."""

    @pytest.fixture
    def outcome(self) -> list[Exception | None]:
        """Return what the extractor does from now on: raise, or find the sentences."""
        return [None]

    @pytest.fixture
    def extractor(self, outcome: list[Exception | None]) -> ScriptedExtractor:
        def scripted(turns: Sequence[SourceTurn]) -> list[ExtractedItem]:
            if outcome[0] is not None:
                raise outcome[0]
            return sentences(turns)

        return ScriptedExtractor(scripted)

    def _fail_for_good(self, memory: Memory, clock: ManualClock) -> None:
        for _ in range(60):
            memory.wait_until_idle()
            clock.advance(timedelta(hours=6))
            if memory.status().failures:
                return
        raise AssertionError("it was tried without end")

    def test_an_outage_is_tried_again_later(
        self, memory: Memory, alice: Memory, clock: ManualClock, outcome: list[Exception | None]
    ) -> None:
        outcome[0] = ConnectionError("the model is away")
        alice.record_turn(role="user", content="Fact 1")
        memory.wait_until_idle()
        assert (memory.status().failures, alice.list_memories().items) == ({}, [])
        outcome[0] = None
        clock.advance(timedelta(hours=1))
        memory.wait_until_idle()
        assert [item.content for item in alice.list_memories().items] == ["Fact 1"]

    def test_an_outage_without_end_is_a_failure_that_is_kept(
        self, memory: Memory, alice: Memory, clock: ManualClock, outcome: list[Exception | None]
    ) -> None:
        outcome[0] = ConnectionError("the model is away")
        turn = alice.record_turn(role="user", content="Fact 1")
        self._fail_for_good(memory, clock)
        (failure,) = memory.list_failures().items
        assert "the model is away" in failure.reason
        assert (failure.job_kind, failure.user_id, failure.session_id) == ("extract", "alice", "s1")
        assert failure.attempts > 1
        assert memory.get_failure(failure.id) == failure
        assert alice.get_turn(turn.id) is not None, "the turn stays"

    def test_a_failure_that_is_retried_succeeds(
        self, memory: Memory, alice: Memory, clock: ManualClock, outcome: list[Exception | None]
    ) -> None:
        outcome[0] = ConnectionError("the model is away")
        alice.record_turn(role="user", content="Fact 1")
        self._fail_for_good(memory, clock)
        outcome[0] = None
        (failure,) = memory.list_failures().items
        assert memory.retry_failures([failure.id]) == 1
        memory.wait_until_idle()
        assert (memory.status().failures, memory.list_failures().items) == ({}, [])
        assert [item.content for item in alice.list_memories().items] == ["Fact 1"]

    def test_a_failure_that_is_discarded_is_forgotten(
        self, memory: Memory, alice: Memory, clock: ManualClock, outcome: list[Exception | None]
    ) -> None:
        outcome[0] = ConnectionError("the model is away")
        alice.record_turn(role="user", content="Fact 1")
        self._fail_for_good(memory, clock)
        (failure,) = memory.list_failures().items
        assert memory.discard_failures([failure.id]) == 1
        outcome[0] = None
        memory.wait_until_idle()
        assert (memory.list_failures().items, alice.list_memories().items) == ([], [])
        assert len(alice.list_turns().items) == 1

    def test_a_program_error_in_an_extractor_is_a_failure_too(
        self, memory: Memory, alice: Memory, clock: ManualClock, outcome: list[Exception | None]
    ) -> None:
        outcome[0] = ZeroDivisionError("a bug")
        alice.record_turn(role="user", content="Fact 1")
        self._fail_for_good(memory, clock)
        (failure,) = memory.list_failures().items
        assert "ZeroDivisionError" in failure.reason or "a bug" in failure.reason
        assert memory.list_failures(failure_class=failure.failure_class).items == [failure]
        assert memory.list_failures(failure_class="another").items == []

    def test_failures_come_latest_first_in_pages(
        self, memory: Memory, clock: ManualClock, outcome: list[Exception | None]
    ) -> None:
        outcome[0] = ZeroDivisionError("a bug")
        for name in ("alice", "bob", "carol"):
            user(memory, name).record_turn(role="user", content="Fact 1")
            memory.wait_until_idle()
            clock.advance(timedelta(days=4))
            memory.wait_until_idle()
        for _ in range(40):
            clock.advance(timedelta(hours=6))
            memory.wait_until_idle()
        page = memory.list_failures(limit=2)
        rest = memory.list_failures(limit=2, cursor=page.next_cursor)
        names = [failure.user_id for failure in [*page.items, *rest.items]]
        assert sorted(str(name) for name in names) == ["alice", "bob", "carol"]
        assert names[0] != "alice"
        assert rest.next_cursor is None

    def test_an_unknown_failure_is_not_found(self, memory: Memory) -> None:
        assert memory.get_failure("nobody") is None
        with pytest.raises(MemoryNotFoundError):
            memory.retry_failures(["nobody"])

    def test_a_text_that_the_embedder_refuses_is_isolated(
        self, open_memory: OpenMemory, options: dict[str, Any], embedder: HashedEmbedder, clock: ManualClock
    ) -> None:
        def refuse(text: str) -> None:
            if "poison" in text:
                raise ValueError("input refused")

        embedder.refuses = refuse
        with open_memory(
            **options,
        ) as memory:
            alice = user(memory, "alice")
            for word in ("one", "poison", "two"):
                alice.record_turn(role="user", content=f"tea {word}")
            for _ in range(40):
                memory.wait_until_idle(promote=False)
                clock.advance(timedelta(minutes=1))
            found = alice.build_context("tea", enabled_sources={"stm"}, include_memories=True).selected_memories
            assert len(found or []) == 3
            assert memory.status().jobs.get("running", 0) == 0
            assert sum(memory.status().failures.values()) >= 1
