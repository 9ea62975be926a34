"""What deletions, promotions and the queue report, as the SDK shows it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from memoranda.engine.deletion_counts import DeletionCounts
from memoranda.engine.engine import MemoryEngine
from memoranda.engine.jobs.breaker import Breaker
from memoranda.engine.jobs.service import QueueStatus
from memoranda.engine.records import Snapshot
from memoranda.engine.spending import Spending
from memoranda.sdk.models import BreakerEntry, DeletionReport, PromoteSnapshotResult, StatusReport

_KIND = "memory:"


def deletion_report(counts: DeletionCounts) -> DeletionReport:
    return DeletionReport(**asdict(counts))


def promotion(snapshot: Snapshot) -> PromoteSnapshotResult:
    return PromoteSnapshotResult(
        snapshot_id=snapshot.id,
        session_id=snapshot.session_id,
        promoted_count=snapshot.message_count,
        reason=snapshot.reason,
    )


def status_report(engine: MemoryEngine) -> StatusReport:
    """Return the state of a project: what it holds, what waits, what failed, and what it was made with."""
    queue, store, project = engine.background.status(), engine.store.describe(), engine.project()
    spending = Spending(engine.store, engine.project_id, engine.clock, engine.config.spending)
    with engine.store.read(engine.project_id) as tx:
        totals = dict(tx.projects.totals(engine.clock.now()))
    return StatusReport(
        project_id=engine.project_id,
        turns=totals.get("turns", 0),
        sessions=totals.get("sessions", 0),
        memories={noun.removeprefix(_KIND): number for noun, number in totals.items() if noun.startswith(_KIND)},
        jobs={"pending": queue.pending, "running": queue.running},
        queue=_by_kind(queue),
        lag_seconds=queue.lag_seconds,
        failures=dict(queue.failures),
        breakers=[_breaker_entry(breaker, probe) for breaker in queue.breakers if (probe := breaker.next_probe)],
        spent_today=asdict(spending.today()),
        extraction_paused_until=spending.paused_until(),
        embedder=project.embedder_model or None,
        analyser=project.analyser,
        schema_version=store.schema_version,
        store=f"{store.dialect}:{store.location}",
    )


def _breaker_entry(breaker: Breaker, next_probe: datetime) -> BreakerEntry:
    return BreakerEntry(
        provider=breaker.provider,
        job_kind=breaker.kind.value,
        since=breaker.since,
        next_probe=next_probe,
        failures=breaker.failures,
        failure_class=breaker.failure_class.value,
        reason=breaker.reason,
    )


def _by_kind(queue: QueueStatus) -> dict[str, dict[str, int]]:
    shown: dict[str, dict[str, int]] = {}
    for entry in queue.jobs:
        shown.setdefault(entry.kind.value, {})[entry.state.value] = entry.number
    return shown
