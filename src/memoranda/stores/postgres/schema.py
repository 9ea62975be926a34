"""The schema of a PostgreSQL database: made where there is none, refused when it is another than this version's."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, Engine, text

from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.migrations import create, upgrade
from memoranda.stores.schema import SCHEMA_VERSION

_LOCK: Final = 0x4D454D4F
"""The advisory lock under which one process at a time changes the schema ("MEMO" in ASCII)."""


def prepare_schema(engine: Engine) -> None:
    """Create the schema in an empty database; refuse an older or newer one.

    Many servers share a database: none of them changes its schema under the others (``memoranda db upgrade`` does).
    """
    with engine.connect() as connection:
        found = found_version(connection)
    if found is None:
        bring_up_to_date(engine)
    elif found != SCHEMA_VERSION:
        raise MemoryStoreError(
            f"the database has schema version {found}, older than {SCHEMA_VERSION} which this version needs; "
            "bring it up to date: memoranda db upgrade --store URL",
            code="SCHEMA_OLDER",
        )


def bring_up_to_date(engine: Engine) -> None:
    """Create the schema in an empty database, migrate an old one, refuse a newer one."""
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        found = found_version(connection)
        if found is None:
            create(connection)
        elif found != SCHEMA_VERSION:
            upgrade(connection)
        connection.exec_driver_sql("COMMIT")


def read_version(connection: Connection) -> str | None:
    """Return the schema version of a database, whatever it is; None for one without a schema."""
    if connection.execute(text("SELECT to_regclass('alembic_version')")).scalar() is None:
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if not isinstance(found, str):
        raise MemoryStoreError("the database is damaged: it does not say its schema version; restore a backup")
    return found


def found_version(connection: Connection) -> str | None:
    """Return the schema version of a database, None for one without a schema; refuse one that is newer."""
    found = read_version(connection)
    if found is not None and found > SCHEMA_VERSION:
        raise MemoryStoreError(
            f"the database has schema version {found}, newer than {SCHEMA_VERSION} which this version knows; "
            "upgrade memoranda (what the database has: memoranda db status --store URL)",
            code="SCHEMA_NEWER",
        )
    return found
