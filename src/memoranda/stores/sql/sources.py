"""Rows of provenance: which turns and snapshots a memory was derived from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from sqlalchemy import ColumnElement, and_, bindparam, delete, exists, select

from memoranda.stores.schema import memories, memory_sources, turns
from memoranda.stores.sql.statement import Executor, Statement, chunks, in_list, list_parameters, list_size
from memoranda.stores.sql.upsert import insert

TURN = "turn"
SNAPSHOT = "snapshot"

_SOURCES = memory_sources.c
_IN_PROJECT = _SOURCES.project_id == bindparam("project_id")

_ADD = Statement(
    insert(memory_sources)
    .values({name: bindparam(name) for name in ("project_id", "memory_id", "source_type", "source_id")})
    .on_conflict_do_nothing()
)
_OF_MEMORY = Statement(
    select(_SOURCES.source_id)
    .where(_IN_PROJECT, _SOURCES.memory_id == bindparam("memory_id"), _SOURCES.source_type == bindparam("source_type"))
    .order_by(_SOURCES.source_id)
)


def _among(size: int) -> tuple[ColumnElement[bool], ...]:
    return (_IN_PROJECT, _SOURCES.source_type == bindparam("source_type"), in_list(_SOURCES.source_id, "source", size))


@lru_cache
def _memories_of(size: int) -> Statement:
    return Statement(select(_SOURCES.memory_id).distinct().where(*_among(size)).order_by(_SOURCES.memory_id))


@lru_cache
def _remove(size: int) -> Statement:
    return Statement(delete(memory_sources).where(*_among(size)))


@lru_cache
def _remove_memories(size: int) -> Statement:
    return Statement(delete(memory_sources).where(_IN_PROJECT, in_list(_SOURCES.memory_id, "memory", size)))


def _extracted(size: int) -> tuple[ColumnElement[bool], ...]:
    return (
        memories.c.project_id == bindparam("project_id"),
        in_list(memories.c.id, "memory", size),
        memories.c.origin == "extracted",
    )


def _has(source_type: str, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    source = and_(
        _SOURCES.project_id == memories.c.project_id,
        _SOURCES.memory_id == memories.c.id,
        _SOURCES.source_type == source_type,
        *conditions,
    )
    return exists(select(1).select_from(memory_sources).where(source))


@lru_cache
def _without_turn(size: int) -> Statement:
    return Statement(select(memories.c.id).where(*_extracted(size), ~_has(TURN)).order_by(memories.c.id))


@lru_cache
def _without_any(size: int) -> Statement:
    # A turn that was dropped after its promotion is still named as a source, and carries nothing any more.
    same = (turns.c.project_id == _SOURCES.project_id, turns.c.id == _SOURCES.source_id)
    turn_exists = exists(select(1).select_from(turns).where(*same))
    conditions = (*_extracted(size), ~_has(SNAPSHOT), ~_has(TURN, turn_exists))
    return Statement(select(memories.c.id).where(*conditions).order_by(memories.c.id))


class SqlSourceRows:
    """``SourceRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def add(self, memory_id: str, turn_ids: Sequence[str], snapshot_id: str) -> None:
        named = [(TURN, turn_id) for turn_id in turn_ids] + ([(SNAPSHOT, snapshot_id)] if snapshot_id else [])
        rows = [
            {"project_id": self._sql.project_id, "memory_id": memory_id, "source_type": kind, "source_id": source_id}
            for kind, source_id in named
        ]
        if rows:
            self._sql.execute_many(_ADD, rows)

    def turns_of(self, memory_id: str) -> Sequence[str]:
        return [row[0] for row in self._sql.all(_OF_MEMORY, memory_id=memory_id, source_type=TURN)]

    def snapshots_of(self, memory_id: str) -> Sequence[str]:
        return [row[0] for row in self._sql.all(_OF_MEMORY, memory_id=memory_id, source_type=SNAPSHOT)]

    def memories_of_turns(self, turn_ids: Sequence[str]) -> Sequence[str]:
        return self._memories_of(TURN, turn_ids)

    def _memories_of(self, source_type: str, source_ids: Sequence[str]) -> list[str]:
        found: set[str] = set()
        for part in chunks(source_ids):
            statement = _memories_of(list_size(len(part)))
            rows = self._sql.all(statement, source_type=source_type, **list_parameters("source", part))
            found.update(row[0] for row in rows)
        return sorted(found)

    def remove_turns(self, turn_ids: Sequence[str]) -> Sequence[str]:
        return self._remove(TURN, turn_ids, _without_turn)

    def remove_snapshots(self, snapshot_ids: Sequence[str]) -> Sequence[str]:
        return self._remove(SNAPSHOT, snapshot_ids, _without_any)

    def _remove(self, source_type: str, source_ids: Sequence[str], orphans: Callable[[int], Statement]) -> list[str]:
        touched = self._memories_of(source_type, source_ids)
        for part in chunks(source_ids):
            given = list_parameters("source", part)
            self._sql.execute(_remove(list_size(len(part))), source_type=source_type, **given)
        return [
            row[0]
            for part in chunks(touched)
            for row in self._sql.all(orphans(list_size(len(part))), **list_parameters("memory", part))
        ]

    def remove_memories(self, memory_ids: Sequence[str]) -> None:
        for part in chunks(memory_ids):
            self._sql.execute(_remove_memories(list_size(len(part))), **list_parameters("memory", part))
