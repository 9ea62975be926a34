"""What is read across the projects of a store: which there are, and which have something to do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Select, bindparam, exists, select, union

from memoranda.engine.records import JobState
from memoranda.stores.schema import changes, jobs, projects
from memoranda.stores.sql.codec import to_micros
from memoranda.stores.sql.statement import Executor, Statement

_IDS = Statement(select(projects.c.project_id).order_by(projects.c.project_id))


def _with_a_job(state: JobState, due: str) -> Select[tuple[str]]:
    """Return the projects with a job in this state whose time has come: one look into the index of jobs a project.

    Correlated by the project alone, it can be pushed down to the shards of a database distributed by project.
    """
    there = select(1).where(
        jobs.c.project_id == projects.c.project_id, jobs.c.state == state.value, jobs.c[due] <= bindparam("now")
    )
    return select(projects.c.project_id).where(exists(there))


_WITH_CHANGES = select(projects.c.project_id).where(
    exists(select(1).where(changes.c.project_id == projects.c.project_id, changes.c.position.is_(None)))
)
_DUE = Statement(
    union(
        _with_a_job(JobState.PENDING, "run_at"), _with_a_job(JobState.RUNNING, "lease_until"), _WITH_CHANGES
    ).order_by("project_id")
)


def project_ids(sql: Executor) -> Sequence[str]:
    """Return the ids of all projects, in order."""
    return [str(row[0]) for row in sql.all(_IDS)]


def due_projects(sql: Executor, now: datetime) -> Sequence[str]:
    """Return the projects with a job that is due, or whose worker let its lease run out, or with changes to number."""
    return [str(row[0]) for row in sql.all(_DUE, now=to_micros(now))]
