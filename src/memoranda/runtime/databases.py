"""The schema of a store, for its operator: what it is, and bringing it up to date."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urlsplit

from memoranda.runtime.opening import POSTGRES_SCHEMES, driver_of_postgres, open_store
from memoranda.sdk.errors import MemoryConfigError, MemoryStoreError
from memoranda.stores.schema_state import SchemaState

__all__ = ["SchemaState", "schema_state", "upgrade_schema"]


def schema_state(store: str) -> SchemaState:
    """Return what schema a store has, and change nothing. Raises ``MemoryStoreError`` when it cannot be read."""
    if not _is_postgres(store):
        return _state_of_file(store)
    with driver_of_postgres():
        from memoranda.stores.postgres import administration  # noqa: PLC0415 - an extra, loaded when named
    return administration.schema_state(store)


def upgrade_schema(store: str, *, role: str | None = None) -> SchemaState:
    """Create the schema or bring it up to date; let ``role`` use it (PostgreSQL), behind the wall between projects."""
    if _is_postgres(store):
        with driver_of_postgres():
            from memoranda.stores.postgres import administration  # noqa: PLC0415 - an extra, loaded when named
        return administration.upgrade_schema(store, role=role)
    if role is not None:
        raise MemoryConfigError(f"a role can use a PostgreSQL database; {store!r} is a file")
    open_store(store).close()
    return _state_of_file(store)


def _is_postgres(store: str) -> bool:
    return store.partition("://")[0].lower() in POSTGRES_SCHEMES


def _state_of_file(store: str) -> SchemaState:
    text = unquote(urlsplit(store).path.removeprefix("/")) if "://" in store else store
    path = Path(text).expanduser().absolute()
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error as error:
        raise MemoryStoreError(f"the schema version of {str(path)!r} cannot be read: {error}") from error
    return SchemaState(str(path), None if row is None else str(row[0]))
