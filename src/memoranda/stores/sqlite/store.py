"""The store in one SQLite file: WAL, durable commits, any number of processes and threads."""

from __future__ import annotations

import os
import shutil
import sqlite3
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from memoranda.engine.ports import StoreDescription
from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.schema import SCHEMA_VERSION
from memoranda.stores.sql.connections import Connection, Connections
from memoranda.stores.sql.statement import Executor
from memoranda.stores.sql.store import SqlStore
from memoranda.stores.sql.transaction import SqlTransaction
from memoranda.stores.sqlite.fork_gate import GATE
from memoranda.stores.sqlite.schema import prepare_schema
from memoranda.stores.sqlite.vectors import SqliteVectorScan
from memoranda.stores.sqlite.vectors import usual as usual_scans

BUSY_SECONDS = 60.0
"""How long a call waits for another process's write before it fails with a retryable error."""

_DURABLE = "PRAGMA synchronous = FULL"

CHECKPOINT_PAGES = 4_000
"""How long the write-ahead log grows (16 MB) before it is copied into the file. A turn writes to some 40 pages, many of
them the same as the turn before: copied less often, they are copied once."""


def _configure(connection: sqlite3.Connection, _record: object) -> None:
    """Set up a new connection: transactions are ours to begin."""
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA cache_size = -65536")
    cursor.execute("PRAGMA temp_store = MEMORY")
    cursor.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    cursor.close()


def _make_durable(connection: sqlite3.Connection, _record: object, _proxy: object) -> None:
    """Have a commit be durable when it returns, also where a change that lasts less failed on this connection."""
    connection.execute(_DURABLE)


def _engine(path: Path) -> Engine:
    # The URL names no file: a path may hold any character, and the driver is given it as it is.
    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            path, timeout=BUSY_SECONDS, check_same_thread=False, cached_statements=512, isolation_level=None
        )

    engine = create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, pool_size=8, max_overflow=-1, paramstyle="named"
    )
    event.listen(engine, "connect", _configure)
    event.listen(engine, "checkout", _make_durable)
    return engine


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another at the same path; None where there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _remove(folder: str, owner: int) -> None:
    # A forked child runs its parent's finalisers when it ends, and the folder is still its parent's.
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


class SqliteStore(SqlStore):
    """A store in one SQLite file."""

    def __init__(self, path: Path, engine: Engine) -> None:
        super().__init__(Connections(engine), engine.dialect, SqliteVectorScan())
        self._path = path
        self._file = _identity(path)
        self._remove_folder: Callable[[], object] | None = None

    @classmethod
    def open_temporary(cls) -> SqliteStore:
        """Open a new store in a temporary file that goes when the store is closed or collected."""
        # A file, not SQLite's own memory: there every connection would have a database of its own.
        folder = mkdtemp(prefix="memoranda-")
        store = cls.open(Path(folder) / "memory.db")
        store._remove_folder = weakref.finalize(store, _remove, folder, os.getpid())
        return store

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> SqliteStore:
        """Open a file, creating it (and bringing its schema up to date) where needed.

        Raises ``MemoryStoreError`` when the file is not a Memoranda store, is newer than this version, or cannot be
        opened.
        """
        file = Path(path).expanduser().absolute()
        if not file.parent.is_dir():
            raise MemoryStoreError(f"cannot open {str(path)!r}: the folder {str(file.parent)!r} does not exist")
        engine = _engine(file)
        try:
            with GATE.passing():
                prepare_schema(engine, file, wait_seconds=BUSY_SECONDS)
        except BaseException:
            engine.dispose()
            raise
        return cls(file, engine)

    def prepare_reads(self) -> None:
        super().prepare_reads()
        for statement in usual_scans():
            statement.prepared(self._dialect)

    def describe(self) -> StoreDescription:
        return StoreDescription(dialect="sqlite", location=str(self._path), schema_version=SCHEMA_VERSION)

    def _connection(self) -> Connection:
        # What is written to a file that was deleted or replaced meanwhile is lost when the last process closes it.
        if not self._closed and _identity(self._path) != self._file:
            raise MemoryStoreError(
                f"{str(self._path)!r} was deleted or replaced while it was open; nothing was written. Put the file "
                "back and open it again"
            )
        return super()._connection()

    @contextmanager
    def _transaction(
        self, project_id: str, begin: Callable[[Executor], None], end: Callable[[Executor], None] | None = None
    ) -> Iterator[tuple[Executor, SqlTransaction]]:
        with GATE.passing(), super()._transaction(project_id, begin, end) as opened:
            yield opened

    def close(self) -> None:
        with GATE.passing():
            super().close()
        if self._remove_folder is not None:
            self._remove_folder()

    def _begin_read(self, sql: Executor) -> None:
        sql.begin("BEGIN")

    def _begin_write(self, sql: Executor) -> None:
        sql.begin("BEGIN IMMEDIATE")

    def _begin_lasting_less(self, sql: Executor) -> None:
        sql.set("PRAGMA synchronous = NORMAL")
        sql.begin("BEGIN IMMEDIATE")

    def _end_lasting_less(self, sql: Executor) -> None:
        sql.set(_DURABLE)

    def _wrapped(self, error: Exception, *, committing: bool = False) -> MemoryStoreError | None:
        if not isinstance(error, sqlite3.Error):
            return None
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            return MemoryStoreError(
                f"{str(self._path)!r} stayed locked by another process for {BUSY_SECONDS:.0f} s; nothing was written, "
                "try again"
            )
        return MemoryStoreError(f"{str(self._path)!r}: {error}")
