"""Connections kept at hand between transactions."""

from __future__ import annotations

from sqlalchemy import Engine
from sqlalchemy.pool import PoolProxiedConnection

KEPT = 8
"""The most idle connections; beyond it they go back to the pool, which closes what it does not keep."""


class Connections:
    """The connections of an engine, for one transaction after the other. Thread-safe.

    Taking one from the engine's pool and giving it back (a proxy, a weak reference, a rollback) costs as much as a
    small transaction; a list costs nothing.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._idle: list[PoolProxiedConnection] = []
        self._left_behind: list[object] = []
        self._closed = False

    def take(self) -> PoolProxiedConnection:
        """Return a connection outside of any transaction; ``give`` it back, or close it after an error."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._engine.raw_connection()

    def give(self, connection: PoolProxiedConnection) -> None:
        """Take back a connection whose transaction has ended."""
        if len(self._idle) < KEPT:
            self._idle.append(connection)
        else:
            connection.close()
        if self._closed:
            self._drain()

    def leave_behind(self) -> None:
        """Start anew in a forked child: the parent's connections are not the child's to use, close or collect."""
        self._left_behind += [self._idle, self._engine.pool]
        self._idle = []
        self._engine.dispose(close=False)

    def close(self) -> None:
        """Close what is idle now and the rest when it is given back."""
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
