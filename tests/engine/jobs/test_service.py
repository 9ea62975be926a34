"""Background work as its callers see it: waiting, the queue's state, failures."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta

import pytest

from memoranda.engine.extraction.errors import ExtractionRefusedError, ExtractionTransientError
from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.engine.jobs.worker import WorkerSettings
from memoranda.sdk.errors import MemoryNotFoundError
from tests.engine.background_world import World, one_fact_per_turn


@pytest.fixture(autouse=True)
def facts_in_turns(world: World) -> None:
    world.extractor.script = one_fact_per_turn


def refusing(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
    raise ExtractionRefusedError(turns[0].content)


def failed_sessions(world: World, *names: str) -> list[str]:
    """Let the extraction of these sessions fail; return the failures' ids."""
    world.extractor.script = refusing
    for name in names:
        world.learn(name, session=name)
    world.extractor.script = one_fact_per_turn
    return [failure.id for failure in world.background.failures()]


def test_waiting_without_a_worker_does_the_work(world: World) -> None:
    world.say("Lives in Oslo")
    world.background.wait_until_idle()
    assert len(world.memories()) == 1


def test_waiting_without_promotion_leaves_young_sessions_alone(world: World) -> None:
    world.say("Lives in Oslo")
    world.background.wait_until_idle(promote=False)
    assert (world.memories(), world.jobs()) == ([], {"promote": 1})


def test_waiting_with_a_worker_thread_leaves_the_work_to_it(world: World) -> None:
    threads: list[str] = []

    def script(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        threads.append(threading.current_thread().name)
        return one_fact_per_turn(turns)

    world.extractor.script = script
    world.background.worker.start()
    world.say("Lives in Oslo")
    world.background.wait_until_idle()
    world.background.worker.stop()
    assert (threads, len(world.memories())) == (["memoranda-worker"], 1)


def test_waiting_includes_what_another_process_runs(world: World) -> None:
    """Another worker holds the job; the wait ends when it is done, and not before."""
    entered, go_on = threading.Event(), threading.Event()

    def script(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        entered.set()
        go_on.wait()
        return one_fact_per_turn(turns)

    world.extractor.script = script
    world.say("Lives in Oslo")
    world.background.promote()
    other = world.new_background(WorkerSettings(settle_seconds=0))
    other.worker.start()
    entered.wait()
    with pytest.raises(TimeoutError, match="1 jobs are still due or running after"):
        world.background.wait_until_idle(timeout=0.05)
    assert world.memories() == []
    go_on.set()
    world.background.wait_until_idle()
    other.worker.stop()
    assert len(world.memories()) == 1


def test_jobs_that_back_off_are_not_waited_for(world: World) -> None:
    def down(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        raise ExtractionTransientError("no route")

    world.extractor.script = down
    world.learn("first", session="a")
    world.learn("second", session="b")
    status = world.background.status()
    assert (status.busy, status.running, len(world.extractor.calls)) == (0, 0, 1)
    assert world.jobs()["extract"] == 2


def test_status_tells_queue_lag_and_failures(world: World) -> None:
    failed_sessions(world, "a", "b")
    world.say("Lives in Oslo")
    world.background.promote()
    world.clock.advance(timedelta(seconds=90))
    status = world.background.status()
    assert (status.busy, status.lag_seconds, status.failed, status.failures) == (1, 90.0, 2, (("content", 2),))
    assert not status.worker_running
    world.drain()
    assert world.background.status().lag_seconds == 0.0


def test_failures_are_listed_page_by_page_and_shown(world: World) -> None:
    ids = failed_sessions(world, "a", "b", "c")
    assert [failure.id for failure in world.background.failures(limit=2)] == ids[:2]
    assert [failure.id for failure in world.background.failures(after=ids[1])] == ids[2:]
    assert world.background.failures(failure_class="internal") == []
    assert world.background.failure(ids[1]).reason.endswith("ExtractionRefusedError: b")
    with pytest.raises(MemoryNotFoundError, match="nope"):
        world.background.failure("nope")


def test_chosen_failures_are_retried(world: World) -> None:
    ids = failed_sessions(world, "a", "b", "c")
    assert world.background.retry_failures([ids[1], ids[1]]) == 1
    world.drain()
    assert [record.content for record in world.memories()] == ["b"]
    assert [failure.id for failure in world.background.failures()] == [ids[0], ids[2]]


def test_chosen_failures_are_discarded(world: World) -> None:
    ids = failed_sessions(world, "a", "b")
    assert world.background.discard_failures([ids[0]]) == 1
    assert [failure.id for failure in world.background.failures()] == [ids[1]]
    assert world.background.discard_failures(failure_class="internal") == 0
    assert world.background.discard_failures() == 1


def test_unknown_failure_stops_the_whole_call(world: World) -> None:
    [failure_id] = failed_sessions(world, "a")
    for call in (world.background.retry_failures, world.background.discard_failures):
        with pytest.raises(MemoryNotFoundError, match="nope"):
            call([failure_id, "nope"])
    assert len(world.background.failures()) == 1


def test_retry_of_a_snapshot_that_is_gone_forgets_the_failure(world: World) -> None:
    failed_sessions(world, "a")
    with world.write() as tx:
        tx.snapshots.delete([snapshot.id for snapshot in tx.snapshots.of_session("ann", "a")])
    assert (world.background.retry_failures(), world.background.failures()) == (0, [])
    assert "extract" not in world.jobs()


def test_work_that_was_accepted_is_finished_after_reopening(world: World) -> None:
    world.say("Lives in Oslo")
    world.background.promote()
    world.new_background().wait_until_idle(promote=False)
    assert len(world.memories()) == 1
