"""The vector leg on PostgreSQL: exact scans of a scope's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from sqlalchemy import bindparam, select

from memoranda.engine.ports import LegQuery, Narrowing, ScoredKey
from memoranda.stores.schema import vectors
from memoranda.stores.sql.legs import Shape, candidate, narrowed, parameters_of, partitions, shape_of
from memoranda.stores.sql.statement import Executor, Statement
from memoranda.stores.sql.vector_scan import Place

_EMPTY = Narrowing()


def _statement(shape: Shape, narrowing: Narrowing, parameters: dict[str, object]) -> Statement:
    conditions = [*partitions(vectors, shape), vectors.c.model == bindparam("model")]
    conditions += [*candidate(vectors, shape), *narrowed(vectors, narrowing, parameters)]
    return Statement(select(vectors.c.key, vectors.c.scale, vectors.c.data).where(*conditions))


@lru_cache
def _plain(shape: Shape) -> Statement:
    return _statement(shape, _EMPTY, {})


class PostgresVectorScan:
    """``VectorScan`` over PostgreSQL, exact within the scope."""

    def nearest(
        self, sql: Executor, query: LegQuery, model: str, vector: Sequence[float], limit: int
    ) -> Sequence[ScoredKey]:
        wanted = np.asarray(vector, dtype=np.float64)
        norm = float(np.linalg.norm(wanted))
        if norm == 0.0 or limit < 1:
            return []
        shape = shape_of(query, hides=sql.hides)
        parameters = {"model": model, **parameters_of(query)}
        plain = query.narrowing == _EMPTY
        statement = _plain(shape) if plain else _statement(shape, query.narrowing, parameters)
        best: dict[int, float] = {}
        for key, scale, data in sql.all(statement, **parameters):
            score = float(np.frombuffer(data, dtype=np.int8).astype(np.float64) @ wanted) * scale / norm
            best[key] = max(score, best.get(key, -2.0))
        ordered = sorted(best.items(), key=lambda item: (-item[1], item[0]))
        return [ScoredKey(key, score) for key, score in ordered[:limit]]

    def leaving(self, sql: Executor, places: Sequence[Place]) -> None:
        """Nothing is kept beside the rows."""

    def arrived(self, sql: Executor, places: Sequence[Place]) -> None:
        """Nothing is kept beside the rows."""
