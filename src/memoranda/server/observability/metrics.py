"""Metrics for Prometheus. Labels are route templates, methods and statuses: their number does not grow with use."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from memoranda._version import __version__
from memoranda.engine.ports import Clock
from memoranda.engine.records import Backlog
from memoranda.runtime.fleet import Fleet
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import SystemClock
from memoranda.sdk.errors import MemoryStoreError

UNMATCHED: Final = "unmatched"
"""The route of requests that no route matched."""
_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_BACKLOG_SECONDS: Final = 5.0
"""How old the numbers of the queue may be: counting it costs more than most requests."""


class ServerMetrics:
    """The metrics of one server. Thread-safe."""

    def __init__(self, host: EngineHost, clock: Clock | None = None) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "memoranda_http_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self._latency = Histogram(
            "memoranda_http_request_seconds",
            "Time from a request's first byte to its answer's last.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._in_flight = Gauge("memoranda_http_in_flight", "Requests under way.", registry=self.registry)
        self._work = WorkCollector(host, clock or SystemClock())
        self.registry.register(self._work)
        ProcessCollector(registry=self.registry)

    def watch(self, fleet: Fleet) -> None:
        """Tell also of the background work that this process does."""
        self._work.fleet = fleet

    def began(self) -> None:
        self._in_flight.inc()

    def ended(self, method: str, route: str | None, status: int, seconds: float) -> None:
        self._in_flight.dec()
        method, route = (method if method in _METHODS else "other"), route or UNMATCHED
        self._requests.labels(method, route, status).inc()
        self._latency.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """Return the metrics in Prometheus' text format."""
        return generate_latest(self.registry)


class WorkCollector(Collector):
    """The background work, read when it is asked for."""

    def __init__(self, host: EngineHost, clock: Clock) -> None:
        self._host = host
        self._clock = clock
        self._reading = threading.Lock()
        self._read: tuple[float, Backlog] | None = None
        self.fleet: Fleet | None = None

    def describe(self) -> Iterable[Metric]:
        return ()  # Registering must not read the store.

    def collect(self) -> Iterable[Metric]:
        build = GaugeMetricFamily("memoranda_build", "The version that runs.", labels=("version",))
        build.add_metric((__version__,), 1)
        yield build
        yield _gauge("memoranda_open_projects", "Projects open in this process.", len(self._host.open_projects()))
        if self.fleet is not None:
            done = CounterMetricFamily("memoranda_jobs_done", "Jobs that ended in this process, well or as failures.")
            done.add_metric((), self.fleet.jobs_done)
            yield done
            yield _gauge("memoranda_worker_running", "Whether this process does background work.", self.fleet.running)
        found = self._backlog()
        yield _gauge("memoranda_store_reachable", "Whether the store could be read.", found is not None)
        if found is not None:
            yield _gauge("memoranda_jobs_pending", "Jobs that wait, of all projects.", found.pending)
            yield _gauge("memoranda_jobs_running", "Jobs under a lease, of all projects.", found.running)
            yield _gauge("memoranda_jobs_due", "Jobs that could run now, of all projects.", found.due)
            yield _gauge(
                "memoranda_oldest_due_job_seconds",
                "How long the job that waits longest has been due.",
                found.oldest_due_seconds,
            )
            yield _gauge("memoranda_failures", "Failures that are kept, of all projects.", found.failures)

    def _backlog(self) -> Backlog | None:
        with self._reading:
            now = time.monotonic()
            if self._read is None or now - self._read[0] > _BACKLOG_SECONDS:
                try:
                    self._read = (now, self._host.store.backlog(self._clock.now()))
                except (MemoryStoreError, RuntimeError):  # The latter of a store that is closed already.
                    return None  # The metric itself says so.
            return self._read[1]


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(name, meaning, value=float(value))
