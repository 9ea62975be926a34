"""Connections kept at hand between transactions."""

from __future__ import annotations

from typing import Any, Protocol

from sqlalchemy import Engine

KEPT = 8
"""The most idle connections; beyond it they go back to the pool, which closes what it does not keep."""


class Connection(Protocol):
    """The part of a DB-API connection that transactions use."""

    def cursor(self) -> Any: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...


class ConnectionSource(Protocol):
    """Where a store has its connections from. Thread-safe."""

    def take(self) -> Connection:
        """Return a connection outside of any transaction, for one thread, until it is given back or discarded."""
        ...

    def give(self, connection: Connection) -> None:
        """Take back a connection whose transaction has ended."""
        ...

    def discard(self, connection: Connection) -> None:
        """Take back a connection after an error; it may be broken."""
        ...

    def forget_idle(self) -> None:
        """Let go of every idle connection: the database was found gone, and they were made before."""
        ...

    def leave_behind(self) -> None:
        """Start anew in a forked child: the parent's connections are not the child's to use, close or collect."""
        ...

    def close(self) -> None:
        """Close what is idle now and the rest when it is given back."""
        ...


class Connections:
    """The connections of an engine, for one transaction after the other. Thread-safe.

    Taking one from the engine's pool and giving it back (a proxy, a weak reference, a rollback) costs as much as a
    small transaction; a list costs nothing.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._idle: list[Connection] = []
        self._left_behind: list[object] = []
        self._closed = False

    def take(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._engine.raw_connection()

    def give(self, connection: Connection) -> None:
        if len(self._idle) < KEPT:
            self._idle.append(connection)
        else:
            connection.close()
        if self._closed:
            self._drain()

    def discard(self, connection: Connection) -> None:
        connection.rollback()
        connection.close()

    def forget_idle(self) -> None:
        self._drain()
        self._engine.dispose()

    def leave_behind(self) -> None:
        self._left_behind += [self._idle, self._engine.pool]
        self._idle = []
        self._engine.dispose(close=False)

    def close(self) -> None:
        self._closed = True
        self._drain()
        self._engine.dispose()

    def _drain(self) -> None:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return
            connection.close()
