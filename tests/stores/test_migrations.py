"""Migrations: a fresh schema is the migrated one, and a file that is not ours or is newer is left alone."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine

from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.migrations import create, upgrade
from memoranda.stores.schema import CONTROL_TABLES, SCHEMA_VERSION, metadata
from memoranda.stores.sqlite import SqliteStore


def _shape(connection: Connection) -> dict[str, str]:
    """Return the words of the SQL of every table and index, whatever their order and layout."""
    rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {name: " ".join(sorted(re.findall(r"[^\s,()]+", sql))) for name, sql in rows}


def test_fresh_schema_equals_the_migrated_one() -> None:
    fresh, migrated = create_engine("sqlite://"), create_engine("sqlite://")
    with fresh.begin() as one, migrated.begin() as other:
        create(one)
        upgrade(other)
        assert _shape(one) == _shape(other)
        versions = [connection.exec_driver_sql("SELECT * FROM alembic_version").all() for connection in (one, other)]
        assert versions == [[(SCHEMA_VERSION,)]] * 2


def test_migrations_lead_to_what_the_code_expects() -> None:
    with create_engine("sqlite://").begin() as connection:
        upgrade(connection)
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_every_key_and_index_is_led_by_the_project_but_where_no_project_is_known_yet() -> None:
    for table in metadata.tables.values():
        leading = "client_id" if table.name in CONTROL_TABLES else "project_id"
        assert next(iter(table.primary_key.columns)).name == leading, table.name
        assert not table.foreign_keys, table.name
        for index in table.indexes:
            assert next(iter(index.columns)).name == "project_id", index.name


def test_accounts_are_the_only_rows_that_are_found_without_a_project() -> None:
    assert {"service_accounts"} == CONTROL_TABLES


def test_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(MemoryStoreError, match="schema version 9999, newer than"):
        SqliteStore.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "theirs", ["CREATE TABLE theirs (x)", "CREATE VIEW theirs AS SELECT 1", "PRAGMA application_id = 77"]
)
def test_database_of_another_program_is_refused_and_left_alone(tmp_path: Path, theirs: str) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute(theirs)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(MemoryStoreError, match="of another program"):
        SqliteStore.open(path)
    assert path.read_bytes() == before


def test_store_without_a_schema_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM alembic_version")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(MemoryStoreError, match="is damaged"):
        SqliteStore.open(path)
    assert path.read_bytes() == before
