"""The store in a PostgreSQL database: pooled connections, one writer at a time in each project."""

from __future__ import annotations

import hashlib
from typing import Final

import psycopg
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from memoranda.engine.ports import StoreDescription
from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.postgres.schema import prepare_schema
from memoranda.stores.postgres.vectors import PostgresVectorScan
from memoranda.stores.schema import SCHEMA_VERSION
from memoranda.stores.sql.statement import Executor
from memoranda.stores.sql.store import SqlStore

POOL_SIZE: Final = 10
"""The most connections that stay open between transactions."""
POOL_OVERFLOW: Final = 20
"""How many more are opened under load; a call beyond them waits for its turn."""
POOL_WAIT_SECONDS: Final = 30.0
CONNECT_SECONDS: Final = 10

_DRIVER: Final = "postgresql+psycopg"
_SCHEMES: Final = ("postgresql", "postgres", _DRIVER)


def is_postgres_url(text: str) -> bool:
    """Return whether a text names a PostgreSQL database."""
    return text.partition("://")[0].lower() in _SCHEMES


def _url(text: str) -> URL:
    try:
        return make_url(text).set(drivername=_DRIVER)
    except ArgumentError as error:
        raise MemoryStoreError(
            "the address of the database cannot be read: write postgresql://user:password@host:5432/database"
        ) from error


def _configure(connection: psycopg.Connection[tuple[object, ...]], _record: object) -> None:
    """Set up a new connection: transactions are ours to begin."""
    connection.autocommit = True


def _engine(url: URL) -> Engine:
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_timeout=POOL_WAIT_SECONDS,
        connect_args={"connect_timeout": CONNECT_SECONDS, "application_name": "memoranda"},
    )
    event.listen(engine, "connect", _configure)
    return engine


class PostgresStore(SqlStore):
    """A store in one PostgreSQL database."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, PostgresVectorScan())
        self._location = engine.url.render_as_string(hide_password=True)

    @classmethod
    def open(cls, url: str) -> PostgresStore:
        """Open a database, creating the schema (and bringing it up to date) where needed.

        Raises ``MemoryStoreError`` when it cannot be reached, holds something else, or is newer than this version.
        """
        engine = _engine(_url(url))
        try:
            prepare_schema(engine)
        except (SQLAlchemyError, psycopg.Error) as error:
            engine.dispose()
            where = engine.url.render_as_string(hide_password=True)
            raise MemoryStoreError(f"cannot open {where!r}: {_first_line(error)}") from error
        except BaseException:
            engine.dispose()
            raise
        return cls(engine)

    def describe(self) -> StoreDescription:
        return StoreDescription(dialect="postgresql", location=self._location, schema_version=SCHEMA_VERSION)

    def _begin_read(self, sql: Executor) -> None:
        sql.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def _begin_write(self, sql: Executor) -> None:
        # One writer at a time in a project: what is read and then written stays true in between, and two writers never
        # wait for each other's rows in a circle. The lock goes with the transaction, so a pooler may sit in between.
        sql.begin(f"BEGIN; SELECT pg_advisory_xact_lock({_lock_key(sql.project_id)})")

    def _begin_lasting_less(self, sql: Executor) -> None:
        sql.begin(
            f"BEGIN; SET LOCAL synchronous_commit = off; SELECT pg_advisory_xact_lock({_lock_key(sql.project_id)})"
        )

    def _wrapped(self, error: Exception) -> MemoryStoreError | None:
        if not isinstance(error, psycopg.Error | SQLAlchemyError):
            return None
        return MemoryStoreError(f"{self._location}: {_first_line(error)}; nothing was written, try again")


def _lock_key(project_id: str) -> int:
    digest = hashlib.blake2b(project_id.encode(), digest_size=8, person=b"memoranda-write").digest()
    return int.from_bytes(digest, "big", signed=True)


def _first_line(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    return str(cause).strip().partition("\n")[0] or type(cause).__name__
