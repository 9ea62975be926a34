"""The vector leg on SQLite: exact scans of a scope's int8 vectors, from rows or from a cached matrix."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import simsimd
from numpy.typing import NDArray
from sqlalchemy import bindparam, select

from memoranda.engine.ports import LegQuery, Narrowing, ScoredKey
from memoranda.stores.schema import partition_counts, vectors
from memoranda.stores.sql.codec import to_micros
from memoranda.stores.sql.legs import Shape, candidate, narrowed, parameters_of, partitions, shape_of
from memoranda.stores.sql.statement import Executor, Statement

CACHE_BYTES = 256 * 1024 * 1024
"""Cached matrices of all scopes together; least recently used ones go first."""

CACHE_FROM = 200
"""Smaller scopes are read from their rows, which is as fast."""

_RESCORED = 8
"""How many times the wanted number of records is scored again exactly after the SIMD pass."""

_EMPTY = Narrowing()
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]
CacheKey: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of one scope: parallel arrays, one row a piece. ``expires_at`` is the largest integer where never."""

    keys: Ints
    scales: Floats
    bytes: NDArray[np.int8]
    expires_at: Ints

    @property
    def size(self) -> int:
        return self.bytes.nbytes + self.keys.nbytes + self.scales.nbytes + self.expires_at.nbytes


class MatrixCache:
    """Matrices of large scopes, each with the generations of its partitions when it was read. Thread-safe."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._held: OrderedDict[CacheKey, tuple[object, Matrix]] = OrderedDict()

    def get(self, key: CacheKey, generations: object) -> Matrix | None:
        """Return the matrix if none of its partitions changed since."""
        with self._lock:
            found = self._held.get(key)
            if found is None or found[0] != generations:
                return None
            self._held.move_to_end(key)
            return found[1]

    def put(self, key: CacheKey, generations: object, matrix: Matrix) -> None:
        with self._lock:
            self._held[key] = (generations, matrix)
            self._held.move_to_end(key)
            while sum(item.size for _, item in self._held.values()) > self._limit and len(self._held) > 1:
                self._held.popitem(last=False)


_COLUMNS = (vectors.c.key, vectors.c.scale, vectors.c.data, vectors.c.expires_at)


def _statement(shape: Shape, narrowing: Narrowing, parameters: dict[str, object]) -> Statement:
    conditions = [*partitions(vectors, shape), vectors.c.model == bindparam("model")]
    conditions += [*candidate(vectors, shape), *narrowed(vectors, narrowing, parameters)]
    return Statement(select(*_COLUMNS).where(*conditions))


@lru_cache
def _plain_statement(shape: Shape) -> Statement:
    return _statement(shape, _EMPTY, {})


@lru_cache
def _generations_statement(shape: Shape) -> Statement:
    counts = partition_counts.c
    columns = (counts.state, counts.visibility, counts.user_id, counts.generation, counts.records)
    return Statement(select(*columns).where(*partitions(partition_counts, shape)))


class SqliteVectorScan:
    """``VectorScan`` over SQLite, exact within the scope."""

    def __init__(self) -> None:
        self._cache = MatrixCache()

    def nearest(
        self, sql: Executor, query: LegQuery, model: str, vector: Sequence[float], limit: int
    ) -> Sequence[ScoredKey]:
        matrix = self._matrix(sql, query, model, len(vector))
        if matrix is None or limit < 1:
            return []
        wanted = np.asarray(vector, dtype=np.float32)
        norm = float(np.linalg.norm(wanted))
        if norm == 0.0:
            return []
        rows = _live_rows(matrix, to_micros(query.now))
        return _best(matrix, rows, wanted / np.float32(norm), limit)

    def _matrix(self, sql: Executor, query: LegQuery, model: str, dimension: int) -> Matrix | None:
        shape = shape_of(query, hides=sql.hides)
        parameters = parameters_of(query)
        if query.narrowing != _EMPTY or sql.hides:
            statement = _statement(shape, query.narrowing, parameters)
            return _read(sql, statement, parameters, model, dimension)
        generations = sorted(tuple(row) for row in sql.all(_generations_statement(shape), **parameters))
        records = sum(row[4] for row in generations)
        if records < CACHE_FROM:
            return _read(sql, _plain_statement(shape), parameters, model, dimension) if records else None
        key = (sql.project_id, query.source, query.states, query.scope, model)
        matrix = self._cache.get(key, generations)
        if matrix is None:
            matrix = _read(sql, _plain_statement(shape), parameters, model, dimension)
            if matrix is not None:
                self._cache.put(key, generations, matrix)
        return matrix


def _read(
    sql: Executor, statement: Statement, parameters: dict[str, object], model: str, dimension: int
) -> Matrix | None:
    """Read the vectors of a scope in one statement; None where there are none."""
    rows = sql.all(statement, model=model, **parameters)
    if not rows:
        return None
    keys, scales, data, expires = zip(*rows, strict=True)
    never = np.iinfo(np.int64).max
    return Matrix(
        keys=np.array(keys, dtype=np.int64),
        scales=np.array(scales, dtype=np.float32),
        bytes=np.frombuffer(b"".join(data), dtype=np.int8).reshape(len(rows), dimension),
        expires_at=np.array([never if end is None else end for end in expires], dtype=np.int64),
    )


def _live_rows(matrix: Matrix, now: int) -> Ints | None:
    """Return the rows that have not expired, None where all are live (a cached matrix outlives some of its rows)."""
    live = matrix.expires_at > now
    return None if live.all() else np.flatnonzero(live)


def _best(matrix: Matrix, rows: Ints | None, wanted: Floats, limit: int) -> list[ScoredKey]:
    """Return the best records: a SIMD pass over the signed bytes, then exact scores of the best of them."""
    chosen = np.arange(len(matrix.keys)) if rows is None else rows
    pool = limit * _RESCORED
    if len(chosen) > pool:
        chosen = _rough(matrix, chosen, wanted, pool)
    # Not a matrix product: BLAS would wake its threads, which costs more than the sums of so few rows.
    scores = np.einsum("ij,j->i", matrix.bytes[chosen].astype(np.float32), wanted) * matrix.scales[chosen]
    keys = matrix.keys[chosen]
    order = np.lexsort((keys, -scores))
    _, first = np.unique(keys[order], return_index=True)  # the best piece of each record
    best = order[np.sort(first)][:limit]
    return [ScoredKey(key, score) for key, score in zip(keys[best].tolist(), scores[best].tolist(), strict=True)]


def _rough(matrix: Matrix, chosen: Ints, wanted: Floats, pool: int) -> Ints:
    """Return the rows nearest to the query by cosine of signed bytes."""
    query = np.round(wanted * (127.0 / float(np.abs(wanted).max()))).astype(np.int8)
    candidates = matrix.bytes if len(chosen) == len(matrix.keys) else matrix.bytes[chosen]
    distances = np.asarray(simsimd.cdist(query.reshape(1, -1), candidates, "cosine"), dtype=np.float32).ravel()
    nearest: Ints = np.sort(chosen[np.argpartition(distances, pool)[:pool]])
    return nearest
