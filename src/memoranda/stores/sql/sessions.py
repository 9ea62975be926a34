"""Rows of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from sqlalchemy import and_, bindparam, delete, select, update

from memoranda.engine.ports import SessionAdvance
from memoranda.engine.records import PRIVATE, Session
from memoranda.engine.scope import Scope
from memoranda.stores.schema import sessions
from memoranda.stores.sql.codec import from_micros, object_from, optional_json, to_micros
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
    "runtime_config",
    "runtime_state",
    "summary",
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
_JSON_FIELDS = ("metadata", "extraction_policy", "runtime_config", "runtime_state", "summary")
_INSERT = Statement(
    insert(sessions)
    .values({name: bindparam(name) for name in ("project_id", *_FIELDS)})
    .on_conflict_do_nothing(index_elements=["project_id", "user_id", "session_id"])
)
_UPDATE = Statement(
    update(sessions).where(_ONE).values({name: bindparam(f"new_{name}") for name in (*_JSON_FIELDS, "updated_at")})
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


@lru_cache
def _query(user: bool, session: bool, agent: bool, limited: bool) -> Statement:
    query = select(*SESSION_COLUMNS).where(_IN_PROJECT)
    for wanted, column in ((user, sessions.c.user_id), (session, sessions.c.session_id), (agent, sessions.c.agent_id)):
        if wanted:
            query = query.where(column == bindparam(column.name))
    query = query.order_by(sessions.c.created_at.desc(), sessions.c.user_id.desc(), sessions.c.session_id.desc())
    return Statement(query.limit(bindparam("page_size")) if limited else query)


def session_parameters(session: Session) -> dict[str, object]:
    """Return a session's columns by name."""
    return {
        "user_id": session.user_id,
        "session_id": session.session_id,
        "agent_id": session.agent_id,
        "last_seq": session.last_seq,
        "promoted_seq": session.promoted_seq,
        "first_turn_at": to_micros(session.first_turn_at),
        "last_turn_at": to_micros(session.last_turn_at),
        "created_at": to_micros(session.created_at),
        "updated_at": to_micros(session.updated_at),
        **_objects(session),
    }


def _objects(session: Session) -> dict[str, str | None]:
    return {
        "metadata": optional_json(session.metadata),
        "extraction_policy": optional_json(session.extraction_policy),
        "runtime_config": optional_json(session.runtime_config),
        "runtime_state": optional_json(session.runtime_state),
        "summary": optional_json(session.summary),
    }


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
        runtime_config=object_from(row[11]),
        runtime_state=object_from(row[12]),
        summary=object_from(row[13]),
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

    def insert(self, session: Session) -> bool:
        return bool(self._sql.execute(_INSERT, **session_parameters(session)))

    def update(self, session: Session) -> None:
        changed = {**_objects(session), "updated_at": to_micros(session.updated_at)}
        values = {f"new_{name}": value for name, value in changed.items()}
        if not self._sql.execute(_UPDATE, user_id=session.user_id, session_id=session.session_id, **values):
            raise LookupError(f"session {session.session_id!r} is gone; nothing was updated")

    def query(self, scope: Scope, limit: int | None = None) -> Sequence[Session]:
        if PRIVATE not in scope.visibilities():
            return []
        named = {"user_id": scope.user_id, "session_id": scope.session_id, "agent_id": scope.agent_id}
        given: dict[str, object] = {name: value for name, value in named.items() if value is not None}
        if limit is not None:
            given["page_size"] = limit
        statement = _query(
            scope.user_id is not None, scope.session_id is not None, scope.agent_id is not None, limit is not None
        )
        return [session_from(row) for row in self._sql.all(statement, **given)]

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
