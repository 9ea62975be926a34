"""What language models cost: the figures, and where they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from memoranda.engine.extraction.items import Usage

__all__ = ["ModelUsage", "Usage", "UsageRows"]


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What one model cost for one job."""

    job_id: str
    model: str
    usage: Usage


class UsageRows(Protocol):
    """The usage of a project by day (UTC), job and model."""

    def add(self, day: date, entry: ModelUsage) -> None:
        """Add to what a job cost on a day, and to the sum of the day."""
        ...

    def spent(self, day: date) -> Usage:
        """Return the sum of a day."""
        ...

    def of_job(self, job_id: str, day: date) -> Sequence[ModelUsage]:
        """Return what a job cost on a day, by model."""
        ...
