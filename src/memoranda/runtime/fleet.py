"""A fleet: threads of this process that run the background work of all projects of a store, in turn."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from memoranda.engine.jobs.worker import Worker
from memoranda.engine.ports import Clock
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import SystemClock

logger = logging.getLogger(__name__)

_SHORTEST_REST = 0.5
_LONGEST_REST = 30.0
_LOWER_PRIORITY = 10
"""By how much: a tenth of the usual share of a processor, where both want it."""


@dataclass(frozen=True, slots=True)
class FleetSettings:
    """The fleet's size and timing, in seconds.

    ``poll_seconds`` is how long due jobs may go unnoticed that this process did not enqueue; ``settle_seconds`` lets a
    burst of writes become one batch. With ``gives_way`` the threads run at a lower priority than the rest of the
    process, where the system has that (Linux): requests go first, and work that comes faster than it is done waits.
    """

    threads: int = 2
    poll_seconds: float = 1.0
    settle_seconds: float = 0.05
    gives_way: bool = False


class _Rota:
    """Which project is looked at next. Projects take turns, one job a turn, however much work each has.

    Of a project several jobs may run at once; it leaves the rota when one who looked found nothing to do, unless it was
    called in meanwhile. Guarded by the fleet's lock.
    """

    def __init__(self) -> None:
        self._turns: OrderedDict[str, None] = OrderedDict()
        self._called: set[str] = set()
        self._later: dict[str, float] = {}

    def call(self, project_id: str) -> None:
        self._called.add(project_id)
        self._turns.setdefault(project_id)

    def call_at(self, project_id: str, moment: float) -> bool:
        """Call a project in at a moment of ``time.monotonic``; return whether that is earlier than was known."""
        if self._later.get(project_id, moment + 1.0) <= moment:
            return False
        self._later[project_id] = moment
        return True

    def rest(self, project_id: str, until: float) -> None:
        """Leave a project alone until a moment, whoever calls it; then it is called in."""
        self._turns.pop(project_id, None)
        self._called.discard(project_id)
        self._later[project_id] = until

    def next(self, now: float) -> str | None:
        for project_id in [name for name, moment in self._later.items() if moment <= now]:
            del self._later[project_id]
            self.call(project_id)
        if not self._turns:
            return None
        project_id, _ = self._turns.popitem(last=False)
        self._called.discard(project_id)
        self._turns[project_id] = None
        return project_id

    def found_nothing(self, project_id: str) -> None:
        if project_id not in self._called:
            self._turns.pop(project_id, None)

    def next_moment(self) -> float | None:
        return min(self._later.values(), default=None)


class Fleet:
    """Runs due jobs of every project of a host's store. Thread-safe."""

    def __init__(self, host: EngineHost, settings: FleetSettings | None = None, *, clock: Clock | None = None) -> None:
        self._host = host
        self.settings = settings or FleetSettings()
        self._clock = clock or SystemClock()
        self._rota = _Rota()
        self._change = threading.Condition()
        self._stopping = False
        self._threads: list[threading.Thread] = []
        self._end_waking: Callable[[], None] | None = None
        self._next_poll = 0.0
        self._outages: dict[str, int] = {}
        self._at_work: dict[Worker, int] = {}
        self.jobs_done = 0
        """How many jobs have ended here, well or as failures, since the fleet was made."""

    @property
    def running(self) -> bool:
        """Whether all its threads run."""
        return bool(self._threads) and all(thread.is_alive() for thread in self._threads)

    def start(self) -> None:
        """Start the threads. From now on whoever waits for work in this process leaves it to them."""
        self._host.leave_work_to(self.wake)
        self._end_waking = self._host.store.after_commit(self._committed)
        self._threads = [
            threading.Thread(target=self._work, name=f"memoranda-fleet-{number}", daemon=True)
            for number in range(self.settings.threads)
        ]
        for thread in self._threads:
            thread.start()
        logger.info("fleet.started", extra={"threads": self.settings.threads})

    def wake(self, project_id: str) -> None:
        """Look for due jobs of a project now."""
        with self._change:
            self._rota.call(project_id)
            self._change.notify()

    def stop(self, timeout: float = 10.0) -> bool:
        """End: jobs that run may finish within ``timeout`` seconds, then they go back to the queue; nothing is lost.

        Returns whether all of them finished or ended between two steps. Long jobs are asked to end between two steps.
        """
        deadline = time.monotonic() + timeout
        if self._end_waking is not None:
            self._end_waking()
        with self._change:
            self._stopping = True
            self._change.notify_all()
            workers = list(self._at_work)
        for worker in workers:
            worker.interrupt()
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        finished = not any(thread.is_alive() for thread in self._threads)
        let_go = 0 if finished else self._let_go()
        logger.info("fleet.stopped", extra={"jobs_done": self.jobs_done, "let_go": let_go})
        return finished

    def _let_go(self) -> int:
        with self._change:
            workers = list(self._at_work)
        return sum(worker.let_go() for worker in workers)

    def _committed(self, project_id: str) -> None:
        with self._change:
            resting = project_id in self._outages
            if not resting and self._rota.call_at(project_id, time.monotonic() + self.settings.settle_seconds):
                self._change.notify()

    # --- one thread's work

    def _work(self) -> None:
        if self.settings.gives_way and sys.platform == "linux":
            own = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, own, os.getpriority(os.PRIO_PROCESS, own) + _LOWER_PRIORITY)
        while (project_id := self._next_project()) is not None:
            try:
                self._run_one(project_id)
            except Exception as error:  # The fleet outlives an outage of its store, and what is wrong with a project.
                if not self._stopping:
                    rest = self._rest(project_id)
                    extra = {"project_id": project_id, "rest_seconds": rest}
                    logger.warning("fleet.project_failed", exc_info=error, extra=extra)

    def _next_project(self) -> str | None:
        """Return whose turn it is, waiting for one; None when the fleet stops."""
        while True:
            with self._change:
                if self._stopping:
                    return None
                now = time.monotonic()
                polls = now >= self._next_poll
                if polls:
                    self._next_poll = now + self.settings.poll_seconds
                else:
                    project_id = self._rota.next(now)
                    if project_id is not None:
                        return project_id
                    self._change.wait(self._idle_seconds(now))
            if polls:
                self._poll()

    def _idle_seconds(self, now: float) -> float:
        moments = [self._next_poll, self._rota.next_moment()]
        return max(0.0, min(moment for moment in moments if moment is not None) - now)

    def _poll(self) -> None:
        try:
            due = self._host.store.due_projects(self._clock.now())
        except Exception as error:  # An outage of the store: asked again at the next poll.
            if not self._stopping:
                logger.warning("fleet.store_failed", exc_info=error)
            return
        with self._change:
            now = time.monotonic()
            for project_id in due:
                if project_id not in self._outages:
                    self._rota.call_at(project_id, now)
            self._change.notify_all()

    def _run_one(self, project_id: str) -> None:
        with self._host.runtime(project_id) as runtime:
            worker = runtime.engine.background.worker
            self._begin(worker)
            try:
                did = worker.run_once()
            finally:
                self._end(worker)
        with self._change:
            self._outages.pop(project_id, None)
            if did:
                self.jobs_done += 1
                self._rota.call(project_id)
                self._change.notify()
            else:
                self._rota.found_nothing(project_id)

    def _begin(self, worker: Worker) -> None:
        with self._change:
            self._at_work[worker] = self._at_work.get(worker, 0) + 1

    def _end(self, worker: Worker) -> None:
        with self._change:
            self._at_work[worker] -= 1
            if not self._at_work[worker]:
                del self._at_work[worker]

    def _rest(self, project_id: str) -> float:
        """Leave a project alone for a while, longer each time."""
        with self._change:
            outages = self._outages[project_id] = self._outages.get(project_id, 0) + 1
            rest = min(_LONGEST_REST, _SHORTEST_REST * 2.0 ** min(outages - 1, 10))
            self._rota.rest(project_id, time.monotonic() + rest)
        return rest
