"""Rows of failures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import bindparam, delete, func, insert, select

from memoranda.engine.records import Failure, JobKind
from memoranda.engine.scope import Scope
from memoranda.stores.schema import failures
from memoranda.stores.sql.codec import from_micros, object_from, to_json, to_micros
from memoranda.stores.sql.statement import Executor, Row, Statement, chunks, in_list, list_parameters, list_size

_FIELDS = (
    "id",
    "job_kind",
    "failure_class",
    "reason",
    "attempts",
    "payload",
    "first_seen",
    "last_seen",
    "retryable",
    "lane",
    "extractor",
    "embedder",
    "raw_reply",
    "user_id",
    "session_id",
    "snapshot_id",
)
_COLUMNS = tuple(failures.c[name] for name in _FIELDS)
_IN_PROJECT = failures.c.project_id == bindparam("project_id")

_INSERT = Statement(insert(failures).values({name: bindparam(name) for name in ("project_id", *_FIELDS)}))
_GET = Statement(select(*_COLUMNS).where(_IN_PROJECT, failures.c.id == bindparam("failure_id")))
_COUNTS = Statement(
    select(failures.c.failure_class, func.count())
    .where(_IN_PROJECT)
    .group_by(failures.c.failure_class)
    .order_by(failures.c.failure_class)
)


@lru_cache
def _page(by_class: bool, continues: bool) -> Statement:
    query = select(*_COLUMNS).where(_IN_PROJECT)
    if continues:
        query = query.where(failures.c.id < bindparam("after"))
    if by_class:
        query = query.where(failures.c.failure_class == bindparam("failure_class"))
    return Statement(query.order_by(failures.c.id.desc()).limit(bindparam("page_size")))


@lru_cache
def _delete(size: int) -> Statement:
    return Statement(delete(failures).where(_IN_PROJECT, in_list(failures.c.id, "id", size)))


@lru_cache
def _remove(user: bool, session: bool) -> Statement:
    query = delete(failures).where(_IN_PROJECT)
    if user:
        query = query.where(failures.c.user_id == bindparam("user_id"))
    if session:
        query = query.where(failures.c.session_id == bindparam("session_id"))
    return Statement(query)


def _failure(row: Row) -> Failure:
    return Failure(
        id=row[0],
        job_kind=JobKind(row[1]),
        failure_class=row[2],
        reason=row[3],
        attempts=row[4],
        payload=object_from(row[5]) or {},
        first_seen=from_micros(row[6]),
        last_seen=from_micros(row[7]),
        retryable=bool(row[8]),
        lane=row[9],
        extractor=row[10],
        embedder=row[11],
        raw_reply=row[12],
        user_id=row[13],
        session_id=row[14],
        snapshot_id=row[15],
    )


class SqlFailureRows:
    """``FailureRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def insert(self, failure: Failure) -> None:
        self._sql.execute(
            _INSERT,
            id=failure.id,
            job_kind=failure.job_kind.value,
            failure_class=failure.failure_class,
            reason=failure.reason,
            attempts=failure.attempts,
            payload=to_json(failure.payload),
            first_seen=to_micros(failure.first_seen),
            last_seen=to_micros(failure.last_seen),
            retryable=int(failure.retryable),
            lane=failure.lane,
            extractor=failure.extractor,
            embedder=failure.embedder,
            raw_reply=failure.raw_reply,
            user_id=failure.user_id,
            session_id=failure.session_id,
            snapshot_id=failure.snapshot_id,
        )

    def get(self, failure_id: str) -> Failure | None:
        row = self._sql.one(_GET, failure_id=failure_id)
        return None if row is None else _failure(row)

    def page(self, failure_class: str | None, after: str, limit: int) -> Sequence[Failure]:
        wanted = {} if failure_class is None else {"failure_class": failure_class}
        place = {"after": after} if after else {}
        statement = _page(failure_class is not None, bool(after))
        rows = self._sql.all(statement, page_size=limit, **place, **wanted)
        return [_failure(row) for row in rows]

    def counts(self) -> Sequence[tuple[str, int]]:
        return [(str(name), int(number)) for name, number in self._sql.all(_COUNTS)]

    def delete(self, failure_ids: Sequence[str]) -> int:
        return sum(
            self._sql.execute(_delete(list_size(len(part))), **list_parameters("id", part))
            for part in chunks(failure_ids)
        )

    def remove(self, scope: Scope) -> int:
        named = {"user_id": scope.user_id, "session_id": scope.session_id}
        given = {name: value for name, value in named.items() if value is not None}
        return self._sql.execute(_remove(scope.user_id is not None, scope.session_id is not None), **given)
