"""Timing on a noisy machine: many repetitions, what is compared takes turns, quantiles instead of means."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Times:
    """Repeated measurements of one thing, in milliseconds, sorted."""

    milliseconds: tuple[float, ...]

    @classmethod
    def of(cls, seconds: Iterable[float]) -> Times:
        """Take measurements in seconds; at least one."""
        return cls(tuple(sorted(value * 1000 for value in seconds)))

    def at(self, quantile: float) -> float:
        """Return the value below which this share of the measurements lies."""
        last = len(self.milliseconds) - 1
        return self.milliseconds[min(last, round(quantile * last))]

    @property
    def p50(self) -> float:
        return self.at(0.5)

    @property
    def tail(self) -> str:
        """The slow end and how many measurements there were, for people."""
        return f"p95 {self.at(0.95):.2f}, p99 {self.at(0.99):.2f}, n={len(self.milliseconds)}"


def seconds(call: Call) -> float:
    """Run once and return how long it took."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def alternately(calls: Sequence[Call], repetitions: int, *, warm_up: int = 0) -> list[Times]:
    """Time several calls in turns (A B A B), so that what disturbs the machine disturbs all of them alike."""
    for _ in range(warm_up):
        for call in calls:
            call()
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(repetitions):
        for call, found in zip(calls, taken, strict=True):
            found.append(seconds(call))
    return [Times.of(found) for found in taken]
