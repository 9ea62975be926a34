"""A clock that stands still until a test moves it."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

DEFAULT_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class ManualClock:
    """A ``Clock`` whose time only ``advance`` and ``set`` change. Thread-safe."""

    def __init__(self, start: datetime = DEFAULT_START) -> None:
        self._now = start
        self._lock = threading.Lock()

    def now(self) -> datetime:
        return self._now

    def advance(self, step: timedelta | None = None, *, seconds: float = 0.0) -> datetime:
        """Move on by ``step`` plus ``seconds``; return the new time."""
        with self._lock:
            self._now += (step or timedelta(0)) + timedelta(seconds=seconds)
            return self._now

    def set(self, moment: datetime) -> None:
        """Move to a given time, backwards too."""
        with self._lock:
            self._now = moment
