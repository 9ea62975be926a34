"""Rows of the durable queue."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    ScalarSelect,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    text,
    union_all,
    update,
)

from memoranda.engine.records import Job, JobKind, JobState
from memoranda.engine.scope import Scope
from memoranda.stores.schema import jobs
from memoranda.stores.sql.codec import from_micros, object_from, optional_micros, optional_time, to_json, to_micros
from memoranda.stores.sql.statement import Executor, Row, Statement, in_list, list_parameters, list_size
from memoranda.stores.sql.upsert import insert

_FIELDS = (
    "id",
    "seq",
    "kind",
    "lane",
    "payload",
    "run_at",
    "created_at",
    "state",
    "attempts",
    "dedupe_key",
    "extractor",
    "embedder",
    "lease_token",
    "lease_until",
    "last_error",
    "user_id",
    "session_id",
)
_COLUMNS = tuple(jobs.c[name] for name in _FIELDS)
_PROJECT: BindParameter[str] = bindparam("project_id")
_IN_PROJECT = jobs.c.project_id == _PROJECT
_PENDING = JobState.PENDING.value
_RUNNING = JobState.RUNNING.value
_LEASED = and_(
    _IN_PROJECT, jobs.c.id == bindparam("job_id"), jobs.c.lease_token == bindparam("token"), jobs.c.state == _RUNNING
)


def _next_in_lane() -> ScalarSelect[int]:
    """Numbers count within the lane, where alone they decide: no row exists that all writers of a project lock."""
    queue = jobs.alias("queue")
    last = func.coalesce(func.max(queue.c.seq), 0)
    return select(last + 1).where(queue.c.project_id == _PROJECT, queue.c.lane == bindparam("lane")).scalar_subquery()


_given = insert(jobs).values(
    {
        **{name: bindparam(name) for name in ("project_id", "updated_at", *_FIELDS) if name != "seq"},
        "seq": _next_in_lane(),
    }
)
_ENQUEUE = Statement(
    _given.on_conflict_do_update(
        index_elements=["project_id", "dedupe_key"],
        index_where=text("state = 'pending'"),
        set_={"run_at": bindparam("run_at"), "updated_at": bindparam("updated_at")},
        # A job that backs off keeps its pace: new arrivals are no sign that the cause has gone. And a job that is due
        # early enough is left alone: most turns find one, and should not pay for writing it again.
        where=and_(jobs.c.attempts == 0, jobs.c.run_at > bindparam("run_at")),
    ).returning(jobs.c.id)
)
# Spelled as in the partial index, so that the planners see that it applies.
_PENDING_TWIN = and_(
    _IN_PROJECT, jobs.c.dedupe_key == bindparam("dedupe_key"), jobs.c.state == literal_column("'pending'")
)
_LEASED_IN = Statement(
    select(jobs.c.id)
    .where(
        _IN_PROJECT,
        jobs.c.lane == bindparam("lane"),
        jobs.c.state == _RUNNING,
        jobs.c.lease_until > bindparam("now"),
    )
    .limit(1)
)
_PACE_OF_TWIN = Statement(select(jobs.c.attempts, jobs.c.run_at).where(_PENDING_TWIN))
_GET = Statement(select(*_COLUMNS).where(_IN_PROJECT, jobs.c.id == bindparam("job_id")))
_RENEW = Statement(update(jobs).where(_LEASED).values(lease_until=bindparam("new_lease_until")))
_FINISH = Statement(delete(jobs).where(_LEASED))
_TWIN = Statement(select(jobs.c.id).where(_PENDING_TWIN))
_RETRY = Statement(
    update(jobs)
    .where(_LEASED)
    .values(
        state=bindparam("new_state"),
        lease_token=bindparam("no_token"),
        lease_until=bindparam("no_lease"),
        run_at=bindparam("new_run_at"),
        last_error=bindparam("error"),
        attempts=jobs.c.attempts - bindparam("uncounted"),
    )
)
_MERGE = Statement(
    update(jobs)
    .where(_IN_PROJECT, jobs.c.id == bindparam("job_id"))
    .values(
        run_at=bindparam("new_run_at"),
        last_error=bindparam("error"),
        attempts=bindparam("new_attempts"),
        created_at=bindparam("new_created_at"),
    )
)
_COUNTS = Statement(
    select(jobs.c.kind, jobs.c.state, func.count(), func.min(jobs.c.run_at))
    .where(_IN_PROJECT)
    .group_by(jobs.c.kind, jobs.c.state)
    .order_by(jobs.c.kind, jobs.c.state)
)


# What decides when a job is due, by its state.
_DUE = ((_PENDING, "run_at"), (_RUNNING, "lease_until"))


def _lane_is_free(queue: FromClause) -> ColumnElement[bool]:
    """Every job that exists is pending or running, so the first of a lane is the one whose turn it is."""
    earlier = jobs.alias("earlier")
    ahead = select(1).where(
        earlier.c.project_id == queue.c.project_id, earlier.c.lane == queue.c.lane, earlier.c.seq < queue.c.seq
    )
    return or_(queue.c.lane == "", ~exists(ahead))


def _in_state(state: str, due: str) -> tuple[FromClause, Select[tuple[str, int, int]]]:
    """Return the jobs of a state whose lane is free as (id, due, seq), in the order of their index."""
    queue = jobs.alias(f"queue_{state}")
    query = select(queue.c.id, queue.c[due].label("due"), queue.c.seq).where(
        queue.c.project_id == _PROJECT, queue.c.state == state, _lane_is_free(queue)
    )
    return queue, query.order_by(queue.c[due], queue.c.seq, queue.c.id).limit(1)


def _claimable(kinds: int, extractors: int, embedders: int, lane: bool) -> ScalarSelect[str]:
    """Return the id of the job to run next; one ordered look-up for each state, so that a long queue costs nothing."""
    firsts = []
    for state, due in _DUE:
        queue, query = _in_state(state, due)
        if lane:
            query = query.where(queue.c.lane == bindparam("lane"))
        if not lane or state == _RUNNING:
            query = query.where(queue.c[due] <= bindparam("now"))
        firsts.append(
            query.where(
                in_list(queue.c.kind, "kind", kinds),
                in_list(queue.c.extractor, "extractor", extractors),
                in_list(queue.c.embedder, "embedder", embedders),
            ).subquery(f"first_{state}")
        )
    either = union_all(*(select(first) for first in firsts)).subquery("either")
    return select(either.c.id).order_by(either.c.due, either.c.seq, either.c.id).limit(1).scalar_subquery()


@lru_cache
def _claim(kinds: int, extractors: int, embedders: int, lane: bool) -> Statement:
    return Statement(
        update(jobs)
        .where(_IN_PROJECT, jobs.c.id == _claimable(kinds, extractors, embedders, lane))
        .values(
            state=bindparam("new_state"),
            lease_token=bindparam("token"),
            lease_until=bindparam("new_lease_until"),
            attempts=jobs.c.attempts + 1,
        )
        .returning(*_COLUMNS)
    )


@lru_cache
def _next_due(extractors: int, embedders: int) -> Statement:
    """Of 0 extractors or embedders any will do."""
    firsts = []
    for state, due in _DUE:
        queue, query = _in_state(state, due)
        if extractors:
            query = query.where(in_list(queue.c.extractor, "extractor", extractors))
        if embedders:
            query = query.where(in_list(queue.c.embedder, "embedder", embedders))
        firsts.append(query.subquery(f"first_{state}"))
    return Statement(select(func.min(union_all(*(select(first.c.due) for first in firsts)).subquery("either").c.due)))


@lru_cache
def _busy(extractors: int, embedders: int, session: bool) -> Statement:
    """Count what is under a lease and what could run here now; a lane whose head waits is not waited for."""
    earlier = jobs.alias("earlier")

    def provided(queue: FromClause) -> ColumnElement[bool]:
        return and_(
            in_list(queue.c.extractor, "extractor", extractors), in_list(queue.c.embedder, "embedder", embedders)
        )

    waits = select(1).where(
        earlier.c.project_id == jobs.c.project_id,
        earlier.c.lane == jobs.c.lane,
        earlier.c.seq < jobs.c.seq,
        earlier.c.state == _PENDING,
        or_(earlier.c.run_at > bindparam("now"), ~provided(earlier)),
    )
    runnable = and_(
        jobs.c.state == _PENDING,
        jobs.c.run_at <= bindparam("now"),
        provided(jobs),
        or_(jobs.c.lane == "", ~exists(waits)),
    )
    leased = jobs.c.lease_until > bindparam("now")
    runs = and_(jobs.c.state == _RUNNING, or_(leased, provided(jobs)))
    owned = (jobs.c.session_id == bindparam("session_id"),) if session else ()
    return Statement(select(func.count()).where(_IN_PROJECT, *owned, or_(runs, runnable)))


@lru_cache
def _remove(user: bool, session: bool) -> Statement:
    query = delete(jobs).where(_IN_PROJECT, jobs.c.state == _PENDING, jobs.c.kind != JobKind.PURGE.value)
    if user:
        query = query.where(jobs.c.user_id == bindparam("user_id"))
    if session:
        query = query.where(jobs.c.session_id == bindparam("session_id"))
    return Statement(query)


def _job(row: Row) -> Job:
    return Job(
        id=row[0],
        seq=row[1],
        kind=JobKind(row[2]),
        lane=row[3],
        payload=object_from(row[4]) or {},
        run_at=from_micros(row[5]),
        created_at=from_micros(row[6]),
        state=JobState(row[7]),
        attempts=row[8],
        dedupe_key=row[9],
        extractor=row[10],
        embedder=row[11],
        lease_token=row[12],
        lease_until=optional_time(row[13]),
        last_error=row[14],
        user_id=row[15],
        session_id=row[16],
    )


def _providers(extractors: Sequence[str], embedders: Sequence[str]) -> tuple[int, int, dict[str, object]]:
    values = {**list_parameters("extractor", extractors), **list_parameters("embedder", embedders)}
    return list_size(len(extractors)), list_size(len(embedders)), values


class SqlJobRows:
    """``JobRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def enqueue(self, job: Job) -> bool:
        created_at = to_micros(job.created_at)
        self._sql.enqueued = True
        if self._is_covered(job):
            return False
        row = self._sql.one(
            _ENQUEUE,
            id=job.id,
            kind=job.kind.value,
            lane=job.lane,
            payload=to_json(job.payload),
            run_at=to_micros(job.run_at),
            created_at=created_at,
            updated_at=created_at,
            state=job.state.value,
            attempts=job.attempts,
            dedupe_key=job.dedupe_key,
            extractor=job.extractor,
            embedder=job.embedder,
            lease_token=job.lease_token,
            lease_until=optional_micros(job.lease_until),
            last_error=job.last_error,
            user_id=job.user_id,
            session_id=job.session_id,
        )
        return row is not None and row[0] == job.id

    def _is_covered(self, job: Job) -> bool:
        """Whether a pending job does this one's work in time: most turns find one, for less than an insert."""
        twin = None if job.dedupe_key is None else self._sql.one(_PACE_OF_TWIN, dedupe_key=job.dedupe_key)
        return twin is not None and (twin[0] > 0 or twin[1] <= to_micros(job.run_at))

    def claim(
        self,
        *,
        kinds: Sequence[JobKind],
        extractors: Sequence[str],
        embedders: Sequence[str],
        now: datetime,
        lease_until: datetime,
        token: str,
        lane: str | None = None,
    ) -> Job | None:
        extractor_size, embedder_size, providers = _providers(extractors, embedders)
        if lane is not None:
            providers["lane"] = lane
        row = self._sql.one(
            _claim(list_size(len(kinds)), extractor_size, embedder_size, lane is not None),
            new_state=_RUNNING,
            now=to_micros(now),
            new_lease_until=to_micros(lease_until),
            token=token,
            **list_parameters("kind", [kind.value for kind in kinds]),
            **providers,
        )
        return None if row is None else _job(row)

    def leased_in(self, lane: str, now: datetime) -> bool:
        return self._sql.one(_LEASED_IN, lane=lane, now=to_micros(now)) is not None

    def renew(self, job_id: str, token: str, lease_until: datetime) -> bool:
        return self._sql.execute(_RENEW, job_id=job_id, token=token, new_lease_until=to_micros(lease_until)) == 1

    def finish(self, job_id: str, token: str) -> bool:
        return self._sql.execute(_FINISH, job_id=job_id, token=token) == 1

    def retry(self, job_id: str, token: str, run_at: datetime, error: str, count_attempt: bool) -> bool:
        job = self.get(job_id)
        if job is None or job.lease_token != token or job.state is not JobState.RUNNING:
            return False
        later = {"new_run_at": to_micros(run_at), "error": error}
        uncounted = 0 if count_attempt else 1
        twin = None if job.dedupe_key is None else self._sql.one(_TWIN, dedupe_key=job.dedupe_key)
        if twin is None:
            back = {"new_state": _PENDING, "no_token": None, "no_lease": None, "uncounted": uncounted}
            return self._sql.execute(_RETRY, job_id=job_id, token=token, **later, **back) == 1
        # The same work was asked for again meanwhile: one job goes on, with the pace and the age of the older one.
        merged = {"new_attempts": job.attempts - uncounted, "new_created_at": to_micros(job.created_at)}
        return self.finish(job_id, token) and self._sql.execute(_MERGE, job_id=twin[0], **later, **merged) == 1

    def get(self, job_id: str) -> Job | None:
        row = self._sql.one(_GET, job_id=job_id)
        return None if row is None else _job(row)

    def next_due(
        self, *, extractors: Sequence[str] | None = None, embedders: Sequence[str] | None = None
    ) -> datetime | None:
        sizes = [0 if names is None else list_size(len(names)) for names in (extractors, embedders)]
        given = {"extractor": extractors, "embedder": embedders}
        lists = [list_parameters(name, names) for name, names in given.items() if names is not None]
        row = self._sql.one(_next_due(*sizes), **{key: value for each in lists for key, value in each.items()})
        return None if row is None else optional_time(row[0])

    def counts(self) -> Sequence[tuple[JobKind, JobState, int, datetime]]:
        return [
            (JobKind(kind), JobState(state), int(number), from_micros(earliest))
            for kind, state, number, earliest in self._sql.all(_COUNTS)
        ]

    def remove(self, scope: Scope) -> int:
        named = {"user_id": scope.user_id, "session_id": scope.session_id}
        given = {name: value for name, value in named.items() if value is not None}
        return self._sql.execute(_remove(scope.user_id is not None, scope.session_id is not None), **given)

    def busy(
        self, now: datetime, *, extractors: Sequence[str], embedders: Sequence[str], session_id: str | None = None
    ) -> int:
        extractor_size, embedder_size, providers = _providers(extractors, embedders)
        named = {} if session_id is None else {"session_id": session_id}
        statement = _busy(extractor_size, embedder_size, session_id is not None)
        row = self._sql.one(statement, now=to_micros(now), **named, **providers)
        return 0 if row is None else int(row[0])
