"""How much background work waits in a store, whatever the project."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, func, select

from memoranda.engine.records import Backlog, JobState
from memoranda.stores.schema import failures, jobs
from memoranda.stores.sql.codec import optional_time, to_micros
from memoranda.stores.sql.statement import Executor, Statement

_BY_STATE = Statement(select(jobs.c.state, func.count(jobs.c.project_id)).group_by(jobs.c.state))
_DUE = Statement(
    select(func.count(jobs.c.project_id), func.min(jobs.c.run_at)).where(
        jobs.c.state == JobState.PENDING.value, jobs.c.run_at <= bindparam("now")
    )
)
_FAILURES = Statement(select(func.count(failures.c.project_id)))


def backlog(sql: Executor, now: datetime) -> Backlog:
    """Return the numbers of jobs and failures of all projects."""
    states = {str(state): int(number) for state, number in sql.all(_BY_STATE)}
    due, failed = sql.one(_DUE, now=to_micros(now)), sql.one(_FAILURES)
    oldest = None if due is None else optional_time(due[1])
    return Backlog(
        pending=states.get(JobState.PENDING.value, 0),
        running=states.get(JobState.RUNNING.value, 0),
        due=0 if due is None else int(due[0]),
        failures=0 if failed is None else int(failed[0]),
        oldest_due_seconds=0.0 if oldest is None else max(0.0, (now - oldest).total_seconds()),
    )
