"""`db` tells the schema of a store, and brings it up to date."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from memoranda.stores.schema import SCHEMA_VERSION
from tests.cli.conftest import Run


def _set_version(version: str) -> None:
    with closing(sqlite3.connect("memory.db", isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))


def test_upgrade_makes_a_store_and_status_tells_it(run: Run) -> None:
    assert run("db", "upgrade").code == 0
    done = run("db", "status")
    assert done.code == 0
    assert done.out.endswith(f"memory.db: up to date (schema {SCHEMA_VERSION})\n")
    report = run("db", "status", "--json").json
    assert (report["found"], report["known"], report["current"]) == (SCHEMA_VERSION, SCHEMA_VERSION, True)
    assert run("db", "check").code == 0


@pytest.mark.parametrize(
    ("version", "advice"), [("9999", "upgrade memoranda"), ("0000", "this version needs: memoranda db upgrade")]
)
def test_check_fails_where_the_schema_is_another(run: Run, version: str, advice: str) -> None:
    run("db", "upgrade")
    _set_version(version)
    assert advice in run("db", "status").out
    done = run("db", "check")
    assert done.code == 1
    assert advice in done.complaint


def test_a_store_that_is_not_there_is_not_made_by_asking(run: Run) -> None:
    assert run("db", "status").code == 2
    assert run("db", "check").code == 2


def test_a_role_is_for_postgresql(run: Run) -> None:
    done = run("db", "upgrade", "--app-role", "app")
    assert done.code != 0
    assert "is a file" in done.complaint


@pytest.mark.parametrize("verb", [("status",), ("db", "status"), ("db", "upgrade")])
def test_no_password_is_printed(run: Run, verb: tuple[str, ...]) -> None:
    done = run(*verb, "--store", "postgresql://me:se:cret@127.0.0.1:1/none?connect_timeout=2")
    assert done.code != 0
    assert "cret" not in done.complaint
    assert "127.0.0.1" in done.complaint
