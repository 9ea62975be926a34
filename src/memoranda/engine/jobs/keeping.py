"""Keeping leases: one thread of a worker renews the leases of the jobs that run, and ends when none does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from memoranda.engine.jobs.handler import Lease


class LeaseKeeper:
    """Calls ``renew`` every ``interval`` seconds with each lease that is held.

    A thread for each job would cost more than a small job does.
    """

    def __init__(self, renew: Callable[[Lease], None], interval: float) -> None:
        self._renew = renew
        self._interval = interval
        self._lock = threading.Lock()
        self._held: list[Lease] = []
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()

    @contextmanager
    def holding(self, lease: Lease) -> Iterator[None]:
        """Keep a lease within this block; when it ends, no renewal is under way any more."""
        with self._lock:
            self._held.append(lease)
            if self._thread is None:
                self._ended = threading.Event()
                self._thread = threading.Thread(
                    target=self._keep, args=(self._ended,), name="memoranda-lease", daemon=True
                )
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.remove(lease)

    def held(self) -> Sequence[Lease]:
        """Return the leases of the jobs that run now."""
        with self._lock:
            return tuple(self._held)

    def end(self) -> None:
        """End the thread now; it would by itself after an interval without a lease."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._ended.set()
        if thread is not None:
            thread.join()

    def _keep(self, ended: threading.Event) -> None:
        while not ended.wait(self._interval):
            with self._lock:
                if ended.is_set():
                    return
                if not self._held:
                    self._thread = None
                    return
                for lease in self._held:
                    self._renew(lease)
