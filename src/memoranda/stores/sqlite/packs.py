"""Vectors of shared scopes, packed: a new process reads ten thousand of them from few long rows.

Every vector of a packed visibility is in exactly one pack or is loose. What leaves has its pack made anew without it;
where enough are loose, they are packed. All of it happens in the transaction of the change, so that no pack ever holds
what is gone, and no read needs to ask whether a pack is good.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import ColumnElement, Table, and_, bindparam, delete, func, insert, select

from memoranda.engine.records import ORG, SHARED
from memoranda.stores.pack_schema import loose_vectors, vector_packs
from memoranda.stores.schema import vectors
from memoranda.stores.sql.documents import Partition
from memoranda.stores.sql.legs import Shape, partitions
from memoranda.stores.sql.statement import Executor, Statement
from memoranda.stores.sql.vector_scan import Place
from memoranda.stores.sqlite.matrix import (
    END_COLUMNS,
    ROW_COLUMNS,
    Matrix,
    from_pack,
    from_packs,
    from_rows,
    keys_of,
    pack,
)

PACKED = frozenset({ORG, SHARED})
"""Visibilities whose scopes hold what many users wrote. What is private is read a user at a time: from its rows."""

PACK_FROM = 16
"""Loose records of a partition from which on they are packed."""

FULL = 256
"""The most records of a pack. Smaller packs are packed again with what is new, up to half of it."""

MAPPED_BYTES = 0x7FFF0000
"""How much of the file is mapped while packs are read: the most that SQLite maps."""

_PLACE = ("source", "state", "visibility", "user_id")


def _at(table: Table, *names: str) -> Iterator[ColumnElement[bool]]:
    yield table.c.project_id == bindparam("project_id")
    yield from (table.c[name] == bindparam(f"p_{name}") for name in (*_PLACE, *names))


def _same(*names: str) -> ColumnElement[bool]:
    return and_(*(loose_vectors.c[name] == vectors.c[name] for name in ("project_id", *_PLACE, *names)))


# An outer join is walked from the left. Of an inner one SQLite, which knows no numbers of rows, may walk all vectors of
# the scope and look for each among the loose.
_LOOSE_ROWS = loose_vectors.outerjoin(vectors, _same("model", "key"))
_LOOSE_COLUMNS = [column.name for column in loose_vectors.c]
_NO_LONGER_LOOSE = Statement(delete(loose_vectors).where(*_at(loose_vectors, "key")))
_ALL_PACKED = Statement(delete(loose_vectors).where(*_at(loose_vectors, "model")))
_LOOSEN = Statement(
    insert(loose_vectors).values(
        {name: bindparam(name if name == "project_id" else f"p_{name}") for name in _LOOSE_COLUMNS}
    )
)
_LOOSEN_ROWS = Statement(
    insert(loose_vectors).from_select(
        _LOOSE_COLUMNS,
        select(*(vectors.c[name] for name in _LOOSE_COLUMNS)).where(*_at(vectors, "key")).distinct(),
    )
)
_ENOUGH_LOOSE = Statement(
    select(loose_vectors.c.model)
    .where(*_at(loose_vectors))
    .group_by(loose_vectors.c.model)
    .having(func.count() >= PACK_FROM)
)
_HOLDING = Statement(
    select(vector_packs.c.model, vector_packs.c.first_key, vector_packs.c["keys"]).where(
        *_at(vector_packs),
        vector_packs.c.first_key <= bindparam("highest"),
        vector_packs.c.last_key >= bindparam("lowest"),
    )
)
_SMALL = Statement(
    select(vector_packs.c.first_key, vector_packs.c["keys"]).where(
        *_at(vector_packs, "model"), vector_packs.c.records < FULL // 2
    )
)
_PACK_ARRAYS = tuple(vector_packs.c[name] for name in ("keys", "scales", "ends", "data"))
_PACK = Statement(select(*_PACK_ARRAYS).where(*_at(vector_packs, "model", "first_key")))
_REMOVE_PACK = Statement(delete(vector_packs).where(*_at(vector_packs, "model", "first_key")))
_PACK_COLUMNS = [column.name for column in vector_packs.c]
_ADD_PACK = Statement(
    insert(vector_packs).values(
        {name: bindparam(name if name == "project_id" else f"p_{name}") for name in _PACK_COLUMNS}
    )
)
_LOOSE_VECTORS = Statement(select(*ROW_COLUMNS).select_from(_LOOSE_ROWS).where(*_at(loose_vectors, "model")))
_LOOSE_ENDS = Statement(
    select(*END_COLUMNS).select_from(_LOOSE_ROWS).where(*_at(loose_vectors, "model"), vectors.c.expires_at.is_not(None))
)


class VectorPacks:
    """Keeps the packs of one store; without state of its own."""

    def leaving(self, sql: Executor, places: Sequence[Place]) -> None:
        for where, keys in _by_partition(sql, places):
            sql.execute_many(_NO_LONGER_LOOSE, [{**where, "p_key": key} for key in keys])
            leaving = set(keys)
            for model, first_key, held in sql.all(_HOLDING, lowest=min(keys), highest=max(keys), **where):
                if not leaving.isdisjoint(keys_of(held)):
                    _take_out(sql, {**where, "p_model": model, "p_first_key": first_key}, leaving)

    def arrived(self, sql: Executor, places: Sequence[Place]) -> None:
        for where, keys in _by_partition(sql, places):
            sql.execute_many(_LOOSEN_ROWS, [{**where, "p_key": key} for key in keys])
            _settle(sql, where)


def _by_partition(sql: Executor, places: Sequence[Place]) -> Iterator[tuple[dict[str, object], list[int]]]:
    """Group the records of packed visibilities; return the parameters that address each partition, and its keys."""
    found: dict[Partition, list[int]] = defaultdict(list)
    for partition, key in places:
        if partition[2] in PACKED:
            found[partition].append(key)
    for partition, keys in sorted(found.items()):
        named = {f"p_{name}": value for name, value in zip(_PLACE, partition, strict=True)}
        yield {"project_id": sql.project_id, **named}, keys


def _take_out(sql: Executor, where: dict[str, object], leaving: set[int]) -> None:
    """Make a pack anew without some of its records."""
    row = sql.one(_PACK, **where)
    sql.execute(_REMOVE_PACK, **where)
    if row is not None:
        staying = from_pack(row).without(leaving)
        _add(sql, where, [staying] if len(staying.keys) else [])


def _add(sql: Executor, where: dict[str, object], parts: Iterable[Matrix]) -> None:
    rows = [_row_of(part, where) for part in parts]
    if rows:
        sql.execute_many(_ADD_PACK, rows)


def _settle(sql: Executor, where: dict[str, object]) -> None:
    """Pack what is loose of a partition, if that is enough, together with its small packs."""
    for (model,) in sql.all(_ENOUGH_LOOSE, **where):
        there = {**where, "p_model": model}
        for first_key, held in sql.all(_SMALL, **there):
            sql.execute(_REMOVE_PACK, p_first_key=first_key, **there)
            sql.execute_many(_LOOSEN, [{**there, "p_key": key} for key in sorted(keys_of(held))])
        row = sql.one(_LOOSE_VECTORS, **there)
        if row is None or row[0] is None:
            continue
        ends = sql.all(_LOOSE_ENDS, **there) if row[3] else ()
        _add(sql, there, from_rows(row, ends).parts(FULL))
        sql.execute(_ALL_PACKED, **there)


def _row_of(part: Matrix, where: dict[str, object]) -> dict[str, object]:
    # In the order of the key: the first is the lowest.
    first, last, records = int(part.keys[0]), int(part.keys[-1]), len(set(part.keys.tolist()))
    held = {f"p_{name}": value for name, value in pack(part).items()}
    return {**where, "p_first_key": first, "p_last_key": last, "p_records": records, **held}


@dataclass(frozen=True, slots=True)
class _Reads:
    """The statements that read the packs of a scope and what is loose in it."""

    loose: Statement
    sizes: Statement
    packs: Statement
    loose_vectors: Statement
    loose_ends: Statement


@lru_cache
def _reads(shape: Shape) -> _Reads:
    loose = (*partitions(loose_vectors, shape), loose_vectors.c.model == bindparam("model"))
    packed = (*partitions(vector_packs, shape), vector_packs.c.model == bindparam("model"))
    held = vector_packs.c
    sizes = (func.sum(func.length(held.scales)) / 4, func.sum(func.length(held.data)))
    return _Reads(
        loose=Statement(select(func.count()).select_from(loose_vectors).where(*loose)),
        sizes=Statement(select(*sizes).where(*packed)),
        packs=Statement(select(*_PACK_ARRAYS).where(*packed)),
        loose_vectors=Statement(select(*ROW_COLUMNS).select_from(_LOOSE_ROWS).where(*loose)),
        loose_ends=Statement(select(*END_COLUMNS).select_from(_LOOSE_ROWS).where(*loose)),
    )


def packed_reads(shape: Shape) -> tuple[Statement, ...]:
    """Return the statements that read a scope of which nothing is loose."""
    reads = _reads(shape)
    return reads.loose, reads.sizes, reads.packs


def read_packed(sql: Executor, shape: Shape, records: int, parameters: dict[str, object]) -> Matrix | None:
    """Return the vectors of a scope of so many records, all of whose visibilities are packed.

    None where most of them are loose: then they are read in less time from their rows, in the order of those. What has
    expired is among them.
    """
    reads = _reads(shape)
    counted, sizes = sql.one(reads.loose, **parameters), sql.one(reads.sizes, **parameters)
    if counted is None or sizes is None or not sizes[0] or counted[0] > records // 2:
        return None
    loose = _read_loose(sql, reads, parameters) if counted[0] else None
    # Mapped, a page is read where it is, instead of into memory of its own. Only for as long as it takes: what is read
    # again and again is sooner found in SQLite's cache, and a mapped file that breaks ends the process.
    sql.set(f"PRAGMA mmap_size = {MAPPED_BYTES}")
    try:
        return from_packs(sql.each(reads.packs, **parameters), int(sizes[0]), int(sizes[1]), loose)
    finally:
        sql.set("PRAGMA mmap_size = 0")


def _read_loose(sql: Executor, reads: _Reads, parameters: dict[str, object]) -> Matrix | None:
    row = sql.one(reads.loose_vectors, **parameters)
    if row is None or row[0] is None:
        return None
    ends = sql.all(reads.loose_ends, **parameters) if row[3] else ()
    return from_rows(row, [end for end in ends if end[1] is not None])
