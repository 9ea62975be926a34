"""The extract job: three outcomes, exactly once, from sources that still exist."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from memoranda.engine.config_model import ExtractionConfig, ProjectConfig
from memoranda.engine.extraction.errors import (
    ExtractionCredentialsError,
    ExtractionRateLimitError,
    ExtractionRefusedError,
    ExtractionTransientError,
    ExtractionUnusableError,
)
from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.engine.extraction.local import LocalExtractor
from memoranda.engine.records import SnapshotState
from memoranda.engine.scope import Scope
from tests.engine.background_world import World, one_fact_per_turn
from tests.engine.extraction.conftest import MakeWorld


def states(world: World) -> list[SnapshotState]:
    return [snapshot.state for snapshot in world.snapshots()]


def raising(error: Exception, times: int, world: World) -> None:
    """Let the extractor fail this often and then find facts."""
    left = times

    def script(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        nonlocal left
        if left:
            left -= 1
            raise error
        return one_fact_per_turn(turns)

    world.extractor.script = script


def test_snapshot_with_memories_is_extracted_and_keeps_its_summary(world: World) -> None:
    world.extractor.script = one_fact_per_turn
    world.learn("Lives in Oslo", "Likes tea")
    [snapshot] = world.snapshots()
    assert (snapshot.state, snapshot.summary, snapshot.extractor) == (SnapshotState.EXTRACTED, "2 turns", "scripted/1")


def test_nothing_to_extract_is_an_outcome_of_its_own(world: World) -> None:
    world.learn("hm")
    assert states(world) == [SnapshotState.EMPTY]
    assert world.background.failures() == []
    assert "extract" not in world.jobs()


def test_outage_is_retried_until_it_is_over_and_nothing_is_marked_complete_meanwhile(world: World) -> None:
    raising(ExtractionTransientError("timeout"), 3, world)
    world.learn("Lives in Oslo")
    for attempt in range(1, 4):
        assert states(world) == [SnapshotState.PENDING]
        assert (len(world.extractor.calls), world.memories()) == (attempt, [])
        world.clock.advance(timedelta(seconds=2**attempt))
        world.drain(promote=False)
    assert states(world) == [SnapshotState.EXTRACTED]
    assert [record.content for record in world.memories()] == ["Lives in Oslo"]
    assert world.background.failures() == []


def test_retry_waits_its_time(world: World) -> None:
    raising(ExtractionTransientError("timeout"), 1, world)
    world.learn("Lives in Oslo")
    world.clock.advance(timedelta(seconds=1.9))
    world.drain(promote=False)
    assert len(world.extractor.calls) == 1


def test_rate_limit_waits_as_long_as_it_was_told(world: World) -> None:
    raising(ExtractionRateLimitError("slow down", retry_after=timedelta(seconds=90)), 1, world)
    world.learn("Lives in Oslo")
    world.clock.advance(timedelta(seconds=89))
    world.drain(promote=False)
    assert world.memories() == []
    world.clock.advance(timedelta(seconds=1))
    world.drain(promote=False)
    assert len(world.memories()) == 1


def test_outage_without_end_becomes_a_failure_that_can_be_retried(world: World) -> None:
    raising(ExtractionTransientError("no route"), 1000, world)
    [turn] = world.say("Lives in Oslo")
    world.drain()
    while world.jobs().get("extract"):
        world.clock.advance(timedelta(minutes=5))
        world.drain(promote=False)
    [failure] = world.background.failures()
    # From the fifth on it is the provider that is in doubt, and no attempt counts: the job's age ends it.
    assert (failure.failure_class, failure.attempts, failure.retryable) == ("transient", 5, True)
    assert timedelta(days=1) < failure.last_seen - failure.first_seen < timedelta(days=1, minutes=10)
    assert "no route" in failure.reason
    assert states(world) == [SnapshotState.FAILED]
    with world.read() as tx:
        assert [found.id for found in tx.turns.get([turn.id])] == [turn.id]
    world.extractor.script = one_fact_per_turn
    assert world.background.retry_failures() == 1
    assert (states(world), world.background.failures()) == ([SnapshotState.PENDING], [])
    world.drain(promote=False)
    assert (states(world), len(world.memories())) == ([SnapshotState.EXTRACTED], 1)


@pytest.mark.parametrize("error", [ExtractionRefusedError("no"), ExtractionUnusableError("bad", raw_reply="{oops")])
def test_what_cannot_change_is_not_tried_twice(world: World, error: Exception) -> None:
    raising(error, 1000, world)
    world.learn("Lives in Oslo")
    [failure] = world.background.failures()
    assert (failure.failure_class, failure.attempts, len(world.extractor.calls)) == ("content", 1, 1)
    assert failure.raw_reply == getattr(error, "raw_reply", None)
    assert (failure.user_id, failure.session_id, failure.snapshot_id) == ("ann", "s1", world.snapshots()[0].id)
    assert states(world) == [SnapshotState.FAILED]


def test_bug_in_an_extractor_is_kept_as_an_internal_failure(world: World) -> None:
    raising(ZeroDivisionError("division by zero"), 1000, world)
    world.learn("Lives in Oslo")
    for _ in range(3):
        world.clock.advance(timedelta(minutes=1))
        world.drain(promote=False)
    [failure] = world.background.failures()
    assert (failure.failure_class, failure.attempts) == ("internal", 3)
    assert failure.reason == "ZeroDivisionError: division by zero"


def test_credentials_are_tried_again_after_minutes(world: World) -> None:
    raising(ExtractionCredentialsError("key revoked"), 1, world)
    world.learn("Lives in Oslo")
    world.clock.advance(timedelta(seconds=119))
    world.drain(promote=False)
    assert world.memories() == []
    world.clock.advance(timedelta(seconds=1))
    world.drain(promote=False)
    assert len(world.memories()) == 1


def test_later_snapshots_of_a_user_wait_for_an_earlier_one_that_backs_off(world: World) -> None:
    raising(ExtractionTransientError("timeout"), 1, world)
    world.learn("first", session="a")
    world.learn("second", session="b")
    world.learn("other", session="a", user="bob")
    assert [calls[0].content for calls in world.extractor.calls] == ["first", "other"]
    world.clock.advance(timedelta(seconds=2))
    world.drain(promote=False)
    assert [calls[0].content for calls in world.extractor.calls] == ["first", "other", "first", "second"]


def test_failed_snapshot_lets_later_ones_through(world: World) -> None:
    raising(ExtractionRefusedError("no"), 1, world)
    world.learn("first", session="a")
    world.learn("second", session="b")
    assert [record.content for record in world.memories()] == ["second"]


def test_failed_discard_leaves_the_turns_and_no_job(world: World) -> None:
    raising(ExtractionRefusedError("no"), 1, world)
    [turn] = world.say("first")
    world.drain()
    assert world.background.discard_failures() == 1
    world.drain()
    assert (world.background.failures(), len(world.extractor.calls), states(world)) == ([], 1, [SnapshotState.FAILED])
    with world.read() as tx:
        assert len(tx.turns.get([turn.id])) == 1


def test_turn_that_is_deleted_while_extraction_runs_leaves_nothing_behind(world: World) -> None:
    [gone, _] = world.say("My name is Pahwa", "Likes Python")

    def delete_meanwhile(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        if len(turns) == 2:
            with world.write() as tx:
                tx.index.remove([gone.key])
                tx.turns.delete([gone.id])
        return one_fact_per_turn(turns)

    world.extractor.script = delete_meanwhile
    world.drain()
    assert [record.content for record in world.memories()] == ["Likes Python"]
    assert [len(call) for call in world.extractor.calls] == [2, 1]


def test_snapshot_whose_turns_are_all_gone_is_empty(world: World) -> None:
    [turn] = world.say("My name is Pahwa")
    world.background.promote()
    with world.write() as tx:
        tx.index.remove([turn.key])
        tx.turns.delete([turn.id])
    world.extractor.script = one_fact_per_turn
    world.drain()
    assert (states(world), world.extractor.calls, world.memories()) == ([SnapshotState.EMPTY], [], [])


def test_job_of_a_deleted_snapshot_ends_quietly(world: World) -> None:
    world.say("My name is Pahwa")
    world.background.promote()
    with world.write() as tx:
        tx.snapshots.delete([snapshot.id for snapshot in tx.snapshots.of_session("ann", "s1")])
    world.drain()
    assert (world.extractor.calls, world.background.failures()) == ([], [])
    assert "extract" not in world.jobs()


def test_blank_turns_are_never_sent_to_an_extractor(world: World) -> None:
    world.learn("  \n")
    world.say(None)
    world.say("")
    world.drain()
    assert world.extractor.calls == []
    assert set(states(world)) == {SnapshotState.EMPTY}


def test_fact_without_a_time_of_its_own_has_that_of_the_conversation(world: World) -> None:
    said = datetime(2019, 5, 4, 10, 30, tzinfo=UTC)
    world.extractor.script = one_fact_per_turn
    world.learn("Moved to Oslo last month", at=said)
    [record] = world.memories()
    assert (record.event_time, record.valid_from) == (said, said)
    assert record.created_at == world.clock.now()


def test_local_extractor_dates_facts_by_the_conversation(make_world: MakeWorld) -> None:
    world = make_world()
    local = LocalExtractor()
    world.extractor.script = lambda turns: local.extract(turns, kinds=frozenset({"semantic", "episodic"})).items
    world.learn("I moved to Oslo last month.", at=datetime(2019, 5, 4, tzinfo=UTC))
    records = world.memories()
    assert records
    assert all(datetime(2019, 4, 1, tzinfo=UTC) <= record.event_time <= record.created_at for record in records)
    assert all(record.event_time.year == 2019 for record in records)


def test_bad_item_costs_itself_only(world: World) -> None:
    def items(turns: Sequence[SourceTurn]) -> list[ExtractedItem]:
        good = ExtractedItem(kind="semantic", content="Lives in Oslo")
        return [
            ExtractedItem(kind="semantic", content=" ?! "),
            ExtractedItem(kind="taxonomic", content="SLA", body={"term": "SLA"}),
            ExtractedItem(kind="semantic", content="Invented", turn_ids=("nowhere",)),
            ExtractedItem(kind="semantic", content="Bad", record_type="rumour"),
            good,
        ]

    world.extractor.script = items
    world.learn("anything")
    assert [record.content for record in world.memories()] == ["Lives in Oslo"]
    failures = world.background.failures()
    assert [(failure.failure_class, failure.retryable) for failure in failures] == [("content", False)] * 4
    assert world.background.retry_failures() == 0
    assert len(world.background.failures()) == 4


def test_only_enabled_kinds_are_kept(make_world: MakeWorld) -> None:
    world = make_world(ProjectConfig(extraction=ExtractionConfig(enabled=("preferences",), visibility="org")))
    world.extractor.script = lambda turns: [
        ExtractedItem(kind="semantic", content="Likes tea", record_type="preference"),
        ExtractedItem(kind="semantic", content="Lives in Oslo", record_type="fact"),
        ExtractedItem(kind="episodic", content="Went to Oslo"),
    ]
    world.learn("anything")
    assert [(record.content, record.visibility) for record in world.memories()] == [("Likes tea", "org")]


def test_two_workers_and_one_job_make_one_set_of_memories(world: World) -> None:
    """The slow worker's lease runs out, another does the job, and the slow one's commit is refused."""
    other = world.new_background()
    entered = []

    def slow(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        entered.append(threading.get_ident())
        if len(entered) == 1:
            world.clock.advance(timedelta(minutes=1))
            assert other.worker.run_once()
        return one_fact_per_turn(turns)

    world.extractor.script = slow
    world.learn("Lives in Oslo")
    assert len(entered) == 2
    [record] = world.memories()
    assert (record.occurrences, states(world)) == (1, [SnapshotState.EXTRACTED])
    assert world.background.failures() == []
    assert "extract" not in world.jobs()


def test_failure_of_a_worker_that_lost_its_lease_is_not_kept(world: World) -> None:
    other = world.new_background()
    calls = []

    def slow(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        calls.append(turns)
        if len(calls) == 1:
            world.clock.advance(timedelta(minutes=1))
            assert other.worker.run_once()
            raise ExtractionRefusedError("no")
        return one_fact_per_turn(turns)

    world.extractor.script = slow
    world.learn("Lives in Oslo")
    assert (states(world), world.background.failures()) == ([SnapshotState.EXTRACTED], [])


def test_repeated_promotion_of_one_session_extracts_every_turn_once(world: World) -> None:
    world.extractor.script = one_fact_per_turn
    for number in range(30):
        world.say(f"fact number {number}")
        if number % 4 == 0:
            world.background.promote(Scope(user_id="ann"))
    world.drain()
    seen = [turn.turn_seq for call in world.extractor.calls for turn in call]
    assert seen == list(range(1, 31))
    assert len(world.memories()) == 30
