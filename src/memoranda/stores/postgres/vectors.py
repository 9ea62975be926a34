"""The vector leg on PostgreSQL: pgvector compares a scope's vectors, and what may be among the best is scored again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from sqlalchemy import CTE, ColumnElement, Float, any_, bindparam, cast, func, literal_column, select
from sqlalchemy.types import UserDefinedType

from memoranda.engine.ports import LegQuery, Narrowing, ScoredKey
from memoranda.stores.schema import vectors
from memoranda.stores.sql.legs import Shape, candidate, narrowed, parameters_of, partitions, shape_of
from memoranda.stores.sql.quantised import Doubles, Floats, QuantisedQuery, by_record, ranked
from memoranda.stores.sql.statement import Executor, Row, Statement
from memoranda.stores.sql.vector_scan import Place

_EMPTY = Narrowing()
_PRECISION = 1e12
_LARGEST_ROW = 1.2
"""No stored vector is longer: each had length 1 before its components were rounded to a 127th of the largest."""
_FLOAT_ERROR = 2.0**-23
"""How far pgvector's sums may be off, for each component of vectors of length 1: floats round to half of this."""


class _HalfVector(UserDefinedType[str]):
    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "halfvec"


# The database makes them from ``data``, whole numbers that it keeps exactly (migrations/pg_parts.py).
_CODES: ColumnElement[Any] = literal_column("vectors.codes")
_PLACE_IN_TABLE: ColumnElement[Any] = literal_column("vectors.ctid")
_DISTANCE = vectors.c.scale * _CODES.op("<#>", return_type=Float())(cast(bindparam("asked"), _HalfVector()))


def _promising(near: CTE) -> ColumnElement[bool]:
    """Whether a row's rough distance is not so far behind the last place's that it cannot have that place."""
    records = select(func.min(near.c.distance).label("distance")).group_by(near.c.key).subquery("records")
    last = select(records.c.distance).order_by(records.c.distance).offset(bindparam("before_last")).limit(1)
    anything: ColumnElement[float] = literal_column("'infinity'::float8")
    return near.c.distance <= func.coalesce(last.scalar_subquery(), anything) + bindparam("slack", type_=Float())


def _statement(shape: Shape, narrowing: Narrowing, parameters: dict[str, object]) -> Statement:
    conditions = [*partitions(vectors, shape), vectors.c.model == bindparam("model")]
    conditions += [*candidate(vectors, shape), *narrowed(vectors, narrowing, parameters)]
    near = select(vectors.c.key, _DISTANCE.label("distance"), _PLACE_IN_TABLE.label("place")).where(*conditions)
    scanned = near.cte("near")
    # Found again by their place in the table, so that the scan carries no vectors along.
    chosen = select(scanned.c.place).where(_promising(scanned)).scalar_subquery()
    found = vectors.alias("found")
    there: ColumnElement[bool] = literal_column("found.ctid") == any_(func.array(chosen))
    again = select(found.c.key, found.c.scale, found.c.data)
    again = again.where(found.c.project_id == bindparam("project_id"), there)
    return Statement(again.order_by(found.c.key, found.c.piece))


@lru_cache
def _plain(shape: Shape) -> Statement:
    return _statement(shape, _EMPTY, {})


class PostgresVectorScan:
    """``VectorScan`` over PostgreSQL, exact within the scope."""

    def nearest(
        self, sql: Executor, query: LegQuery, model: str, vector: Sequence[float], limit: int
    ) -> Sequence[ScoredKey]:
        wanted = np.asarray(vector, dtype=np.float32)
        norm = float(np.linalg.norm(wanted))
        if norm == 0.0 or limit < 1:
            return []
        wanted = wanted / np.float32(norm)
        shape = shape_of(query, hides=sql.hides)
        parameters = {"model": model, "before_last": limit - 1, **_asked(wanted), **parameters_of(query)}
        plain = query.narrowing == _EMPTY
        statement = _plain(shape) if plain else _statement(shape, query.narrowing, parameters)
        rows = sql.all(statement, **parameters)
        return _best(rows, wanted, limit) if rows else []

    def leaving(self, sql: Executor, places: Sequence[Place]) -> None:
        """Nothing is kept beside the rows."""

    def arrived(self, sql: Executor, places: Sequence[Place]) -> None:
        """Nothing is kept beside the rows."""


def _asked(wanted: Floats) -> dict[str, object]:
    """Return the query as pgvector is given it, in half precision, and twice what that may be wrong by."""
    rounded = wanted.astype(np.float16)
    lost = float(np.linalg.norm(wanted.astype(np.float64) - rounded.astype(np.float64)))
    slack = 2 * _LARGEST_ROW * (lost + _FLOAT_ERROR * len(wanted))
    return {"asked": "[" + ",".join(map(str, rounded.tolist())) + "]", "slack": slack}


def _best(rows: Sequence[Row], wanted: Floats, limit: int) -> list[ScoredKey]:
    keys = np.array([row[0] for row in rows], dtype=np.int64)
    scales = (np.rint(np.array([row[1] for row in rows]) * _PRECISION) / _PRECISION).astype(np.float32)
    data = np.frombuffer(b"".join([row[2] for row in rows]), dtype=np.int8).reshape(len(rows), -1)
    scores: Doubles = QuantisedQuery.of(wanted).scores(data, scales)
    return ranked(*by_record(keys, scores), limit)
