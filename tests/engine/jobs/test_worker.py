"""The worker claims, runs, renews, finishes, and survives whatever its jobs and its store do."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from memoranda.engine.ids import new_id
from memoranda.engine.jobs.handler import Lease, LeaseLostError, Outcome
from memoranda.engine.jobs.worker import Handlers, Worker, WorkerSettings
from memoranda.engine.records import Job, JobKind
from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.sqlite.store import SqliteStore
from tests.engine.background_world import PROJECT, World

Handle = Callable[[Job, Lease], Outcome]


class Recording:
    """A handler that notes what it ran and does as told."""

    def __init__(self, handle: Handle | None = None) -> None:
        self.ran: list[str] = []
        self._handle = handle

    def handle(self, job: Job, lease: Lease) -> Outcome:
        self.ran.append(job.id)
        return Outcome.DONE if self._handle is None else self._handle(job, lease)


def worker_of(world: World, handler: Recording, settings: WorkerSettings | None = None) -> Worker:
    return Worker(world.store, PROJECT, world.clock, Handlers({JobKind.PURGE: handler}), settings)


def put(world: World, job_id: str = "j", **fields: object) -> None:
    now = world.clock.now()
    job = Job(id=job_id, seq=0, kind=JobKind.PURGE, lane="", payload={}, run_at=now, created_at=now)
    with world.write() as tx:
        tx.jobs.enqueue(replace(job, **fields))  # type: ignore[arg-type]


def exists(world: World, job_id: str = "j") -> bool:
    with world.read() as tx:
        return tx.jobs.get(job_id) is not None


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait for another thread; the test's own timeout is the bound."""
    while not condition():
        time.sleep(0.005)


def test_due_job_is_run_once_and_removed(world: World) -> None:
    handler = Recording()
    worker = worker_of(world, handler)
    put(world)
    assert (worker.run_once(), worker.run_once()) == (True, False)
    assert (handler.ran, exists(world)) == (["j"], False)


def test_job_is_not_run_before_its_time(world: World) -> None:
    handler = Recording()
    worker = worker_of(world, handler)
    put(world, run_at=world.clock.now() + timedelta(seconds=1))
    assert not worker.run_once()
    world.clock.advance(seconds=1)
    assert worker.run_once()


def test_error_in_a_handler_becomes_a_failure_after_bounded_retries(world: World) -> None:
    def broken(job: Job, lease: Lease) -> Outcome:
        raise KeyError("payload")

    handler = Recording(broken)
    worker = worker_of(world, handler)
    put(world, user_id="ann")
    while exists(world):
        worker.run_until_idle()
        world.clock.advance(seconds=60)
    [failure] = world.background.failures()
    assert (len(handler.ran), failure.reason, failure.failure_class) == (3, "KeyError: 'payload'", "internal")
    assert (failure.job_kind, failure.attempts, failure.user_id) == (JobKind.PURGE, 3, "ann")


def test_two_workers_race_and_only_the_holder_of_the_lease_commits(world: World) -> None:
    fast = Recording()
    fast_worker = worker_of(world, fast)

    def slow(job: Job, lease: Lease) -> Outcome:
        world.clock.advance(seconds=60)
        assert fast_worker.run_once()
        with world.write() as tx:
            tx.jobs.enqueue(replace(job, id="effect", lease_token=None, run_at=world.clock.now()))
            lease.finish(tx)
        return Outcome.DONE

    slow_worker = worker_of(world, Recording(slow))
    put(world)
    assert slow_worker.run_once()
    assert fast.ran == ["j"]
    assert (exists(world), exists(world, "effect"), world.background.failures()) == (False, False, [])


def test_lost_lease_stops_long_work_early() -> None:
    lease = Lease("j", "t")
    lease.check()
    lease.lost = True
    with pytest.raises(LeaseLostError, match="another worker"):
        lease.check()


def test_lease_is_renewed_while_a_handler_runs(world: World) -> None:
    seen: list[bool] = []

    def long(job: Job, lease: Lease) -> Outcome:
        def renewed() -> bool:
            with world.read() as tx:
                found = tx.jobs.get(job.id)
            return found is not None and found.lease_until != job.lease_until

        world.clock.advance(seconds=0.5)
        wait_for(renewed)
        seen.append(renewed())
        return Outcome.DONE

    worker = worker_of(world, Recording(long), WorkerSettings(lease=timedelta(seconds=0.6)))
    put(world)
    assert worker.run_once()
    assert (seen, exists(world)) == ([True], False)


def test_job_that_kills_its_worker_again_and_again_is_kept_as_a_failure(world: World) -> None:
    handler = Recording()
    worker = worker_of(world, handler)
    put(world, attempts=20)
    assert worker.run_once()
    [failure] = world.background.failures()
    assert (handler.ran, failure.failure_class) == ([], "internal")
    assert failure.reason == "the worker died 20 times while it ran this job"


def test_thread_runs_jobs_as_they_are_committed_and_stops(world: World) -> None:
    handler = Recording()
    worker = worker_of(world, handler, WorkerSettings(poll_seconds=600, settle_seconds=0))
    worker.start()
    worker.start()
    put(world, "a")
    wait_for(lambda: not exists(world, "a"))
    put(world, "b")
    wait_for(lambda: not exists(world, "b"))
    assert worker.running
    assert worker.stop(timeout=60)
    assert (worker.running, handler.ran) == (False, ["a", "b"])


def test_stopped_worker_leaves_its_jobs_for_later(world: World) -> None:
    handler = Recording()
    worker = worker_of(world, handler)
    assert worker.stop()
    put(world)
    assert exists(world)
    worker.start()
    wait_for(lambda: not exists(world))
    worker.stop()


def test_thread_outlives_an_outage_of_its_store(world: World, caplog: pytest.LogCaptureFixture) -> None:
    class Flaky(SqliteStore):
        """Fails the first reads, as a file on a share that goes away."""

        outages = 2

        def read(self, project_id: str):  # type: ignore[no-untyped-def]
            if Flaky.outages:
                Flaky.outages -= 1
                raise MemoryStoreError("gone")
            return super().read(project_id)

    store = Flaky.open(world.path)
    handler = Recording()
    worker = Worker(store, PROJECT, world.clock, Handlers({JobKind.PURGE: handler}), WorkerSettings(poll_seconds=0.01))
    put(world)
    worker.start()
    wait_for(lambda: not exists(world))
    worker.stop()
    store.close()
    assert [record.message for record in caplog.records].count("worker.store_failed") == 2


def test_deadline_ends_a_drain_between_jobs(world: World) -> None:
    handler = Recording()
    worker = worker_of(world, handler)
    put(world, "a")
    put(world, "b")
    assert not worker.run_until_idle(deadline=time.monotonic())
    assert handler.ran == ["a"]
    assert worker.run_until_idle()
    assert handler.ran == ["a", "b"]


def _child(world: World, worker: Worker, answer: object) -> None:
    inherited = worker.running
    put(world, "child")
    worker.start()
    wait_for(lambda: not exists(world, "child"))
    worker.stop()
    answer.put((inherited, worker.running, os.getpid()))  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_forked_child_starts_a_worker_of_its_own(world: World) -> None:
    worker = worker_of(world, Recording(), WorkerSettings(poll_seconds=0.05))
    worker.start()
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    child = context.Process(target=_child, args=(world, worker, answer))
    child.start()
    inherited, running_at_the_end, pid = answer.get(timeout=60)
    child.join()
    assert worker.running
    worker.stop()
    assert (inherited, running_at_the_end, child.exitcode) == (False, False, 0)
    assert pid != os.getpid()


def test_ids_sort_in_the_order_they_were_made() -> None:
    ids = [new_id() for _ in range(1000)]
    assert ids == sorted(set(ids))


def test_workers_on_one_queue_run_every_job_once_and_lanes_in_order(world: World) -> None:
    handler = Recording()
    stores = [SqliteStore.open(world.path) for _ in range(3)]
    workers = [
        Worker(store, PROJECT, world.clock, Handlers({JobKind.PURGE: handler}), WorkerSettings(poll_seconds=0.01))
        for store in stores
    ]
    for number in range(20):
        put(world, f"lane-{number:02}", lane="lane")
        put(world, f"free-{number:02}")
    for worker in workers:
        worker.start()
    wait_for(lambda: world.background.status().jobs == ())
    for worker, store in zip(workers, stores, strict=True):
        worker.stop()
        store.close()
    lane = [name for name in handler.ran if name.startswith("lane")]
    assert lane == sorted(lane)
    assert sorted(handler.ran) == sorted(f"{kind}-{number:02}" for kind in ("lane", "free") for number in range(20))
