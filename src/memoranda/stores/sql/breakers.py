"""Rows of the circuit breakers."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import BindParameter, bindparam, delete, select

from memoranda.engine.jobs.breaker import Breaker
from memoranda.engine.jobs.failure import FailureClass
from memoranda.engine.records import JobKind
from memoranda.stores.schema import breakers
from memoranda.stores.sql.codec import from_micros, optional_micros, optional_time, to_micros
from memoranda.stores.sql.statement import Executor, Statement
from memoranda.stores.sql.upsert import insert

_PROJECT: BindParameter[str] = bindparam("project_id")
_KEYS = ("project_id", "kind", "provider")
_VALUES = ("failures", "since", "failure_class", "reason", "next_probe")

_ALL = Statement(
    select(breakers.c.kind, breakers.c.provider, *(breakers.c[name] for name in _VALUES))
    .where(breakers.c.project_id == _PROJECT)
    .order_by(breakers.c.kind, breakers.c.provider)
)
_PUT = Statement(
    insert(breakers)
    .values({name: bindparam(name) for name in (*_KEYS, *_VALUES)})
    .on_conflict_do_update(index_elements=list(_KEYS), set_={name: bindparam(name) for name in _VALUES})
)
_REMOVE = Statement(
    delete(breakers).where(
        breakers.c.project_id == _PROJECT,
        breakers.c.kind == bindparam("kind"),
        breakers.c.provider == bindparam("provider"),
    )
)


class SqlBreakerRows:
    """``BreakerRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def all(self) -> Sequence[Breaker]:
        return [
            Breaker(
                kind=JobKind(row[0]),
                provider=row[1],
                failures=int(row[2]),
                since=from_micros(row[3]),
                failure_class=FailureClass(row[4]),
                reason=row[5],
                next_probe=optional_time(row[6]),
            )
            for row in self._sql.all(_ALL)
        ]

    def put(self, breaker: Breaker) -> None:
        self._sql.execute(
            _PUT,
            kind=breaker.kind.value,
            provider=breaker.provider,
            failures=breaker.failures,
            since=to_micros(breaker.since),
            failure_class=breaker.failure_class.value,
            reason=breaker.reason,
            next_probe=optional_micros(breaker.next_probe),
        )

    def remove(self, kind: JobKind, provider: str) -> None:
        self._sql.execute(_REMOVE, kind=kind.value, provider=provider)
