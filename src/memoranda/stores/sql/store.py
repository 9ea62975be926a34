"""A store over a SQL database: pooled connections, transactions, and what each database adds."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime

from sqlalchemy import Dialect

from memoranda.engine.ports import StoreDescription
from memoranda.engine.records import Backlog
from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.sql.backlog import backlog
from memoranda.stores.sql.connections import Connection, ConnectionSource
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

    def __init__(self, connections: ConnectionSource, dialect: Dialect, scan: VectorScan) -> None:
        self._dialect = dialect
        self._connections = connections
        self._scan = scan
        self._listeners = CommitListeners()
        self._closed = False
        self._pid = os.getpid()
        self._renew_locks()

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

    def _end_lasting_less(self, sql: Executor) -> None:  # noqa: B027 - nothing, unless the connection remembers
        """Have the connection make durable changes again, once such a change is committed."""

    @abstractmethod
    def _wrapped(self, error: Exception, *, committing: bool = False) -> MemoryStoreError | None:
        """Return our error for a driver's, or None when it is not one; ``committing`` when it ended a commit."""

    def _is_lost(self, error: Exception) -> bool:
        """Whether an error at the start of a transaction says that the connection had been lost while it was idle."""
        return False

    def _renew_locks(self) -> None:
        """Make the locks under which the writers of this process queue; again in a forked child."""
        self._writing = threading.Lock()

    def _writing_lock(self, project_id: str) -> threading.Lock:
        """Return the lock under which the writers of a project queue in this process."""
        return self._writing

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

    def _connection(self) -> Connection:
        if self._closed:
            raise RuntimeError("this store is closed; open it again")
        self._adopt_if_forked()
        return self._connections.take()

    def _adopt(self) -> None:
        """Take over in a forked child: the parent's connections and locks are not ours to use or close."""
        self._connections.leave_behind()
        self._renew_locks()
        self._listeners.renew_lock()
        self._pid = os.getpid()

    @contextmanager
    def read(self, project_id: str) -> Iterator[SqlTransaction]:
        with self._transaction(project_id, self._begin_read) as (_, transaction):
            yield transaction

    @contextmanager
    def write(self, project_id: str, *, durable: bool = True) -> Iterator[SqlTransaction]:
        self._adopt_if_forked()
        begin, end = self._begin_write, None
        if not durable:
            begin, end = self._begin_lasting_less, self._end_lasting_less
        # Writers of one process queue here, in order, instead of polling the database's lock.
        with self._writing_lock(project_id), self._transaction(project_id, begin, end) as (sql, transaction):
            yield transaction
        if sql.enqueued:
            self._listeners.call(project_id)

    @contextmanager
    def control(self, *, write: bool = False) -> Iterator[SqlControl]:
        """Open a view or a change of the control plane (``ControlStore``)."""
        self._adopt_if_forked()
        begin = self._begin_write if write else self._begin_read
        queue = self._writing_lock(_NO_PROJECT) if write else nullcontext()
        with queue, self._transaction(_NO_PROJECT, begin) as (sql, _):
            yield SqlControl(sql)

    def _adopt_if_forked(self) -> None:
        if self._pid != os.getpid():
            self._adopt()

    @contextmanager
    def _transaction(
        self, project_id: str, begin: Callable[[Executor], None], end: Callable[[Executor], None] | None = None
    ) -> Iterator[tuple[Executor, SqlTransaction]]:
        connection, sql = self._begun(project_id, begin)
        committing = False
        try:
            yield sql, SqlTransaction(sql, self._scan)
            committing = True
            connection.commit()
            if end is not None:
                end(sql)
        except BaseException as error:
            self._connections.discard(connection)
            _raise_wrapped(self, error, committing=committing)
            raise
        self._connections.give(connection)

    def _begun(self, project_id: str, begin: Callable[[Executor], None]) -> tuple[Connection, Executor]:
        """Start a transaction; a connection that was lost while it was idle is no reason to fail."""
        try:
            return self._begin(project_id, begin)
        except Exception as error:
            if not self._is_lost(error):
                _raise_wrapped(self, error)
                raise
        self._connections.forget_idle()
        try:
            return self._begin(project_id, begin)
        except Exception as error:
            _raise_wrapped(self, error)
            raise

    def _begin(self, project_id: str, begin: Callable[[Executor], None]) -> tuple[Connection, Executor]:
        connection = self._connection()
        try:
            sql = Executor(connection.cursor(), self._dialect, project_id, has_tombstones)
            begin(sql)
        except BaseException:
            self._connections.discard(connection)
            raise
        return connection, sql

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._connections.close()


def _raise_wrapped(store: SqlStore, error: BaseException, *, committing: bool = False) -> None:
    """Raise our error for a driver's."""
    wrapped = store._wrapped(error, committing=committing) if isinstance(error, Exception) else None
    if wrapped is not None:
        raise wrapped from error
