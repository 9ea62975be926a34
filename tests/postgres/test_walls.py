"""Row-level security: as the application's role, a project's rows are not there for a transaction of another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from memoranda import Memory, MemoryRequestContext, MemoryStoreError
from memoranda.engine.ports import LegQuery
from memoranda.engine.records import SEMANTIC, IndexState
from memoranda.engine.scope import Scope
from memoranda.stores.migrations.pg_parts import WALLED
from memoranda.stores.postgres import PostgresStore, vectors
from memoranda.stores.postgres.administration import upgrade_schema
from memoranda.stores.schema import CONTROL_TABLES, metadata
from memoranda.stores.sql import search
from memoranda.stores.sql.legs import parameters_of, shape_of
from memoranda.stores.sql.statement import Statement, list_parameters
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.extractors import QuietExtractor
from memoranda.testing.samples import NOW

PROJECTS = ("one", "it's another", "*")


@pytest.fixture
def role(postgres_database: str) -> Iterator[str]:
    """A role that owns nothing and bypasses nothing."""
    name = f"memoranda_app_{uuid4().hex[:8]}"
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        yield name
        connection.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(sql.Identifier(name)))


@pytest.fixture
def app_url(postgres_url: str, role: str) -> str:
    upgrade_schema(postgres_url, role=role)
    return make_url(postgres_url).set(username=role).render_as_string(hide_password=False)


def _fill(url: str, project: str, records: int = 3) -> None:
    opened = Memory.open(url, project_id=project, embedder=HashedEmbedder(), llm=QuietExtractor(), worker=False)
    with opened as memory:
        alice = memory.bind(MemoryRequestContext(user_id="alice", session_id="s"))
        for number in range(records):
            alice.record_turn(role="user", content=f"tea {number} of {project}")
            alice.save_semantic(label=f"drink {number}", text=f"tea {number} of {project}")
        found = [turn.content for turn in alice.list_turns().items]
        assert found == [f"tea {number} of {project}" for number in range(records)]


@pytest.fixture
def filled_url(app_url: str) -> str:
    for project in PROJECTS:
        _fill(app_url, project)
    return app_url


def test_every_table_of_a_project_is_walled() -> None:
    assert set(WALLED) == set(metadata.tables) - CONTROL_TABLES


def test_the_main_job_is_done_as_the_application_role(filled_url: str) -> None:
    with closing(PostgresStore.open(filled_url)) as store:
        assert list(store.projects()) == sorted(PROJECTS)
        assert list(store.due_projects(NOW.replace(year=2100))) == sorted(PROJECTS)
        assert store.backlog(NOW.replace(year=2100)).due > 0


@pytest.mark.parametrize("begin", ["", "SET LOCAL memoranda.project = 'nobody'", "SET LOCAL memoranda.project = ''"])
def test_a_transaction_without_a_project_sees_no_row(filled_url: str, begin: str) -> None:
    with psycopg.connect(filled_url) as connection:
        if begin:
            connection.execute(begin.encode())
        for table in WALLED:
            found = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
            assert found == (0,), table


def test_a_statement_that_forgets_its_project_still_sees_one(filled_url: str) -> None:
    with psycopg.connect(filled_url) as connection:
        connection.execute("SET LOCAL memoranda.project = 'one'")
        for table in WALLED:
            query = sql.SQL("SELECT DISTINCT project_id FROM {}").format(sql.Identifier(table))
            assert connection.execute(query).fetchall() in ([], [("one",)]), table
        assert connection.execute("UPDATE turns SET content = 'gone'").rowcount == 3
        assert connection.execute("DELETE FROM postings WHERE project_id <> 'one'").rowcount == 0


def test_no_row_is_written_into_another_project(filled_url: str) -> None:
    with psycopg.connect(filled_url) as connection:
        connection.execute("SET LOCAL memoranda.project = 'one'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO feeds (project_id, last_position, pruned_position) VALUES ('*', 1, 0)")


def test_looking_for_work_opens_the_directory_alone_and_changes_nothing(filled_url: str) -> None:
    with psycopg.connect(filled_url) as connection:
        connection.execute("SET LOCAL memoranda.project = ' '")
        seen = {
            table
            for table in WALLED
            if connection.execute(sql.SQL("SELECT 1 FROM {} LIMIT 1").format(sql.Identifier(table))).fetchone()
        }
        assert seen <= {"projects", "jobs", "failures", "changes"}
        assert "projects" in seen
        assert connection.execute("DELETE FROM projects").rowcount == 0


def test_the_application_role_changes_no_schema_and_turns_no_wall_off(filled_url: str) -> None:
    with psycopg.connect(filled_url, autocommit=True) as connection:
        for statement in (b"ALTER TABLE turns DISABLE ROW LEVEL SECURITY", b"DROP TABLE turns", b"SET ROLE postgres"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
        connection.execute("SET row_security = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM turns")


def test_a_role_that_is_not_held_is_refused(postgres_url: str) -> None:
    with pytest.raises(MemoryStoreError, match="is not held by the wall"):
        upgrade_schema(postgres_url, role="postgres")
    with pytest.raises(MemoryStoreError, match="there is no role 'nobody'"):
        upgrade_schema(postgres_url, role="nobody")


def _index_conditions(url: str, statement: Statement, parameters: dict[str, object]) -> list[str]:
    """Return by what a statement finds its rows; sequential scans are avoided where there is another way."""
    text, constants = statement.prepared(make_url("postgresql+psycopg://").get_dialect()())
    with psycopg.connect(url) as connection:
        connection.execute("SET LOCAL memoranda.project = 'one'; SET LOCAL enable_seqscan = off")
        plan = connection.execute(f"EXPLAIN (COSTS OFF) {text}".encode(), {**constants, **parameters}).fetchall()
    lines = [str(line).strip().removeprefix("-> ") for (line,) in plan]
    assert not [line for line in lines if "Seq Scan" in line], lines
    return [line for line in lines if line.startswith(("Index Cond", "TID Cond"))]


def _add_vectors(url: str) -> None:
    """Add enough for the planner to look for a way, of others and of other states."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO vectors (project_id, source, state, visibility, user_id, key, model, piece, scale, data) "
            "SELECT 'one', 'semantic', CASE number % 2 WHEN 0 THEN 'c' ELSE 's' END, 'private', "
            "'user ' || number % 50, number, 'm', 0, 0.01, decode(repeat('01', 64), 'hex') "
            "FROM generate_series(1000, 5000) AS number"
        )
        connection.execute("ANALYZE vectors")


@pytest.mark.parametrize("user", ["alice", None])
def test_the_wall_takes_no_index_from_a_search(filled_url: str, postgres_url: str, user: str | None) -> None:
    _add_vectors(postgres_url)
    query = LegQuery(Scope(user_id=user), SEMANTIC, (IndexState.CURRENT,), NOW)
    shape = shape_of(query, hides=False)
    shared = {"project_id": "one", **parameters_of(query)}
    words = {**shared, **list_parameters("term", ["tea", "milk"])}
    near = {**shared, "model": "m", "before_last": 9, "asked": "[" + "1," * 63 + "1]", "slack": 0.0}
    for statement, parameters, least in (
        (search._plain_text_statement(2, shape), words, "term"),
        (vectors._plain(shape), near, "visibility"),
        (search._counts_statement(shape), shared, "visibility"),
    ):
        behind, before = (_index_conditions(url, statement, parameters) for url in (filled_url, postgres_url))
        assert least in behind[0]
        assert [line for line in behind if "Index" in line] == [line for line in before if "Index" in line]
        assert sum("TID" in line for line in behind) == sum("TID" in line for line in before)
