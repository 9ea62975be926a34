"""The store in a PostgreSQL database: pooled connections, one writer at a time in each project."""

from __future__ import annotations

import hashlib
import threading
from typing import Final

import psycopg
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from memoranda.engine.ports import StoreDescription
from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.migrations.pg_parts import EVERY_PROJECT, PROJECT_SETTING
from memoranda.stores.postgres.connecting import Database, Lent, database_at, database_of, first_line
from memoranda.stores.postgres.schema import prepare_schema
from memoranda.stores.postgres.vectors import PostgresVectorScan
from memoranda.stores.schema import SCHEMA_VERSION
from memoranda.stores.sql.statement import Executor
from memoranda.stores.sql.store import SqlStore

_DIALECT: Final = make_url("postgresql+psycopg://").get_dialect()()
_QUEUES: Final = 64
"""Projects share this many queues of the writers of a process."""


class PostgresStore(SqlStore):
    """A store in one PostgreSQL database."""

    def __init__(self, database: Database) -> None:
        super().__init__(database.connections, _DIALECT, PostgresVectorScan())
        self._location = database.location

    @classmethod
    def open(cls, url: str) -> PostgresStore:
        """Open a database, creating the schema where there is none.

        Raises ``MemoryStoreError`` when it cannot be reached, or has another schema than this version knows.
        """
        return cls._prepared(database_at(url))

    @classmethod
    def over(cls, given: Lent) -> PostgresStore:
        """Open the database of an engine, a pool or a connection, which stay the caller's to close."""
        try:
            return cls._prepared(database_of(given))
        except psycopg.Error as error:
            raise MemoryStoreError(f"the database cannot be reached: {first_line(error)}") from error

    @classmethod
    def _prepared(cls, database: Database) -> PostgresStore:
        try:
            with database.engine() as engine:
                prepare_schema(engine)
        except (SQLAlchemyError, psycopg.Error) as error:
            database.connections.close()
            raise MemoryStoreError(f"cannot open {database.location!r}: {first_line(error)}") from error
        except BaseException:
            database.connections.close()
            raise
        return cls(database)

    def describe(self) -> StoreDescription:
        return StoreDescription(dialect="postgresql", location=self._location, schema_version=SCHEMA_VERSION)

    def _renew_locks(self) -> None:
        self._queues = [threading.Lock() for _ in range(_QUEUES)]

    def _writing_lock(self, project_id: str) -> threading.Lock:
        return self._queues[hash(project_id) % _QUEUES]

    def _begin_read(self, sql: Executor) -> None:
        sql.begin(f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_within(sql.project_id)}")

    def _begin_write(self, sql: Executor) -> None:
        # One writer at a time in a project: what is read and then written stays true in between, and two writers never
        # wait for each other's rows in a circle. The lock goes with the transaction, so a pooler may sit in between.
        sql.begin(f"BEGIN; {_within(sql.project_id)}; {_locked(sql.project_id)}")

    def _begin_lasting_less(self, sql: Executor) -> None:
        project = sql.project_id
        sql.begin(f"BEGIN; SET LOCAL synchronous_commit = off; {_within(project)}; {_locked(project)}")

    def _is_lost(self, error: Exception) -> bool:
        # Nothing else ends a connection at its first word: the server told it to go, or is not there any more.
        return isinstance(error, psycopg.OperationalError) and not isinstance(error, psycopg.errors.ConnectionTimeout)

    def _wrapped(self, error: Exception, *, committing: bool = False) -> MemoryStoreError | None:
        if not isinstance(error, psycopg.Error | SQLAlchemyError):
            return None
        if committing:
            return MemoryStoreError(
                f"{self._location}: the connection was lost during a commit ({first_line(error)}); the change was "
                "made as a whole or not at all. Ask again: with its idempotency key it is not made twice",
                code="COMMIT_UNKNOWN",
            )
        again = ", try again" if isinstance(error, psycopg.OperationalError | SQLAlchemyError) else ""
        return MemoryStoreError(f"{self._location}: {first_line(error)}; nothing was written{again}")


def _within(project_id: str) -> str:
    """Return the statement that opens the wall between projects for one, until the transaction ends."""
    # Part of the words that begin the transaction, which take no parameters.
    quoted = (project_id or EVERY_PROJECT).replace("'", "''")
    return f"SET LOCAL {PROJECT_SETTING} = '{quoted}'"


def _locked(project_id: str) -> str:
    return f"SELECT pg_advisory_xact_lock({_lock_key(project_id)})"


def _lock_key(project_id: str) -> int:
    digest = hashlib.blake2b(project_id.encode(), digest_size=8, person=b"memoranda-write").digest()
    return int.from_bytes(digest, "big", signed=True)
