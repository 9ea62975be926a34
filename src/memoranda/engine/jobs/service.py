"""Background work as its callers see it: promote, wait until idle, the queue's state, and failures."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from memoranda.engine.extraction.items import Extractor
from memoranda.engine.ids import new_id
from memoranda.engine.jobs.breaker import Breaker
from memoranda.engine.jobs.queue import REREAD, session_extract_lane
from memoranda.engine.jobs.worker import Worker
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.engine.records import Failure, Job, JobKind, JobState, Snapshot, SnapshotState, VectorState
from memoranda.engine.scope import Scope
from memoranda.sdk.errors import MemoryNotFoundError

_FIRST_LOOK = 0.005
_LONGEST_LOOK = 0.1
_PAGE = 200


class SessionPromoter(Protocol):
    """Cuts snapshots of everything unpromoted in a scope."""

    def promote(self, scope: Scope) -> Sequence[Snapshot]: ...


@dataclass(frozen=True, slots=True)
class QueuedJobs:
    """The jobs of one kind and state; ``earliest`` is when the first of them is or was due."""

    kind: JobKind
    state: JobState
    number: int
    earliest: datetime


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """The queue of a project. ``lag_seconds`` is how long the job that waits longest has been due.

    ``breakers`` are the open ones: providers whose jobs wait.
    """

    jobs: tuple[QueuedJobs, ...]
    pending: int
    running: int
    busy: int
    lag_seconds: float
    failures: tuple[tuple[str, int], ...]
    breakers: tuple[Breaker, ...]
    worker_running: bool

    @property
    def failed(self) -> int:
        """The number of failures of all classes."""
        return sum(number for _, number in self.failures)


class BackgroundService:
    """The engine's background work for one project."""

    def __init__(
        self,
        store: Store,
        project_id: str,
        clock: Clock,
        *,
        worker: Worker,
        promoter: SessionPromoter,
        provide: Callable[[str, Extractor], None],
    ) -> None:
        self._store = store
        self._project_id = project_id
        self._clock = clock
        self._promoter = promoter
        self._provide = provide
        self._wake_others: Callable[[], None] | None = None
        self.worker = worker

    def leave_to_others(self, wake: Callable[[], None]) -> None:
        """Never run jobs in a caller's thread: others, here or in another process, do, and ``wake`` hurries them."""
        self._wake_others = wake

    def provide_extractor(self, name: str, extractor: Extractor) -> None:
        """Have the jobs that ask for an extractor of this name run with this one, in this process."""
        self._provide(name, extractor)
        self.worker.provide_extractor(name)

    def run_session(self, user_id: str, session_id: str, timeout: float | None = None) -> None:
        """Extract in the calling thread what the session's own policy planned; raises what it failed of.

        See ``Worker.run_lane``; ``timeout`` is in seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        self.worker.run_lane(session_extract_lane(user_id, session_id), deadline)

    def promote(self, scope: Scope | None = None) -> Sequence[Snapshot]:
        """Promote every unpromoted turn in scope now (default: the whole project); return the snapshots."""
        return self._promoter.promote(scope or Scope())

    def wait_until_idle(
        self, timeout: float | None = None, *, promote: bool = True, session_id: str | None = None
    ) -> None:
        """Promote everything (unless told not to) and return when no job is due or running; of one session, if named.

        Jobs that back off from a failure, or are due later, are not waited for. Where no worker thread runs in this
        process, and the work is not left to others, the caller's thread does it. Raises ``TimeoutError`` after
        ``timeout`` seconds (default: never); what is left then goes on.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        if promote:
            self.promote()
        pause = _FIRST_LOOK
        while True:
            left = self._hurry(deadline, session_id)
            if left == 0:
                return
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"{left} jobs are still due or running after {timeout:g} s; they go on")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_LOOK)

    def hurry(self, timeout: float) -> int:
        """Have due jobs run now and return how many are due or running, without waiting for them.

        Where nobody else runs them the caller's thread does, for about ``timeout`` seconds.
        """
        return self._hurry(time.monotonic() + timeout)

    def _hurry(self, deadline: float | None, session_id: str | None = None) -> int:
        if self._wake_others is not None:
            self._wake_others()
        elif self.worker.running:
            self.worker.wake()
        else:
            self.worker.run_until_idle(deadline)
        with self._store.read(self._project_id) as tx:
            return self._busy_in(tx, self._clock.now(), session_id)

    def _busy_in(self, tx: Transaction, now: datetime, session_id: str | None = None) -> int:
        can = self.worker.available(tx, now)
        return tx.jobs.busy(now, extractors=can.extractors, embedders=can.embedders, session_id=session_id)

    def status(self) -> QueueStatus:
        """Return the state of the queue and the number of failures by class."""
        now = self._clock.now()
        with self._store.read(self._project_id) as tx:
            jobs = tuple(QueuedJobs(*row) for row in tx.jobs.counts())
            failures = tuple(tx.failures.counts())
            busy = self._busy_in(tx, now)
            breakers = tuple(breaker for breaker in tx.breakers.all() if breaker.next_probe is not None)
        due = [entry.earliest for entry in jobs if entry.state is JobState.PENDING and entry.earliest <= now]
        return QueueStatus(
            jobs=jobs,
            pending=sum(entry.number for entry in jobs if entry.state is JobState.PENDING),
            running=sum(entry.number for entry in jobs if entry.state is JobState.RUNNING),
            busy=busy,
            lag_seconds=(now - min(due)).total_seconds() if due else 0.0,
            failures=failures,
            breakers=breakers,
            worker_running=self._wake_others is not None or self.worker.running,
        )

    # --- failures

    def failures(self, *, failure_class: str | None = None, after: str = "", limit: int = 50) -> Sequence[Failure]:
        """Return failures, latest first, after the id ``after``."""
        with self._store.read(self._project_id) as tx:
            return tx.failures.page(failure_class, after, limit)

    def failure(self, failure_id: str) -> Failure:
        """Return one failure; raises ``MemoryNotFoundError``."""
        with self._store.read(self._project_id) as tx:
            return _required(tx, failure_id)

    def retry_failures(self, failure_ids: Sequence[str] | None = None, *, failure_class: str | None = None) -> int:
        """Enqueue the jobs of these failures again (default: of all that can be retried); return how many.

        Who asks for this has changed something: providers whose jobs wait are asked again at once.
        Raises ``MemoryNotFoundError`` for an unknown id; then nothing is retried.
        """
        with self._store.write(self._project_id) as tx:
            chosen = _chosen(tx, failure_ids, failure_class)
            again = [failure for failure in chosen if failure.retryable]
            retried = sum(self._retry(tx, failure) for failure in again)
            self._ask_again(tx)
            tx.failures.delete([failure.id for failure in again])
        return retried

    def _ask_again(self, tx: Transaction) -> None:
        for breaker in tx.breakers.all():
            if breaker.next_probe is not None:
                tx.breakers.put(replace(breaker, next_probe=self._clock.now()))

    def discard_failures(self, failure_ids: Sequence[str] | None = None, *, failure_class: str | None = None) -> int:
        """Forget these failures (default: all); return how many. Their turns stay; snapshots stay failed.

        Raises ``MemoryNotFoundError`` for an unknown id; then nothing is discarded.
        """
        with self._store.write(self._project_id) as tx:
            return tx.failures.delete([failure.id for failure in _chosen(tx, failure_ids, failure_class)])

    def _retry(self, tx: Transaction, failure: Failure) -> int:
        """Enqueue one failure's job; 0 when what it worked on is gone."""
        now = self._clock.now()
        payload = dict(failure.payload)
        keys = payload.pop("keys", None)
        if isinstance(keys, list):
            waiting = [row.key for row in tx.search.documents(keys) if row.vector_state is VectorState.REFUSED]
            if not waiting:
                return 0
            tx.index.set_vector_state(waiting, VectorState.PENDING)
        if failure.snapshot_id and REREAD not in payload:
            snapshot = tx.snapshots.get(failure.snapshot_id)
            if snapshot is None:
                return 0
            tx.snapshots.finish(replace(snapshot, state=SnapshotState.PENDING, updated_at=now))
        tx.jobs.enqueue(_job_of(failure, payload, now))
        return 1


def _required(tx: Transaction, failure_id: str) -> Failure:
    failure = tx.failures.get(failure_id)
    if failure is None:
        raise MemoryNotFoundError(f"there is no failure {failure_id!r}; list them to see their ids")
    return failure


def _chosen(tx: Transaction, failure_ids: Sequence[str] | None, failure_class: str | None) -> list[Failure]:
    if failure_ids is not None:
        found = [_required(tx, failure_id) for failure_id in dict.fromkeys(failure_ids)]
        return [failure for failure in found if failure_class in (None, failure.failure_class)]
    chosen: list[Failure] = []
    while page := tx.failures.page(failure_class, chosen[-1].id if chosen else "", _PAGE):
        chosen.extend(page)
    return chosen


def _job_of(failure: Failure, payload: dict[str, object], now: datetime) -> Job:
    return Job(
        id=new_id(),
        seq=0,
        kind=failure.job_kind,
        lane=failure.lane,
        payload=payload,
        run_at=now,
        created_at=now,
        # Jobs that are pending once have their key as lane; others may be pending several times.
        dedupe_key=(failure.lane or None) if failure.job_kind in (JobKind.EMBED, JobKind.BACKFILL) else None,
        extractor=failure.extractor,
        embedder=failure.embedder,
        user_id=failure.user_id,
        session_id=failure.session_id,
    )
