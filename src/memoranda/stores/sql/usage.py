"""What models cost, by day, job and model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from sqlalchemy import BindParameter, bindparam, func, select

from memoranda.engine.usage import ModelUsage, Usage
from memoranda.stores.schema import usage
from memoranda.stores.sql.statement import Executor, Statement
from memoranda.stores.sql.upsert import insert

_PROJECT: BindParameter[str] = bindparam("project_id")
_FIGURES = ("calls", "input_tokens", "output_tokens")
_WHOLE_DAY = ""

_ADD = Statement(
    insert(usage)
    .values({name: bindparam(name) for name in ("project_id", "day", "job_id", "model", *_FIGURES)})
    .on_conflict_do_update(
        index_elements=["project_id", "day", "job_id", "model"],
        set_={name: usage.c[name] + bindparam(name) for name in _FIGURES},
    )
)
_SPENT = Statement(
    select(*(func.coalesce(func.sum(usage.c[name]), 0) for name in _FIGURES)).where(
        usage.c.project_id == _PROJECT, usage.c.day == bindparam("day"), usage.c.job_id == _WHOLE_DAY
    )
)
_OF_JOB = Statement(
    select(usage.c.model, *(usage.c[name] for name in _FIGURES))
    .where(usage.c.project_id == _PROJECT, usage.c.day == bindparam("day"), usage.c.job_id == bindparam("job_id"))
    .order_by(usage.c.model)
)


class SqlUsageRows:
    """``UsageRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def add(self, day: date, entry: ModelUsage) -> None:
        spent = entry.usage
        figures = {"calls": spent.calls, "input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens}
        for job_id in (entry.job_id, _WHOLE_DAY):
            self._sql.execute(_ADD, day=day.isoformat(), job_id=job_id, model=entry.model, **figures)

    def spent(self, day: date) -> Usage:
        row = self._sql.one(_SPENT, day=day.isoformat())
        return Usage() if row is None else Usage(int(row[0]), int(row[1]), int(row[2]))

    def of_job(self, job_id: str, day: date) -> Sequence[ModelUsage]:
        rows = self._sql.all(_OF_JOB, day=day.isoformat(), job_id=job_id)
        return [ModelUsage(job_id, row[0], Usage(int(row[1]), int(row[2]), int(row[3]))) for row in rows]
