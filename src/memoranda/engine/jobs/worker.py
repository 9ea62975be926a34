"""The worker: claims due jobs, runs them under a renewed lease, and keeps what fails."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from memoranda.engine.ids import new_id
from memoranda.engine.jobs.breaker import (
    Available,
    Breaker,
    after_failure,
    available,
    blames_provider,
    breaker_of,
    decide_with,
)
from memoranda.engine.jobs.failure import Cause, FailureClass, PostponedError, RetryDecision, classify, decide
from memoranda.engine.jobs.handler import FailureHook, JobHandler, Lease, LeaseLostError, WorkerStoppingError
from memoranda.engine.jobs.keeping import LeaseKeeper
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.engine.records import Failure, Job, JobKind
from memoranda.sdk.errors import MemoryStoreError

logger = logging.getLogger(__name__)

_CRASHES = 20
"""How often a job may end with its worker's death before it is kept as a failure."""
_LONGEST_OUTAGE_WAIT = 30.0
_LANE_LOOK = 0.01


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker can provide, and its timing.

    ``lease`` is how long a job of a dead worker waits to be taken over, renewed three times within. ``poll_seconds`` is
    how long jobs of other processes may go unnoticed; ``settle_seconds`` lets a burst of writes become one batch.
    """

    extractors: tuple[str, ...] = ("",)
    embedders: tuple[str, ...] = ("",)
    lease: timedelta = timedelta(seconds=15)
    poll_seconds: float = 5.0
    settle_seconds: float = 0.05


@dataclass(frozen=True, slots=True)
class Handlers:
    """Who runs which kind of job, what else happens when one ends as a failure, and what is done before each job."""

    by_kind: Mapping[JobKind, JobHandler]
    on_failure: Mapping[JobKind, FailureHook] = field(default_factory=dict)
    before: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class _Claimed:
    """A job with the right to run it; ``breaker`` is what its provider failed at before."""

    job: Job
    lease: Lease
    breaker: Breaker | None


class Worker:
    """Runs the jobs of one project, in one daemon thread (``start``) or in the caller's (``run_once``)."""

    def __init__(
        self, store: Store, project_id: str, clock: Clock, handlers: Handlers, settings: WorkerSettings | None = None
    ) -> None:
        self._store = store
        self._project_id = project_id
        self._clock = clock
        self._handlers = handlers
        self.settings = settings or WorkerSettings()
        self._end_waking: Callable[[], None] | None = None
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._starting = threading.Lock()
        self._keeper = LeaseKeeper(self._renew, self.settings.lease.total_seconds() / 3)

    def provide_extractor(self, name: str) -> None:
        """Claim jobs that ask for this extractor, too."""
        if name not in self.settings.extractors:
            self.settings = replace(self.settings, extractors=(*self.settings.extractors, name))
            self.wake()

    @property
    def running(self) -> bool:
        """Whether this process's thread runs; a forked child has none of its parent's threads."""
        return self._pid == os.getpid() and self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start the thread; a call while it runs does nothing."""
        self._reset_if_forked()
        with self._starting:
            if self.running:
                return
            if self._end_waking is None:
                self._end_waking = self._store.after_commit(lambda _: self.wake(), project_id=self._project_id)
            self._stopping = threading.Event()
            self._thread = threading.Thread(
                target=self._loop, args=(self._stopping,), name="memoranda-worker", daemon=True
            )
            self._thread.start()

    def _reset_if_forked(self) -> None:
        if self._pid != os.getpid():
            self._reset()

    def stop(self, timeout: float | None = 5.0) -> bool:
        """Ask the thread to end after its job; return whether it ended in time. What is left is durable."""
        self._reset_if_forked()
        self._stopping.set()
        self._wake.set()
        if self._end_waking is not None:
            self._end_waking()
            self._end_waking = None
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
        if not self.running:
            self._keeper.end()
        return not self.running

    def wake(self) -> None:
        """Look for due jobs now; called after each commit that enqueued one."""
        self._reset_if_forked()
        self._wake.set()

    def interrupt(self) -> None:
        """Have the jobs that run in callers' threads end between two steps and go back to the queue."""
        self._stopping.set()
        self._stopping = threading.Event()

    def let_go(self) -> int:
        """Give the jobs that run here back to the queue at once, whatever they do now; return how many.

        What their handlers still want to commit is refused, as the lease is gone.
        """
        now, leases = self._clock.now(), self._keeper.held()
        for lease in leases:
            with self._store.write(self._project_id) as tx:
                tx.jobs.retry(lease.job_id, lease.token, now, "its worker was stopped", False)
            lease.lost = not lease.finished
        return len(leases)

    def run_once(self) -> bool:
        """Run one due job in the calling thread; return whether there was one."""
        self._reset_if_forked()
        self._handlers.before()
        now = self._clock.now()
        due = self._next_due(now)
        if due is None or due > now:
            return False
        claimed = self._claim(now)
        if claimed is None:
            return False
        self._run(claimed)
        return True

    def available(self, tx: Transaction, now: datetime) -> Available:
        """Return the providers whose jobs this worker can run now."""
        return available(tx.breakers.all(), self.settings.extractors, self.settings.embedders, now)

    def _next_due(self, now: datetime) -> datetime | None:
        """Return when there is something to do here: a job, or a provider to ask again."""
        with self._store.read(self._project_id) as tx:
            can = self.available(tx, now)
            due = tx.jobs.next_due(extractors=can.extractors, embedders=can.embedders)
        return min((time for time in (due, can.next_probe) if time is not None), default=None)

    def run_until_idle(self, deadline: float | None = None) -> bool:
        """Run due jobs in the calling thread until none is left; return whether that was before ``deadline``.

        ``deadline`` is of ``time.monotonic``; a job that runs is not interrupted.
        """
        while self.run_once():
            if deadline is not None and time.monotonic() >= deadline:
                return False
        return True

    def run_lane(self, lane: str, deadline: float | None = None) -> None:
        """Run the jobs of a lane in the calling thread until none is left, those that wait for their time included.

        Raises what the first that fails raises, once its retry or its failure is stored; the rest is left to a worker,
        as is what wants a provider that is not here. ``TimeoutError`` when ``deadline`` (of ``time.monotonic``) passes
        while another worker runs a job of the lane.
        """
        self._reset_if_forked()
        while True:
            claimed = self._claim(self._clock.now(), lane=lane)
            if claimed is not None:
                error = self._run(claimed)
                if error is not None:
                    raise error
                continue
            with self._store.read(self._project_id) as tx:
                if not tx.jobs.leased_in(lane, self._clock.now()):
                    return
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError("another worker still runs this work; it goes on")
            time.sleep(_LANE_LOOK)

    def _claim(self, now: datetime, *, lane: str | None = None) -> _Claimed | None:
        token = new_id()
        # A claim that is lost with the machine's power is made again.
        with self._store.write(self._project_id, durable=False) as tx:
            breakers = tx.breakers.all()
            # Whoever asks for a lane's work wants to see its provider fail, not to be spared it.
            asked = [] if lane is not None else breakers
            can = available(asked, self.settings.extractors, self.settings.embedders, now)
            job = tx.jobs.claim(
                kinds=tuple(self._handlers.by_kind),
                extractors=can.extractors,
                embedders=can.embedders,
                now=now,
                lease_until=now + self.settings.lease,
                token=token,
                lane=lane,
            )
            if job is None:
                return None
            breaker = breaker_of(job, breakers)
            if breaker is not None and breaker.next_probe is not None:
                tx.breakers.put(breaker.probing(now, self.settings.lease))
        return _Claimed(job, Lease(job.id, token, self._stopping), breaker)

    def _run(self, claimed: _Claimed) -> Exception | None:
        """Run a job; return what it failed of, which is kept with the job."""
        job, lease = claimed.job, claimed.lease
        try:
            if job.attempts > _CRASHES and job.last_error is None:
                with self._store.write(self._project_id) as tx:
                    self._keep_or_retry(tx, job, lease, _crashed(job))
                return None
            with self._keeper.holding(lease):
                outcome = self._handlers.by_kind[job.kind].handle(job, lease)
            if claimed.breaker is not None or not lease.finished:
                self._end(claimed)
            logger.debug("job.done", extra={"job_id": job.id, "job_kind": job.kind.value, "outcome": str(outcome)})
        except LeaseLostError:
            logger.info("job.lease_lost", extra={"job_id": job.id, "job_kind": job.kind.value})
        except PostponedError as postponed:
            self._postpone(job, lease, postponed)
            return postponed
        except WorkerStoppingError as stopping:
            self._postpone(job, lease, PostponedError(str(stopping), self._clock.now()))
        except Exception as error:  # Whatever a handler raises is kept with its job; the worker outlives it.
            if lease.stopping:
                # The store may be closed under it; its lease runs out, and the next worker takes it over.
                logger.info("job.left", extra={"job_id": job.id, "job_kind": job.kind.value})
                return error
            cause = classify(error)
            unexpected = error if cause.failure_class is FailureClass.INTERNAL else None
            extra = {**_described(job, cause), "project_id": self._project_id}
            logger.warning("job.failed", exc_info=unexpected, extra=extra)
            self._settle(claimed, cause)
            return error
        return None

    def _end(self, claimed: _Claimed) -> None:
        """End a job whose handler did not; its provider has answered."""
        with self._store.write(self._project_id) as tx:
            if not claimed.lease.finished:
                claimed.lease.finish(tx)
            _answered(tx, claimed.breaker)

    def _postpone(self, job: Job, lease: Lease, postponed: PostponedError) -> None:
        extra = {"job_id": job.id, "job_kind": job.kind.value, "until": postponed.until.isoformat()}
        with self._store.write(self._project_id) as tx:
            held = tx.jobs.retry(job.id, lease.token, postponed.until, postponed.reason, False)
        logger.info("job.postponed" if held else "job.lease_lost", extra=extra)

    def _settle(self, claimed: _Claimed, cause: Cause) -> None:
        job, now = claimed.job, self._clock.now()
        try:
            with self._store.write(self._project_id) as tx:
                self._keep_or_retry(tx, job, claimed.lease, _decided(tx, claimed, cause, now))
        except LeaseLostError:
            logger.info("job.lease_lost", extra={"job_id": job.id, "job_kind": job.kind.value})

    def _keep_or_retry(self, tx: Transaction, job: Job, lease: Lease, decision: RetryDecision) -> None:
        if decision.retry_at is not None:
            again = tx.jobs.retry(job.id, lease.token, decision.retry_at, decision.cause.reason, decision.counted)
            if not again:
                raise LeaseLostError(f"job {job.id} went to another worker")
            return
        lease.finish(tx)
        failure = failure_of(job, decision.cause, self._clock.now())
        hook = self._handlers.on_failure.get(job.kind)
        kept = failure if hook is None else hook(tx, job, failure)
        if kept is not None:
            tx.failures.insert(kept)

    def _renew(self, lease: Lease) -> None:
        if lease.lost or lease.finished:
            return
        try:
            with self._store.write(self._project_id, durable=False) as tx:
                held = tx.jobs.renew(lease.job_id, lease.token, self._clock.now() + self.settings.lease)
        except MemoryStoreError as error:
            logger.warning("lease.not_renewed", extra={"job_id": lease.job_id, "reason": str(error)})
            return
        if not held:
            # Also so when the handler has just finished the job: then nobody asks any more.
            lease.lost = not lease.finished

    def _loop(self, stopping: threading.Event) -> None:
        outages = 0
        while not stopping.is_set():
            try:
                # Cleared before looking, so that what is committed after the look wakes the next round.
                self._wake.clear()
                if not self.run_once():
                    self._sleep(stopping)
                outages = 0
            except Exception as error:  # The worker outlives an outage of its store: it waits and goes on.
                if stopping.is_set():
                    logger.info("worker.stopped_at_work")
                    return
                outages += 1
                logger.warning("worker.store_failed", exc_info=error, extra={"outages": outages})
                stopping.wait(min(_LONGEST_OUTAGE_WAIT, 0.5 * 2 ** min(outages - 1, 10)))

    def _sleep(self, stopping: threading.Event) -> None:
        wait, now = self.settings.poll_seconds, self._clock.now()
        due = self._next_due(now)
        if due is not None and due > now:
            wait = min(wait, (due - now).total_seconds())
        if self._wake.wait(wait):
            stopping.wait(self.settings.settle_seconds)


def _decided(tx: Transaction, claimed: _Claimed, cause: Cause, now: datetime) -> RetryDecision:
    """Keep what a failure says about the job's provider, and return what becomes of the job."""
    job = claimed.job
    if blames_provider(job, cause):
        breaker = after_failure(breaker_of(job, tx.breakers.all()), job, cause, now)
        tx.breakers.put(breaker)
        return decide_with(breaker, job, cause, now)
    if cause.failure_class is FailureClass.CONTENT:
        _answered(tx, claimed.breaker)
    return decide(job, cause, now)


def _answered(tx: Transaction, breaker: Breaker | None) -> None:
    if breaker is not None:
        tx.breakers.remove(breaker.kind, breaker.provider)


def failure_of(job: Job, cause: Cause, now: datetime) -> Failure:
    """Return the failure that keeps a job which ended without success."""
    return Failure(
        id=new_id(),
        job_kind=job.kind,
        failure_class=cause.failure_class.value,
        reason=cause.reason,
        attempts=job.attempts,
        payload=job.payload,
        first_seen=job.created_at,
        last_seen=now,
        lane=job.lane,
        extractor=job.extractor,
        embedder=job.embedder,
        raw_reply=cause.raw_reply,
        user_id=job.user_id,
        session_id=job.session_id,
        snapshot_id=str(job.payload.get("snapshot_id", "")),
    )


def _crashed(job: Job) -> RetryDecision:
    reason = f"the worker died {job.attempts - 1} times while it ran this job"
    return RetryDecision(Cause(FailureClass.INTERNAL, reason), None)


def _described(job: Job, cause: Cause) -> dict[str, object]:
    return {
        "job_id": job.id,
        "job_kind": job.kind.value,
        "attempts": job.attempts,
        "failure_class": cause.failure_class.value,
    }
