"""Walks over a whole project, for export and import."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from sqlalchemy import Table, bindparam, select, tuple_

from memoranda.engine.portability.rows import HistoryState, Place, Save, Sources
from memoranda.engine.records import Link, Session
from memoranda.stores.schema import documents, links, memory_history, memory_sources, saves, sessions
from memoranda.stores.sql.codec import from_micros
from memoranda.stores.sql.links import LINK_COLUMNS, link_from
from memoranda.stores.sql.memory_codec import memory_from_history
from memoranda.stores.sql.sessions import SESSION_COLUMNS, session_from, session_parameters
from memoranda.stores.sql.sources import TURN
from memoranda.stores.sql.statement import Executor, Row, Statement, chunks, in_list, list_parameters, list_size
from memoranda.stores.sql.upsert import insert

_SESSION_FIELDS = tuple(column.name for column in SESSION_COLUMNS)

_PLACES = Statement(
    select(documents.c.key, documents.c.record_id, documents.c.source, documents.c.vector_state)
    .where(documents.c.project_id == bindparam("project_id"), documents.c.key > bindparam("after"))
    .order_by(documents.c.key)
    .limit(bindparam("page_size"))
)
_LINKS = Statement(
    select(*LINK_COLUMNS)
    .where(links.c.project_id == bindparam("project_id"), links.c.id > bindparam("after"))
    .order_by(links.c.id)
    .limit(bindparam("page_size"))
)
_given = insert(sessions).values({name: bindparam(name) for name in ("project_id", *_SESSION_FIELDS)})
_PUT_SESSION = Statement(
    _given.on_conflict_do_update(
        index_elements=["project_id", "user_id", "session_id"],
        set_={name: bindparam(name) for name in _SESSION_FIELDS if name not in ("user_id", "session_id")},
    )
)


@lru_cache
def _sessions(after: bool) -> Statement:
    query = select(*SESSION_COLUMNS).where(sessions.c.project_id == bindparam("project_id"))
    if after:
        place = tuple_(sessions.c.user_id, sessions.c.session_id)
        query = query.where(place > tuple_(bindparam("after_user"), bindparam("after_session")))
    return Statement(query.order_by(sessions.c.user_id, sessions.c.session_id).limit(bindparam("page_size")))


def _of_memories(table: Table, size: int, names: Sequence[str], order: Sequence[str]) -> Statement:
    columns = [table.c[name] for name in names]
    wanted = (table.c.project_id == bindparam("project_id"), in_list(table.c.memory_id, "memory", size))
    return Statement(select(*columns).where(*wanted).order_by(*(table.c[name] for name in order)))


@lru_cache
def _histories(size: int) -> Statement:
    return _of_memories(memory_history, size, ("state", "recorded_at"), ("memory_id", "version"))


@lru_cache
def _saves(size: int) -> Statement:
    names = ("user_id", "idempotency_key", "memory_id", "digest", "created_at")
    return _of_memories(saves, size, names, ("user_id", "idempotency_key"))


@lru_cache
def _sources(size: int) -> Statement:
    names = ("memory_id", "source_type", "source_id")
    return _of_memories(memory_sources, size, names, names)


class SqlPortableRows:
    """``PortableRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def places(self, after: int, limit: int) -> Sequence[Place]:
        return [Place(*row) for row in self._sql.all(_PLACES, after=after, page_size=limit)]

    def sessions(self, after: tuple[str, str] | None, limit: int) -> Sequence[Session]:
        place = {} if after is None else {"after_user": after[0], "after_session": after[1]}
        rows = self._sql.all(_sessions(after is not None), page_size=limit, **place)
        return [session_from(row) for row in rows]

    def links(self, after: str, limit: int) -> Sequence[Link]:
        return [link_from(row) for row in self._sql.all(_LINKS, after=after, page_size=limit)]

    def histories(self, memory_ids: Sequence[str]) -> Sequence[HistoryState]:
        return [
            HistoryState(memory_from_history(row[0]), from_micros(row[1])) for row in self._all(_histories, memory_ids)
        ]

    def saves(self, memory_ids: Sequence[str]) -> Sequence[Save]:
        return [Save(row[0], row[1], row[2], row[3], from_micros(row[4])) for row in self._all(_saves, memory_ids)]

    def sources(self, memory_ids: Sequence[str]) -> Sequence[Sources]:
        rows = self._all(_sources, memory_ids)
        return [
            _sources_from(memory_id, list(named)) for memory_id, named in groupby(rows, key=lambda row: str(row[0]))
        ]

    def _all(self, statement: Callable[[int], Statement], memory_ids: Sequence[str]) -> Iterator[Row]:
        for part in chunks(sorted(set(memory_ids))):
            yield from self._sql.all(statement(list_size(len(part))), **list_parameters("memory", part))

    def put_session(self, session: Session) -> None:
        self._sql.execute(_PUT_SESSION, **session_parameters(session))


def _sources_from(memory_id: str, rows: Sequence[Row]) -> Sources:
    turn_ids = tuple(row[2] for row in rows if row[1] == TURN)
    return Sources(memory_id, turn_ids, tuple(row[2] for row in rows if row[1] != TURN))
