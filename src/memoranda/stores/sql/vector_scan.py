"""What differs between databases in keeping and finding vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from memoranda.engine.ports import LegQuery, ScoredKey
from memoranda.stores.sql.documents import Partition
from memoranda.stores.sql.statement import Executor

Place: TypeAlias = tuple[Partition, int]
"""The partition and the key of a record, which lead the key of its vectors."""


class VectorScan(Protocol):
    """How a database finds the nearest vectors of a scope; the one leg that differs."""

    def nearest(
        self, sql: Executor, query: LegQuery, model: str, vector: Sequence[float], limit: int
    ) -> Sequence[ScoredKey]:
        """Return the best records by cosine, exact within the scope, ties by key."""
        ...

    def leaving(self, sql: Executor, places: Sequence[Place]) -> None:
        """Forget what is kept beside the rows of these records, of any model; called before the rows change."""
        ...

    def arrived(self, sql: Executor, places: Sequence[Place]) -> None:
        """Take note of the rows of these records, called once they have changed, as often as ``leaving``."""
        ...
