"""A limit on how often something is tried, kept in memory: one process counts for itself."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

MOST_KEYS: Final = 10_000
_MINUTE: Final = 60.0


class Throttle:
    """At most ``per_minute`` tries a key, refilled evenly; of many keys the latest used are remembered. Thread-safe."""

    def __init__(
        self, per_minute: int, *, most_keys: int = MOST_KEYS, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = float(per_minute)
        self._most_keys = most_keys
        self._seconds = seconds
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, key: str) -> int:
        """Return for how many seconds no try is left, 0 when there is one."""
        with self._lock:
            return self._wait(self._now_left(key))

    def spend(self, key: str) -> int:
        """Take one try; return 0, or for how many seconds there is none."""
        with self._lock:
            left = self._now_left(key)
            wait = self._wait(left)
            self._left[key] = (left if wait else left - 1, self._seconds())
            self._left.move_to_end(key)
            while len(self._left) > self._most_keys:
                self._left.popitem(last=False)
            return wait

    def _now_left(self, key: str) -> float:
        left, since = self._left.get(key, (self._most, self._seconds()))
        return min(self._most, left + (self._seconds() - since) * self._most / _MINUTE)

    def _wait(self, left: float) -> int:
        return 0 if left >= 1 else max(1, math.ceil((1 - left) * _MINUTE / self._most))
