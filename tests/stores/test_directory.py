"""What is read across the projects of a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from memoranda.engine.jobs.failure import Cause, FailureClass
from memoranda.engine.jobs.worker import failure_of
from memoranda.engine.records import Backlog, Job, JobKind, ProjectRow
from memoranda.stores.sql import directory
from memoranda.stores.sqlite import SqliteStore
from memoranda.testing.samples import NOW, later, sample_job


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "memory.db")
    for name in ("b", "a", "none"):
        with store.write(name) as tx:
            tx.projects.put(ProjectRow(name, NOW))
    yield store
    store.close()


def put(store: SqliteStore, project_id: str, job: Job) -> None:
    with store.write(project_id) as tx:
        tx.jobs.enqueue(job)


def test_projects_are_listed_in_order(store: SqliteStore) -> None:
    assert list(store.projects()) == ["a", "b", "none"]


def test_projects_are_due_when_a_job_is(store: SqliteStore) -> None:
    put(store, "a", replace(sample_job("now"), run_at=NOW))
    put(store, "b", replace(sample_job("later"), run_at=later(days=1)))
    assert list(store.due_projects(NOW)) == ["a"]
    assert list(store.due_projects(later(days=1))) == ["a", "b"]


def test_projects_are_due_again_when_a_lease_runs_out(store: SqliteStore) -> None:
    put(store, "a", replace(sample_job("now"), run_at=NOW))
    until = NOW + timedelta(seconds=15)
    with store.write("a") as tx:
        claimed = tx.jobs.claim(
            kinds=tuple(JobKind), extractors=("",), embedders=("",), now=NOW, lease_until=until, token="t"
        )
        assert claimed is not None
    assert list(store.due_projects(NOW)) == []
    assert list(store.due_projects(until)) == ["a"]


def test_looking_for_due_projects_reads_an_index_and_no_job_twice(store: SqliteStore, tmp_path: Path) -> None:
    text, constants = directory._DUE.prepared(create_engine("sqlite://", paramstyle="named").dialect)
    with sqlite3.connect(tmp_path / "memory.db") as connection:
        plan = [
            str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", {**constants, "now": 0}).fetchall()
        ]
    connection.close()
    assert any("jobs_due (project_id=? AND state=? AND run_at<?)" in step for step in plan), plan
    assert not any(step.startswith("SCAN jobs") for step in plan), plan


def test_backlog_counts_jobs_and_failures_of_all_projects(store: SqliteStore) -> None:
    put(store, "a", replace(sample_job("due"), run_at=NOW))
    put(store, "b", replace(sample_job("due"), run_at=later(minutes=1)))
    put(store, "b", replace(sample_job("later"), run_at=later(days=1)))
    with store.write("a") as tx:
        tx.failures.insert(failure_of(sample_job("x"), Cause(FailureClass.CONTENT, "refused"), NOW))
    found = store.backlog(later(minutes=2))
    assert found == Backlog(pending=3, running=0, due=2, failures=1, oldest_due_seconds=120.0)
    assert store.backlog(NOW - timedelta(days=1)).oldest_due_seconds == 0.0
