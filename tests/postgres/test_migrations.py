"""Migrations on PostgreSQL: a fresh schema is the migrated one; another version is refused, naming the command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pgvector.sqlalchemy  # noqa: F401 - tells SQLAlchemy of the type
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, create_engine, text

from memoranda.runtime.opening import open_store
from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.migrations import create, upgrade
from memoranda.stores.postgres.administration import schema_state, upgrade_schema
from memoranda.stores.schema import SCHEMA_VERSION, metadata
from memoranda.testing import postgres

_SHAPE = (
    "SELECT table_name, column_name, data_type, udt_name, is_nullable, column_default, collation_name, "
    "generation_expression FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2",
    "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2",
    "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype <> 'n' ORDER BY 1, 2",
    "SELECT tablename, policyname, permissive, roles::text, cmd, qual, with_check FROM pg_policies ORDER BY 1, 2",
    "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class "
    "WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1",
    "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE proname LIKE 'memoranda%' ORDER BY 1",
    "SELECT attrelid::regclass::text, attname, attstorage::text FROM pg_attribute "
    "JOIN pg_class ON attrelid = pg_class.oid "
    "WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 ORDER BY 1, 2",
    "SELECT version_num FROM alembic_version",
)


def _shape(connection: Connection) -> list[list[tuple[object, ...]]]:
    return [[tuple(row) for row in connection.execute(text(query))] for query in _SHAPE]


@pytest.fixture
def empty_databases(postgres_server: str) -> Iterator[list[Engine]]:
    with ExitStack() as stack:
        urls = [stack.enter_context(postgres.empty_database(postgres_server)) for _ in range(2)]
        engines = [create_engine(url.replace("postgresql", "postgresql+psycopg", 1)) for url in urls]
        yield engines
        for engine in engines:
            engine.dispose()


def test_fresh_schema_equals_the_migrated_one(empty_databases: list[Engine]) -> None:
    fresh, migrated = empty_databases
    with fresh.begin() as one, migrated.begin() as other:
        create(one)
        upgrade(other)
        for expected, found in zip(_shape(one), _shape(other), strict=True):
            assert found == expected
            assert found


def test_migrations_lead_to_what_the_code_expects(empty_databases: list[Engine]) -> None:
    with empty_databases[0].begin() as connection:
        upgrade(connection)
        found = compare_metadata(MigrationContext.configure(connection, opts={"include_object": _is_ours}), metadata)
        assert found == []


def _is_ours(_object: object, name: str | None, kind: str, _reflected: bool, _other: object) -> bool:
    """Leave out what the database derives by itself from a column that the code knows."""
    return not (kind == "column" and name == "codes")


@pytest.fixture
def url(postgres_server: str) -> Iterator[str]:
    with postgres.empty_database(postgres_server) as url:
        yield url


def _set_version(url: str, version: str) -> None:
    engine = create_engine(url.replace("postgresql", "postgresql+psycopg", 1))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})
    engine.dispose()


def test_upgrade_makes_the_schema_and_again_is_harmless(url: str) -> None:
    assert schema_state(url).found is None
    for _ in range(2):
        state = upgrade_schema(url)
        assert state.found == SCHEMA_VERSION
        assert state.is_current


def test_a_newer_schema_is_refused_naming_the_command(url: str) -> None:
    upgrade_schema(url)
    _set_version(url, "9999")
    with pytest.raises(MemoryStoreError, match=r"version 9999, newer than .* memoranda db status"):
        open_store(url)
    with pytest.raises(MemoryStoreError, match="newer"):
        upgrade_schema(url)


def test_an_older_schema_is_not_changed_by_a_server_but_refused_naming_the_command(url: str) -> None:
    upgrade_schema(url)
    _set_version(url, "0000")
    with pytest.raises(MemoryStoreError, match=r"version 0000, older than .* memoranda db upgrade"):
        open_store(url)
    assert schema_state(url).found == "0000"
