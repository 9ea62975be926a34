"""A store over a SQL database: pooled connections, transactions, and what each database adds."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime

from sqlalchemy import Engine
from sqlalchemy.pool import PoolProxiedConnection

from memoranda.engine.ports import StoreDescription
from memoranda.engine.records import Backlog
from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.sql.backlog import backlog
from memoranda.stores.sql.connections import Connections
from memoranda.stores.sql.control import SqlControl
from memoranda.stores.sql.directory import due_projects, project_ids
from memoranda.stores.sql.listeners import CommitListeners
from memoranda.stores.sql.memories import usual as usual_memories
from memoranda.stores.sql.projects import has_tombstones
from memoranda.stores.sql.search import USUAL_HITS
from memoranda.stores.sql.search import usual as usual_search
from memoranda.stores.sql.statement import Executor
from memoranda.stores.sql.transaction import SqlTransaction
from memoranda.stores.sql.vector_scan import VectorScan

_NO_PROJECT = ""
"""What a transaction of the control plane is bound to; no project has this id."""


class SqlStore(ABC):
    """``Store`` over SQL. Thread-safe; a forked child opens its own connections."""

    def __init__(self, engine: Engine, scan: VectorScan) -> None:
        self._dialect = engine.dialect
        self._connections = Connections(engine)
        self._scan = scan
        self._listeners = CommitListeners()
        self._closed = False
        self._pid = os.getpid()
        self._writing = threading.Lock()

    def prepare_reads(self) -> None:
        """Prepare the statements of searches now; otherwise the first search of the process waits for each of them."""
        for statement in (*usual_search(), usual_memories(USUAL_HITS)):
            statement.prepared(self._dialect)

    @abstractmethod
    def describe(self) -> StoreDescription:
        """Return what this store is, for people."""

    @abstractmethod
    def _begin_read(self, sql: Executor) -> None:
        """Start a consistent view."""

    @abstractmethod
    def _begin_write(self, sql: Executor) -> None:
        """Start a durable change."""

    def _begin_lasting_less(self, sql: Executor) -> None:
        """Start a change that need not survive the loss of power; where that spares nothing, a durable one."""
        self._begin_write(sql)

    @abstractmethod
    def _wrapped(self, error: Exception) -> MemoryStoreError | None:
        """Return our error for a driver's, or None when it is not one."""

    def after_commit(self, wake: Callable[[str], None], *, project_id: str | None = None) -> Callable[[], None]:
        return self._listeners.add(wake, project_id)

    def projects(self) -> Sequence[str]:
        with self._transaction(_NO_PROJECT, self._begin_read) as (sql, _):
            return project_ids(sql)

    def due_projects(self, now: datetime) -> Sequence[str]:
        with self._transaction(_NO_PROJECT, self._begin_read) as (sql, _):
            return due_projects(sql, now)

    def backlog(self, now: datetime) -> Backlog:
        with self._transaction(_NO_PROJECT, self._begin_read) as (sql, _):
            return backlog(sql, now)

    def _connection(self) -> PoolProxiedConnection:
        if self._closed:
            raise RuntimeError("this store is closed; open it again")
        self._adopt_if_forked()
        return self._connections.take()

    def _adopt(self) -> None:
        """Take over in a forked child: the parent's connections and locks are not ours to use or close."""
        self._connections.leave_behind()
        self._writing = threading.Lock()
        self._listeners.renew_lock()
        self._pid = os.getpid()

    @contextmanager
    def read(self, project_id: str) -> Iterator[SqlTransaction]:
        with self._transaction(project_id, self._begin_read) as (_, transaction):
            yield transaction

    @contextmanager
    def write(self, project_id: str, *, durable: bool = True) -> Iterator[SqlTransaction]:
        self._adopt_if_forked()
        begin = self._begin_write if durable else self._begin_lasting_less
        # Writers of one process queue here, in order, instead of polling the database's lock.
        with self._writing, self._transaction(project_id, begin) as (sql, transaction):
            yield transaction
        if sql.enqueued:
            self._listeners.call(project_id)

    @contextmanager
    def control(self, *, write: bool = False) -> Iterator[SqlControl]:
        """Open a view or a change of the control plane (``ControlStore``)."""
        self._adopt_if_forked()
        begin = self._begin_write if write else self._begin_read
        with self._writing if write else nullcontext(), self._transaction(_NO_PROJECT, begin) as (sql, _):
            yield SqlControl(sql)

    def _adopt_if_forked(self) -> None:
        if self._pid != os.getpid():
            self._adopt()

    @contextmanager
    def _transaction(
        self, project_id: str, begin: Callable[[Executor], None]
    ) -> Iterator[tuple[Executor, SqlTransaction]]:
        connection = self._connection()
        sql = Executor(connection.cursor(), self._dialect, project_id, has_tombstones)
        try:
            begin(sql)
            yield sql, SqlTransaction(sql, self._scan)
            connection.commit()
        except BaseException as error:
            connection.rollback()
            connection.close()
            wrapped = self._wrapped(error) if isinstance(error, Exception) else None
            if wrapped is not None:
                raise wrapped from error
            raise
        self._connections.give(connection)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._connections.close()
