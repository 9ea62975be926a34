"""What deletions and the queue report, as the SDK shows it."""

from __future__ import annotations

from dataclasses import asdict

from memoranda.engine.deletion_counts import DeletionCounts
from memoranda.sdk.models import DeletionReport


def deletion_report(counts: DeletionCounts) -> DeletionReport:
    return DeletionReport(**asdict(counts))
