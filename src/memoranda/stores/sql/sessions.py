"""Rows of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from sqlalchemy import and_, bindparam, delete, select, update

from memoranda.engine.ports import SessionAdvance
from memoranda.engine.records import Session
from memoranda.engine.scope import Scope
from memoranda.stores.schema import sessions
from memoranda.stores.sql.codec import from_micros, object_from, to_micros
from memoranda.stores.sql.statement import Executor, Row, Statement
from memoranda.stores.sql.upsert import insert

_FIELDS = (
    "user_id",
    "session_id",
    "agent_id",
    "last_seq",
    "promoted_seq",
    "first_turn_at",
    "last_turn_at",
    "created_at",
    "updated_at",
    "metadata",
    "extraction_policy",
)
SESSION_COLUMNS = tuple(sessions.c[name] for name in _FIELDS)
_IN_PROJECT = sessions.c.project_id == bindparam("project_id")
_ONE = and_(_IN_PROJECT, sessions.c.user_id == bindparam("user_id"), sessions.c.session_id == bindparam("session_id"))
_UNPROMOTED = sessions.c.last_seq > sessions.c.promoted_seq

_given = insert(sessions).values(
    {
        "project_id": bindparam("project_id"),
        "user_id": bindparam("user_id"),
        "session_id": bindparam("session_id"),
        "agent_id": bindparam("agent_id"),
        "last_seq": bindparam("count"),
        "promoted_seq": 0,
        "first_turn_at": bindparam("now"),
        "last_turn_at": bindparam("now"),
        "created_at": bindparam("now"),
        "updated_at": bindparam("now"),
    }
)
_ADVANCE = Statement(
    _given.on_conflict_do_update(
        index_elements=["project_id", "user_id", "session_id"],
        set_={
            "last_seq": sessions.c.last_seq + bindparam("count"),
            # Activity is when a turn arrived: a session that is back-filled with old turns is not idle.
            "last_turn_at": bindparam("now"),
            "updated_at": bindparam("now"),
        },
    ).returning(*SESSION_COLUMNS)
)
_GET = Statement(select(*SESSION_COLUMNS).where(_ONE))
_OWNERS = Statement(
    select(*SESSION_COLUMNS)
    .where(_IN_PROJECT, sessions.c.session_id == bindparam("session_id"))
    .order_by(sessions.c.user_id)
)
_OF_USER = Statement(
    select(*SESSION_COLUMNS)
    .where(_IN_PROJECT, sessions.c.user_id == bindparam("user_id"))
    .order_by(sessions.c.session_id)
)
_SET_PROMOTED = Statement(
    update(sessions).where(_ONE).values(promoted_seq=bindparam("promoted"), updated_at=bindparam("now"))
)
_DELETE = Statement(delete(sessions).where(_ONE))


@lru_cache
def _unpromoted(user: bool, session: bool) -> Statement:
    query = select(*SESSION_COLUMNS).where(_IN_PROJECT, _UNPROMOTED)
    if user:
        query = query.where(sessions.c.user_id == bindparam("user_id"))
    if session:
        query = query.where(sessions.c.session_id == bindparam("session_id"))
    order = (sessions.c.last_turn_at, sessions.c.user_id, sessions.c.session_id)
    return Statement(query.order_by(*order).limit(bindparam("page_size")))


def session_from(row: Row) -> Session:
    """Read a row of ``SESSION_COLUMNS``."""
    return Session(
        user_id=row[0],
        session_id=row[1],
        agent_id=row[2],
        last_seq=row[3],
        promoted_seq=row[4],
        first_turn_at=from_micros(row[5]),
        last_turn_at=from_micros(row[6]),
        created_at=from_micros(row[7]),
        updated_at=from_micros(row[8]),
        metadata=object_from(row[9]),
        extraction_policy=object_from(row[10]),
    )


class SqlSessionRows:
    """``SessionRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def advance(self, advance: SessionAdvance) -> Session:
        row = self._sql.one(
            _ADVANCE,
            user_id=advance.identity.user_id,
            session_id=advance.identity.session_id,
            agent_id=advance.identity.agent_id,
            count=advance.count,
            now=to_micros(advance.now),
        )
        if row is None:
            raise LookupError("the database returned no session for an upsert")
        return session_from(row)

    def get(self, user_id: str, session_id: str) -> Session | None:
        row = self._sql.one(_GET, user_id=user_id, session_id=session_id)
        return None if row is None else session_from(row)

    def owners(self, session_id: str) -> Sequence[Session]:
        return [session_from(row) for row in self._sql.all(_OWNERS, session_id=session_id)]

    def of_user(self, user_id: str) -> Sequence[Session]:
        return [session_from(row) for row in self._sql.all(_OF_USER, user_id=user_id)]

    def unpromoted(self, scope: Scope, limit: int) -> Sequence[Session]:
        named = {"user_id": scope.user_id, "session_id": scope.session_id}
        given = {name: value for name, value in named.items() if value is not None}
        statement = _unpromoted(scope.user_id is not None, scope.session_id is not None)
        return [session_from(row) for row in self._sql.all(statement, page_size=limit, **given)]

    def set_promoted(self, user_id: str, session_id: str, promoted_seq: int, now: datetime) -> None:
        self._sql.execute(
            _SET_PROMOTED, user_id=user_id, session_id=session_id, promoted=promoted_seq, now=to_micros(now)
        )

    def delete(self, user_id: str, session_id: str) -> int:
        return self._sql.execute(_DELETE, user_id=user_id, session_id=session_id)
