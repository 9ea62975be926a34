"""The vector leg on SQLite: exact scans of a scope's int8 vectors, from rows or from a cached matrix."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from sqlalchemy import bindparam, func, select

from memoranda.engine.ports import LegQuery, Narrowing, ScoredKey
from memoranda.stores.schema import partition_counts, vectors
from memoranda.stores.sql.codec import to_micros
from memoranda.stores.sql.legs import USUAL_SHAPES, Shape, candidate, narrowed, parameters_of, partitions, shape_of
from memoranda.stores.sql.quantised import Floats, Ints, QuantisedQuery, by_record, ranked
from memoranda.stores.sql.statement import Executor, Statement
from memoranda.stores.sqlite.matrix import END_COLUMNS, ROW_COLUMNS, Matrix, from_rows
from memoranda.stores.sqlite.packs import PACKED, VectorPacks, packed_reads, read_packed

CACHE_BYTES = 256 * 1024 * 1024
"""Cached matrices of all scopes together; least recently used ones go first."""

CACHE_FROM = 200
"""Smaller scopes are read from their rows, which is as fast."""

_EMPTY = Narrowing()
CacheKey: TypeAlias = tuple[object, ...]


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


@dataclass(frozen=True, slots=True)
class _Scan:
    """The statements that read a scope's vectors, and those of them that expire."""

    vectors: Statement
    ends: Statement


def _scan(shape: Shape, narrowing: Narrowing, parameters: dict[str, object]) -> _Scan:
    conditions = [*partitions(vectors, shape), vectors.c.model == bindparam("model")]
    conditions += [*candidate(vectors, shape), *narrowed(vectors, narrowing, parameters)]
    return _Scan(
        Statement(select(*ROW_COLUMNS).where(*conditions)),
        Statement(select(*END_COLUMNS).where(*conditions, vectors.c.expires_at.is_not(None))),
    )


@lru_cache
def _plain_scan(shape: Shape) -> _Scan:
    return _scan(shape, _EMPTY, {})


@lru_cache
def _generations_statement(shape: Shape) -> Statement:
    counts = partition_counts.c
    # One row for all partitions. A generation is counted from a random number: in order they name their partitions too.
    columns = (func.group_concat(counts.generation), func.coalesce(func.sum(counts.records), 0))
    return Statement(select(*columns).where(*partitions(partition_counts, shape)))


def usual() -> Iterator[Statement]:
    """Return the statements by which nearly every search finds its vectors."""
    for shape in USUAL_SHAPES:
        yield _generations_statement(shape)
        yield from packed_reads(shape) if shape[1] == 1 else (_plain_scan(shape).vectors,)


class SqliteVectorScan(VectorPacks):
    """``VectorScan`` over SQLite, exact within the scope."""

    def __init__(self) -> None:
        self._cache = MatrixCache()

    def nearest(
        self, sql: Executor, query: LegQuery, model: str, vector: Sequence[float], limit: int
    ) -> Sequence[ScoredKey]:
        matrix = self._matrix(sql, query, model)
        if matrix is None or limit < 1:
            return []
        wanted = np.asarray(vector, dtype=np.float32)
        norm = float(np.linalg.norm(wanted))
        if norm == 0.0:
            return []
        return _best(matrix, wanted / np.float32(norm), limit, to_micros(query.now))

    def _matrix(self, sql: Executor, query: LegQuery, model: str) -> Matrix | None:
        shape = shape_of(query, hides=sql.hides)
        parameters = {"model": model, **parameters_of(query)}
        if query.narrowing != _EMPTY or sql.hides:
            return _read(sql, _scan(shape, query.narrowing, parameters), parameters)
        found = sql.one(_generations_statement(shape), **parameters)
        generations, records = (None, 0) if found is None else (found[0], int(found[1]))
        if records < CACHE_FROM:
            return _read(sql, _plain_scan(shape), parameters) if records else None
        key = (sql.project_id, query.source, query.states, query.scope, model)
        matrix = self._cache.get(key, generations)
        if matrix is None:
            matrix = _read_plain(sql, query, shape, records, parameters)
            if matrix is not None:
                self._cache.put(key, generations, matrix)
        return matrix


def _read_plain(
    sql: Executor, query: LegQuery, shape: Shape, records: int, parameters: dict[str, object]
) -> Matrix | None:
    """Read a scope of so many records that nothing narrows but a session or an agent."""
    *_, session, agent, _ = shape
    packed = None
    if PACKED.issuperset(query.scope.visibilities()) and not (session or agent):
        packed = read_packed(sql, shape, records, parameters)
    return packed or _read(sql, _plain_scan(shape), parameters)


def _read(sql: Executor, scan: _Scan, parameters: dict[str, object]) -> Matrix | None:
    """Read the vectors of a scope from their rows; None where there are none."""
    row = sql.one(scan.vectors, **parameters)
    if row is None or row[0] is None:
        return None
    return from_rows(row, sql.all(scan.ends, **parameters) if row[3] else ())


def _best(matrix: Matrix, wanted: Floats, limit: int, now: int) -> list[ScoredKey]:
    """Return the best live records, each by its best piece."""
    query = QuantisedQuery.of(wanted)
    rows = np.flatnonzero(matrix.expires_at > now)  # a cached matrix outlives some of its rows
    if len(rows) > limit:
        rows = _promising(matrix, query, rows, limit)
    if not len(rows):
        return []
    keys, scores = by_record(matrix.keys[rows], query.scores(matrix.bytes[rows], matrix.scales[rows]))
    return ranked(keys, scores, limit)


def _promising(matrix: Matrix, query: QuantisedQuery, rows: Ints, limit: int) -> Ints:
    """Return the rows that can be among the best, by a look at the first digit of the query alone."""
    whole = len(rows) == len(matrix.keys)
    data, scales = (matrix.bytes, matrix.scales) if whole else (matrix.bytes[rows], matrix.scales[rows])
    rough = query.rough_scores(data, scales)
    _, records = by_record(matrix.keys[rows], rough)
    if len(records) <= limit:
        return rows
    # What a rough score may be wrong by counts twice: once for the last place, once for the row itself.
    least = np.partition(records, -limit)[-limit] - 2 * query.roughness(float(scales.max()))
    found: Ints = rows[rough >= least]
    return found
