"""Rows of memories: what is current or superseded, and which save used which idempotency key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, delete, insert, or_, select, update

from memoranda.engine.ports import MemoryQuery
from memoranda.engine.records import TAXONOMIC, MemoryRecord, MemoryStatus
from memoranda.engine.scope import Scope
from memoranda.stores.schema import memories, memory_history, saves
from memoranda.stores.sql.codec import to_micros
from memoranda.stores.sql.filters import filter_clause
from memoranda.stores.sql.hidden import not_hidden
from memoranda.stores.sql.memory_codec import (
    HISTORY_FIELDS,
    MEMORY_FIELDS,
    history_parameters,
    memory_from,
    memory_from_history,
    memory_parameters,
)
from memoranda.stores.sql.statement import Executor, Statement, chunks, in_list, list_parameters, list_size
from memoranda.stores.sql.upsert import insert as upsert

_COLUMNS = tuple(memories.c[name] for name in MEMORY_FIELDS)
_IN_PROJECT = memories.c.project_id == bindparam("project_id")
_ALIVE = or_(memories.c.expires_at.is_(None), memories.c.expires_at > bindparam("now"))
_CURRENT = memories.c.status == MemoryStatus.CURRENT.value

_INSERT = Statement(insert(memories).values({name: bindparam(name) for name in ("project_id", *MEMORY_FIELDS)}))
_UPDATE = Statement(
    update(memories)
    .where(_IN_PROJECT, memories.c.id == bindparam("memory_id"))
    .values({name: bindparam(name) for name in MEMORY_FIELDS if name not in ("id", "key", "created_at")})
)
_IN_SLOT = Statement(
    select(*_COLUMNS).where(
        _IN_PROJECT,
        memories.c.kind == bindparam("kind"),
        memories.c.user_id == bindparam("user_id"),
        memories.c.slot == bindparam("slot"),
        _CURRENT,
    )
)
_given = upsert(memory_history).values({name: bindparam(name) for name in ("project_id", *HISTORY_FIELDS)})
_ADD_HISTORY = Statement(
    _given.on_conflict_do_update(
        index_elements=["project_id", "memory_id", "version"],
        set_={name: bindparam(name) for name in ("state", "valid_from", "valid_to")},
    )
)
_HISTORY = Statement(
    select(memory_history.c.state)
    .where(memory_history.c.project_id == bindparam("project_id"), memory_history.c.memory_id == bindparam("memory_id"))
    .order_by(memory_history.c.version)
)
_SAVE_FIELDS = ("project_id", "user_id", "idempotency_key", "memory_id", "digest", "created_at")
_save = upsert(saves).values({name: bindparam(name) for name in _SAVE_FIELDS})
_REMEMBER_SAVE = Statement(
    _save.on_conflict_do_update(
        index_elements=["project_id", "user_id", "idempotency_key"],
        set_={name: bindparam(name) for name in ("memory_id", "digest", "created_at")},
    )
)
_SAVED = Statement(
    select(saves.c.memory_id, saves.c.digest).where(
        saves.c.project_id == bindparam("project_id"),
        saves.c.user_id == bindparam("user_id"),
        saves.c.idempotency_key == bindparam("idempotency_key"),
    )
)


@lru_cache
def _get(size: int, *, hides: bool) -> Statement:
    query = select(*_COLUMNS).where(_IN_PROJECT, in_list(memories.c.id, "id", size))
    # Sorted by the caller: an ORDER BY here makes SQLite walk every memory of the project in key order.
    return Statement(_visible(query, hides=hides))


def usual(size: int) -> Statement:
    """Return the statement that reads so many memories."""
    return _get(size, hides=False)


@lru_cache
def _delete_from(name: str, size: int) -> Statement:
    table, column = {
        "memories": (memories, memories.c.id),
        "memory_history": (memory_history, memory_history.c.memory_id),
        "saves": (saves, saves.c.memory_id),
    }[name]
    return Statement(delete(table).where(table.c.project_id == bindparam("project_id"), in_list(column, "id", size)))


@lru_cache
def _domains(scope: Scope, hides: bool) -> Statement:
    kind = memories.c.kind == TAXONOMIC
    query = select(memories.c.domain).distinct().where(_IN_PROJECT, kind, _CURRENT, _ALIVE, *_in_scope(scope))
    return Statement(_visible(query, hides=hides).order_by(memories.c.domain))


def _visible(query: Select[tuple[object, ...]], *, hides: bool) -> Select[tuple[object, ...]]:
    return query.where(not_hidden(memories)) if hides else query


def _in_scope(scope: Scope) -> Iterator[ColumnElement[bool]]:
    for name in _scope_parameters(scope):
        yield memories.c[name] == bindparam(name)


def _scope_parameters(scope: Scope) -> dict[str, str]:
    named = {
        "user_id": scope.user_id,
        "agent_id": scope.agent_id,
        "session_id": scope.session_id,
        "visibility": scope.visibility,
    }
    return {name: value for name, value in named.items() if value is not None}


def _shape(scope: Scope) -> Scope:
    """Return a scope with the same dimensions given and no values, so that few statements are prepared."""
    return Scope(**dict.fromkeys(_scope_parameters(scope), ""))


def _below() -> ColumnElement[bool]:
    """Return "this domain or one below it", by whole segments: every child is between ``domain/`` and ``domain0``."""
    inside = and_(memories.c.domain >= bindparam("below_from"), memories.c.domain < bindparam("below_to"))
    return or_(memories.c.domain == bindparam("below"), inside)


def _conditions(query: MemoryQuery, parameters: dict[str, object]) -> Iterator[ColumnElement[bool]]:
    """Return the conditions of a listing; their parameters are added to ``parameters``."""
    parameters |= {"now": to_micros(query.now), **_scope_parameters(query.scope)}
    yield from (_IN_PROJECT, _ALIVE, *_in_scope(query.scope))
    for name, value in (("kind", query.kind), ("domain", query.domain), ("name", query.name)):
        if value is not None:
            parameters[name] = value
            yield memories.c[name] == bindparam(name)
    if query.below is not None:
        parameters |= {"below": query.below, "below_from": query.below + "/", "below_to": query.below + "0"}
        yield _below()
    if set(query.statuses) != set(MemoryStatus):
        parameters |= list_parameters("status", [status.value for status in query.statuses])
        yield in_list(memories.c.status, "status", list_size(len(query.statuses)))
    if query.after_key:
        parameters["after_key"] = query.after_key
        place: BindParameter[int] = bindparam("after_key")
        yield memories.c.key < place if query.newest_first else memories.c.key > place
    if query.where is not None:
        yield filter_clause(query.where, memories, parameters)


def _listing(query: MemoryQuery, parameters: dict[str, object], *, hides: bool) -> Statement:
    wanted = _visible(select(*_COLUMNS).where(*_conditions(query, parameters)), hides=hides)
    order = memories.c.key.desc() if query.newest_first else memories.c.key
    return Statement(wanted.order_by(order).limit(bindparam("page_size")))


class SqlMemoryRows:
    """``MemoryRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def insert(self, records: Sequence[MemoryRecord]) -> None:
        self._sql.execute_many(_INSERT, [memory_parameters(self._sql.project_id, record) for record in records])

    def update(self, record: MemoryRecord) -> None:
        parameters = memory_parameters(self._sql.project_id, record)
        if not self._sql.execute(_UPDATE, memory_id=record.id, **parameters):
            raise LookupError(f"memory {record.id!r} is gone; nothing was updated")

    def get(self, memory_ids: Sequence[str]) -> Sequence[MemoryRecord]:
        found = [
            memory_from(row)
            for part in chunks(memory_ids)
            for row in self._sql.all(_get(list_size(len(part)), hides=self._sql.hides), **list_parameters("id", part))
        ]
        return sorted(found, key=lambda record: record.key)

    def in_slot(self, kind: str, user_id: str, slot: str) -> MemoryRecord | None:
        row = self._sql.one(_IN_SLOT, kind=kind, user_id=user_id, slot=slot)
        return None if row is None else memory_from(row)

    def query(self, query: MemoryQuery) -> Sequence[MemoryRecord]:
        parameters: dict[str, object] = {}
        statement = _listing(query, parameters, hides=self._sql.hides)
        return [memory_from(row) for row in self._sql.all(statement, page_size=query.limit, **parameters)]

    def domains(self, scope: Scope, now: datetime) -> Sequence[str]:
        statement = _domains(_shape(scope), self._sql.hides)
        return [row[0] for row in self._sql.all(statement, now=to_micros(now), **_scope_parameters(scope))]

    def delete(self, memory_ids: Sequence[str]) -> int:
        return sum(self._delete_part(part) for part in chunks(memory_ids))

    def _delete_part(self, memory_ids: Sequence[str]) -> int:
        parameters, size = list_parameters("id", memory_ids), list_size(len(memory_ids))
        for name in ("memory_history", "saves"):
            self._sql.execute(_delete_from(name, size), **parameters)
        return self._sql.execute(_delete_from("memories", size), **parameters)

    def add_history(self, record: MemoryRecord, recorded_at: datetime) -> None:
        self._sql.execute(_ADD_HISTORY, **history_parameters(record, recorded_at))

    def history(self, memory_id: str) -> Sequence[MemoryRecord]:
        return [memory_from_history(row[0]) for row in self._sql.all(_HISTORY, memory_id=memory_id)]

    def remember_save(self, user_id: str, idempotency_key: str, memory_id: str, digest: str, now: datetime) -> None:
        self._sql.execute(
            _REMEMBER_SAVE,
            user_id=user_id,
            idempotency_key=idempotency_key,
            memory_id=memory_id,
            digest=digest,
            created_at=to_micros(now),
        )

    def saved(self, user_id: str, idempotency_key: str) -> tuple[str, str] | None:
        row = self._sql.one(_SAVED, user_id=user_id, idempotency_key=idempotency_key)
        return None if row is None else (row[0], row[1])
