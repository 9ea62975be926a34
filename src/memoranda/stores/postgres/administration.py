"""What an operator does with a PostgreSQL database: bring its schema up to date, look at it, let a role use it."""

from __future__ import annotations

import psycopg
from psycopg import sql
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.postgres.connecting import PsycopgConnection, database_at, first_line
from memoranda.stores.postgres.schema import bring_up_to_date, read_version
from memoranda.stores.schema import metadata
from memoranda.stores.schema_state import SchemaState


def schema_state(url: str) -> SchemaState:
    """Return what schema a database has. Raises ``MemoryStoreError`` when it cannot be reached."""
    database = database_at(url)
    try:
        with database.engine() as engine, engine.connect() as connection:
            return SchemaState(database.location, read_version(connection))
    except (SQLAlchemyError, psycopg.Error) as error:
        raise MemoryStoreError(f"cannot open {database.location!r}: {first_line(error)}") from error
    finally:
        database.connections.close()


def upgrade_schema(url: str, *, role: str | None = None) -> SchemaState:
    """Create the schema or bring it up to date; let ``role`` use it, behind the wall between projects.

    Raises ``MemoryStoreError`` for a database that cannot be reached, is newer, or has no such role.
    """
    database = database_at(url)
    try:
        with database.engine() as engine:
            bring_up_to_date(engine)
            if role is not None:
                _grant(engine, role)
    except (SQLAlchemyError, psycopg.Error) as error:
        raise MemoryStoreError(f"cannot upgrade {database.location!r}: {first_line(error)}") from error
    finally:
        database.connections.close()
    return schema_state(url)


def _grant(engine: Engine, role: str) -> None:
    with engine.connect() as connection:
        bypasses = text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = :role")
        found = connection.execute(bypasses, {"role": role}).scalar()
        if found is None:
            raise MemoryStoreError(
                f"there is no role {role!r}: make it first, as in CREATE ROLE {role} LOGIN PASSWORD '…'"
            )
        if found:
            raise MemoryStoreError(
                f"role {role!r} is not held by the wall between projects: it is a superuser or has BYPASSRLS"
            )
        driver: PsycopgConnection | None = connection.connection.driver_connection
        if driver is None:
            raise MemoryStoreError("the connection was lost")
        tables = sql.SQL(", ").join(sql.Identifier(name) for name in sorted(metadata.tables))
        name = sql.Identifier(role)
        driver.execute(sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON {} TO {}").format(tables, name))
        driver.execute(sql.SQL("GRANT SELECT ON alembic_version TO {}").format(name))
