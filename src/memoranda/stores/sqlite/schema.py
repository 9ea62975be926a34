"""Bringing a SQLite file's schema up to date, under an exclusive lock."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.migrations import create, upgrade
from memoranda.stores.schema import SCHEMA_VERSION

APPLICATION_ID = 0x4D454D4F
"""Marks our files ("MEMO" in ASCII), so that another program's database is never changed."""

_RETRY_SECONDS = 0.02


def prepare_schema(engine: Engine, file: Path, *, wait_seconds: float) -> None:
    """Create the schema in a new file, migrate an old one, refuse a foreign or newer one.

    Switching to WAL does not wait for other processes by itself, so that the whole step is tried again until
    ``wait_seconds`` have passed.
    """
    try:
        _patiently(lambda: _prepare(engine, file), wait_seconds)
    except DBAPIError as error:
        raise MemoryStoreError(f"cannot open {str(file)!r}: {error.orig}{_hint(file)}") from error
    except sqlite3.Error as error:
        raise MemoryStoreError(f"cannot open {str(file)!r}: {error}{_hint(file)}") from error


def _hint(file: Path) -> str:
    """Say what of a store may not be written to; the database says of neither that this is why."""
    for kind, path in (("folder", file.parent), ("file", file)):
        if path.exists() and not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            return f"; the {kind} {str(path)!r} may not be written to, which reading needs as well"
    return ""


def _patiently(step: Callable[[], None], wait_seconds: float) -> None:
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            return step()
        except (DBAPIError, sqlite3.OperationalError) as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(_RETRY_SECONDS)


def _prepare(engine: Engine, file: Path) -> None:
    with engine.connect() as connection:
        # In one view: another process may be making the schema between two looks.
        connection.exec_driver_sql("BEGIN")
        found = _found_version(connection, file)
        connection.exec_driver_sql("COMMIT")
        if found == SCHEMA_VERSION:
            return
        # Not possible inside a transaction; kept by the file from then on.
        connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        connection.exec_driver_sql("BEGIN EXCLUSIVE")
        found = _found_version(connection, file)
        if found is None:
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            create(connection)
        elif found != SCHEMA_VERSION:
            upgrade(connection)
        connection.exec_driver_sql("COMMIT")


def _found_version(connection: Connection, file: Path) -> str | None:
    """Return the schema version of a file, None for an empty one; refuse what is not ours or is newer."""
    names = {row[0] for row in connection.exec_driver_sql("SELECT name FROM sqlite_master")}
    application = connection.exec_driver_sql("PRAGMA application_id").scalar()
    if not names and application == 0:
        return None
    if application != APPLICATION_ID or "alembic_version" not in names:
        raise MemoryStoreError(
            f"{str(file)!r} is a SQLite database of another program; name a new file or a Memoranda store"
        )
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if not isinstance(found, str):
        raise MemoryStoreError(
            f"{str(file)!r} is damaged: it does not say its schema version; restore it from a backup"
        )
    if found > SCHEMA_VERSION:
        raise MemoryStoreError(
            f"{str(file)!r} has schema version {found}, newer than {SCHEMA_VERSION} which this version knows; "
            "upgrade memoranda"
        )
    return found
