"""Rows of turns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from sqlalchemy import Select, and_, bindparam, delete, func, insert, null, or_, select, tuple_, update

from memoranda.engine.filters import Filter
from memoranda.engine.records import PRIVATE, Turn
from memoranda.engine.scope import Scope
from memoranda.stores.schema import turns
from memoranda.stores.sql.codec import (
    from_micros,
    object_from,
    objects_from,
    optional_json,
    optional_micros,
    optional_time,
    to_micros,
)
from memoranda.stores.sql.filters import filter_clause
from memoranda.stores.sql.hidden import not_hidden
from memoranda.stores.sql.statement import Executor, Row, Statement, chunks, in_list, list_parameters, list_size

_FIELDS = (
    "id",
    "key",
    "user_id",
    "session_id",
    "turn_seq",
    "role",
    "content",
    "created_at",
    "event_time",
    "agent_id",
    "model_name",
    "tool_calls",
    "tool_call_id",
    "tool_name",
    "is_error",
    "metadata",
    "idempotency_key",
    "expires_at",
    "snapshot_id",
    "parts",
)
_COLUMNS = tuple(turns.c[name] for name in _FIELDS)
_IN_PROJECT = turns.c.project_id == bindparam("project_id")
_IN_SESSION = and_(_IN_PROJECT, turns.c.user_id == bindparam("user_id"), turns.c.session_id == bindparam("session_id"))
_IN_RUN = and_(_IN_SESSION, turns.c.turn_seq.between(bindparam("first_seq"), bindparam("last_seq")))

_INSERT = Statement(insert(turns).values({name: bindparam(name) for name in ("project_id", "updated_at", *_FIELDS)}))
_BY_IDEMPOTENCY = Statement(
    select(*_COLUMNS).where(_IN_SESSION, turns.c.idempotency_key == bindparam("idempotency_key"))
)
_CHANGED = ("content", "parts", "metadata", "expires_at", "updated_at")
_UPDATE = Statement(
    update(turns)
    .where(_IN_PROJECT, turns.c.id == bindparam("turn_id"))
    .values({name: bindparam(f"new_{name}") for name in _CHANGED})
)
_ALIVE = or_(turns.c.expires_at.is_(None), turns.c.expires_at > bindparam("now"))
_MARK = Statement(update(turns).where(_IN_RUN).values(snapshot_id=bindparam("promoted_by")))
_OF_SNAPSHOT = Statement(
    # Unordered: in session order SQLite would walk every turn of the project.
    select(*_COLUMNS).where(_IN_PROJECT, turns.c.snapshot_id == bindparam("snapshot_id"))
)


def _ordered(query: Select[tuple[object, ...]], *, hides: bool) -> Select[tuple[object, ...]]:
    visible = query.where(not_hidden(turns)) if hides else query
    return visible.order_by(turns.c.user_id, turns.c.session_id, turns.c.turn_seq)


@lru_cache
def _get(size: int, hides: bool) -> Statement:
    # Sorted by the caller: an ORDER BY here makes SQLite walk every turn of the project in the order of sessions.
    query = select(*_COLUMNS).where(_IN_PROJECT, in_list(turns.c.id, "id", size))
    return Statement(query.where(not_hidden(turns)) if hides else query)


@lru_cache
def _run(hides: bool) -> Statement:
    return Statement(_ordered(select(*_COLUMNS).where(_IN_RUN), hides=hides))


@lru_cache
def _release_keys(user: bool, session: bool) -> Statement:
    change = update(turns).where(_IN_PROJECT, turns.c.idempotency_key.is_not(None)).values(idempotency_key=null())
    for wanted, column in ((user, turns.c.user_id), (session, turns.c.session_id)):
        if wanted:
            change = change.where(column == bindparam(column.name))
    return Statement(change)


@lru_cache
def _delete(size: int) -> Statement:
    return Statement(delete(turns).where(_IN_PROJECT, in_list(turns.c.id, "id", size)))


@lru_cache
def _page(user: bool, session: bool, agent: bool, after: bool, hides: bool) -> Statement:
    query = select(*_COLUMNS).where(_IN_PROJECT, _ALIVE)
    for wanted, column in ((user, turns.c.user_id), (session, turns.c.session_id), (agent, turns.c.agent_id)):
        if wanted:
            query = query.where(column == bindparam(column.name))
    if after:
        place = tuple_(turns.c.user_id, turns.c.session_id, turns.c.turn_seq)
        query = query.where(place > tuple_(bindparam("after_user"), bindparam("after_session"), bindparam("after_seq")))
    return Statement(_ordered(query, hides=hides).limit(bindparam("page_size")))


@lru_cache
def _slice(hides: bool) -> Statement:
    query = _ordered(select(*_COLUMNS).where(_IN_SESSION, _ALIVE), hides=hides)
    return Statement(query.limit(bindparam("page_size")).offset(bindparam("skip")))


@lru_cache
def _count(hides: bool) -> Statement:
    query = select(func.count()).select_from(turns).where(_IN_SESSION, _ALIVE)
    return Statement(query.where(not_hidden(turns)) if hides else query)


def _newest(scope: Scope, where: Filter | None, below: bool, hides: bool, parameters: dict[str, object]) -> Statement:
    query = select(*_COLUMNS).where(_IN_PROJECT, _ALIVE)
    named = (
        (scope.user_id, turns.c.user_id),
        (scope.session_id, turns.c.session_id),
        (scope.agent_id, turns.c.agent_id),
    )
    for value, column in named:
        if value is not None:
            parameters[column.name] = value
            query = query.where(column == bindparam(column.name))
    if below:
        query = query.where(turns.c.key < bindparam("before_key"))
    if where is not None:
        query = query.where(filter_clause(where, turns, parameters))
    if hides:
        query = query.where(not_hidden(turns))
    return Statement(query.order_by(turns.c.key.desc()).limit(bindparam("page_size")))


def _place(turn: Turn) -> tuple[str, str, int]:
    """The order of turns: by session, then as they were said."""
    return (turn.user_id, turn.session_id, turn.turn_seq)


def _turn(row: Row) -> Turn:
    return Turn(
        id=row[0],
        key=row[1],
        user_id=row[2],
        session_id=row[3],
        turn_seq=row[4],
        role=row[5],
        content=row[6],
        created_at=from_micros(row[7]),
        event_time=from_micros(row[8]),
        agent_id=row[9],
        model_name=row[10],
        tool_calls=objects_from(row[11]),
        tool_call_id=row[12],
        tool_name=row[13],
        is_error=bool(row[14]),
        metadata=object_from(row[15]),
        idempotency_key=row[16],
        expires_at=optional_time(row[17]),
        snapshot_id=row[18],
        parts=object_from(row[19]),
    )


class SqlTurnRows:
    """``TurnRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def insert(self, turns: Sequence[Turn]) -> None:
        self._sql.execute_many(_INSERT, [self._parameters(turn) for turn in turns])

    def _parameters(self, turn: Turn) -> dict[str, object]:
        created_at = to_micros(turn.created_at)
        return {
            "project_id": self._sql.project_id,
            "id": turn.id,
            "key": turn.key,
            "user_id": turn.user_id,
            "session_id": turn.session_id,
            "turn_seq": turn.turn_seq,
            "role": turn.role,
            "content": turn.content,
            "created_at": created_at,
            "updated_at": created_at,
            "event_time": to_micros(turn.event_time),
            "agent_id": turn.agent_id,
            "model_name": turn.model_name,
            "tool_calls": optional_json(turn.tool_calls),
            "tool_call_id": turn.tool_call_id,
            "tool_name": turn.tool_name,
            "is_error": int(turn.is_error),
            "metadata": optional_json(turn.metadata),
            "idempotency_key": turn.idempotency_key,
            "expires_at": optional_micros(turn.expires_at),
            "snapshot_id": turn.snapshot_id,
            "parts": optional_json(turn.parts),
        }

    def by_idempotency_key(self, user_id: str, session_id: str, key: str) -> Turn | None:
        row = self._sql.one(_BY_IDEMPOTENCY, user_id=user_id, session_id=session_id, idempotency_key=key)
        return None if row is None else _turn(row)

    def get(self, turn_ids: Sequence[str]) -> Sequence[Turn]:
        found = [
            _turn(row)
            for part in chunks(turn_ids)
            for row in self._sql.all(_get(list_size(len(part)), self._sql.hides), **list_parameters("id", part))
        ]
        return sorted(found, key=_place)

    def run(self, user_id: str, session_id: str, first_seq: int, last_seq: int) -> Sequence[Turn]:
        place = {"user_id": user_id, "session_id": session_id, "first_seq": first_seq, "last_seq": last_seq}
        return [_turn(row) for row in self._sql.all(_run(self._sql.hides), **place)]

    def page(self, scope: Scope, after: tuple[str, str, int] | None, limit: int, now: datetime) -> Sequence[Turn]:
        if PRIVATE not in scope.visibilities():
            return []
        statement = _page(
            scope.user_id is not None,
            scope.session_id is not None,
            scope.agent_id is not None,
            after is not None,
            self._sql.hides,
        )
        user, session, seq = after or ("", "", 0)
        place = {"after_user": user, "after_session": session, "after_seq": seq} if after else {}
        named = {"user_id": scope.user_id, "session_id": scope.session_id, "agent_id": scope.agent_id}
        given = {name: value for name, value in named.items() if value is not None}
        return [_turn(row) for row in self._sql.all(statement, now=to_micros(now), page_size=limit, **place, **given)]

    def update(self, turn: Turn, now: datetime) -> None:
        changed = self._sql.execute(
            _UPDATE,
            turn_id=turn.id,
            new_content=turn.content,
            new_parts=optional_json(turn.parts),
            new_metadata=optional_json(turn.metadata),
            new_expires_at=optional_micros(turn.expires_at),
            new_updated_at=to_micros(now),
        )
        if not changed:
            raise LookupError(f"turn {turn.id!r} is gone; nothing was updated")

    def slice(self, user_id: str, session_id: str, *, skip: int, limit: int, now: datetime) -> Sequence[Turn]:
        place = {"user_id": user_id, "session_id": session_id, "skip": skip, "page_size": limit}
        return [_turn(row) for row in self._sql.all(_slice(self._sql.hides), now=to_micros(now), **place)]

    def count(self, user_id: str, session_id: str, now: datetime) -> int:
        row = self._sql.one(_count(self._sql.hides), user_id=user_id, session_id=session_id, now=to_micros(now))
        return 0 if row is None else int(row[0])

    def newest(
        self, scope: Scope, where: Filter | None, before_key: int | None, limit: int, now: datetime
    ) -> Sequence[Turn]:
        if PRIVATE not in scope.visibilities():
            return []
        parameters: dict[str, object] = {"now": to_micros(now), "page_size": limit}
        if before_key is not None:
            parameters["before_key"] = before_key
        statement = _newest(scope, where, before_key is not None, self._sql.hides, parameters)
        return [_turn(row) for row in self._sql.all(statement, **parameters)]

    def mark_promoted(self, user_id: str, session_id: str, first_seq: int, last_seq: int, snapshot_id: str) -> None:
        self._sql.execute(
            _MARK,
            user_id=user_id,
            session_id=session_id,
            first_seq=first_seq,
            last_seq=last_seq,
            promoted_by=snapshot_id,
        )

    def of_snapshot(self, snapshot_id: str) -> Sequence[Turn]:
        found = [_turn(row) for row in self._sql.all(_OF_SNAPSHOT, snapshot_id=snapshot_id)]
        return sorted(found, key=_place)

    def release_keys(self, scope: Scope) -> None:
        named = {"user_id": scope.user_id, "session_id": scope.session_id}
        given = {name: value for name, value in named.items() if value is not None}
        self._sql.execute(_release_keys(scope.user_id is not None, scope.session_id is not None), **given)

    def delete(self, turn_ids: Sequence[str]) -> int:
        return sum(
            self._sql.execute(_delete(list_size(len(part))), **list_parameters("id", part)) for part in chunks(turn_ids)
        )
