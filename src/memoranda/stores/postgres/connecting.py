"""Where a PostgreSQL store has its connections from: a URL, or what the caller has already."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol, TypeAlias, TypeGuard, cast

import psycopg
from psycopg_pool import ConnectionPool
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import PoolProxiedConnection, QueuePool, StaticPool

from memoranda.sdk.errors import MemoryConfigError, MemoryStoreError
from memoranda.stores.sql.connections import Connection, Connections, ConnectionSource

logger = logging.getLogger(__name__)

POOL_SIZE: Final = 10
"""The most connections that stay open between transactions."""
POOL_OVERFLOW: Final = 20
"""How many more are opened under load; a call beyond them waits for its turn."""
POOL_WAIT_SECONDS: Final = 30.0
CONNECT_SECONDS: Final = 10

_DRIVER: Final = "postgresql+psycopg"
_SCHEMES: Final = ("postgresql", "postgres", _DRIVER)
_PREPARE: Final = "prepare_threshold"

PsycopgConnection: TypeAlias = psycopg.Connection[tuple[object, ...]]
Lent: TypeAlias = "Engine | ConnectionPool[PsycopgConnection] | PsycopgConnection"
"""What a caller may bring in place of a URL; it stays the caller's to close."""


class Database(Protocol):
    """A database as a store needs it."""

    location: str
    connections: ConnectionSource

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """Lend an engine for changes of the schema."""
        ...


def is_postgres_url(text: str) -> bool:
    """Return whether a text names a PostgreSQL database."""
    return text.partition("://")[0].lower() in _SCHEMES


def is_lent(given: object) -> TypeGuard[Lent]:
    """Return whether an object is an engine, a pool or a connection of PostgreSQL."""
    if isinstance(given, Engine):
        return given.dialect.name == "postgresql" and given.dialect.driver == "psycopg"
    return isinstance(given, ConnectionPool | psycopg.Connection)


def database_at(url: str) -> Database:
    """Return the database that a URL names, not connected to yet."""
    engine = _engine(_url(url))
    return _OverEngine(engine, PooledConnections(engine))


def database_of(given: Lent) -> Database:
    """Return the database of an engine, a pool or a connection, which stay the caller's."""
    return _OverEngine(given, _LentByEngine(given)) if isinstance(given, Engine) else _OfPsycopg(given)


def _url(text: str) -> URL:
    try:
        return make_url(text).set(drivername=_DRIVER)
    except (ArgumentError, ValueError) as error:
        raise MemoryStoreError(
            "the address of the database cannot be read: write postgresql://user:password@host:5432/database"
        ) from error


def _shown(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=True)


def _engine(url: URL) -> Engine:
    threshold = url.query.get(_PREPARE)
    arguments: dict[str, object] = {"connect_timeout": CONNECT_SECONDS, "application_name": "memoranda"}
    if threshold is not None:
        arguments[_PREPARE] = _prepare_threshold(threshold)
    engine = create_engine(
        url.difference_update_query([_PREPARE]),
        poolclass=QueuePool,
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_timeout=POOL_WAIT_SECONDS,
        connect_args=arguments,
        use_native_hstore=False,
    )
    event.listen(engine, "connect", _configure)
    return engine


def _prepare_threshold(text: str | tuple[str, ...]) -> int | None:
    if text == "none":
        return None
    if isinstance(text, str) and text.isdecimal():
        return int(text)
    raise MemoryConfigError(f"{_PREPARE}={text!r} in the address of the database: write a number, or none")


def _configure(connection: PsycopgConnection, _record: object) -> None:
    """Set up a new connection: transactions are ours to begin."""
    connection.autocommit = True


class PooledConnections(Connections):
    """Connections of an engine of PostgreSQL, which may break at any moment."""

    def discard(self, connection: Connection) -> None:
        try:
            connection.rollback()
        except psycopg.Error:
            cast(PoolProxiedConnection, connection).invalidate()
        connection.close()


class _OverEngine:
    """The database of an engine: ours, by its URL, or the caller's."""

    def __init__(self, engine: Engine, connections: ConnectionSource) -> None:
        self._engine = engine
        self.location = _shown(engine.url)
        self.connections = connections

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        yield self._engine


class _LentByEngine:
    """Connections of the caller's engine, each given back as it was lent."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._left_behind: list[object] = []

    def take(self) -> Connection:
        connection = self._engine.raw_connection()
        cast(PsycopgConnection, connection.driver_connection).autocommit = True
        return connection

    def give(self, connection: Connection) -> None:
        lent = cast(PoolProxiedConnection, connection)
        cast(PsycopgConnection, lent.driver_connection).autocommit = False
        lent.close()

    def discard(self, connection: Connection) -> None:
        try:
            connection.rollback()
        except psycopg.Error:
            cast(PoolProxiedConnection, connection).invalidate()
            connection.close()
            return
        self.give(connection)

    def forget_idle(self) -> None:
        self._engine.dispose()

    def leave_behind(self) -> None:
        self._left_behind.append(self._engine.pool)
        self._engine.dispose(close=False)

    def close(self) -> None:
        """The engine stays open for its owner."""


class _OfPsycopg:
    """The database of the caller's pool or connection."""

    def __init__(self, given: ConnectionPool[PsycopgConnection] | PsycopgConnection) -> None:
        self._lending = _LentByPool(given) if isinstance(given, ConnectionPool) else _LentConnection(given)
        self.connections: ConnectionSource = self._lending
        connection = self._lending.take()
        info = cast(PsycopgConnection, connection).info
        self.location = f"postgresql://{info.user}@{info.host}:{info.port}/{info.dbname}"
        self._lending.give(connection)

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        connection = self._lending.take()
        try:
            # Never disposed of: that would close a connection that is not ours.
            yield create_engine(
                f"{_DRIVER}://", creator=lambda: connection, poolclass=StaticPool, use_native_hstore=False
            )
        finally:
            cast(PsycopgConnection, connection).autocommit = True
            self._lending.give(connection)


class _LentByPool:
    """Connections of the caller's pool."""

    def __init__(self, pool: ConnectionPool[PsycopgConnection]) -> None:
        self._pool = pool
        self._modes: dict[int, bool] = {}

    def take(self) -> Connection:
        connection = self._pool.getconn()
        self._modes[id(connection)] = connection.autocommit
        connection.autocommit = True
        return connection

    def give(self, connection: Connection) -> None:
        lent = cast(PsycopgConnection, connection)
        mode = self._modes.pop(id(lent))
        if not lent.closed:
            lent.autocommit = mode
        self._pool.putconn(lent)

    def discard(self, connection: Connection) -> None:
        _roll_back(connection)
        self.give(connection)

    def forget_idle(self) -> None:
        self._pool.check()

    def leave_behind(self) -> None:
        raise MemoryStoreError("a connection pool does not survive a fork: open the store again in the child process")

    def close(self) -> None:
        """The pool stays open for its owner."""


class _LentConnection:
    """The caller's connection, for one transaction at a time."""

    def __init__(self, connection: PsycopgConnection) -> None:
        self._connection = connection
        self._mode = connection.autocommit
        self._free = threading.Lock()

    def take(self) -> Connection:
        self._free.acquire()
        try:
            self._mode = self._connection.autocommit
            self._connection.autocommit = True
        except BaseException:
            self._free.release()
            raise
        return self._connection

    def give(self, connection: Connection) -> None:
        if not self._connection.closed:
            self._connection.autocommit = self._mode
        self._free.release()

    def discard(self, connection: Connection) -> None:
        _roll_back(connection)
        self.give(connection)

    def forget_idle(self) -> None:
        """There is no other."""

    def leave_behind(self) -> None:
        raise MemoryStoreError("a connection does not survive a fork: open the store again in the child process")

    def close(self) -> None:
        """The connection stays open for its owner."""


def _roll_back(connection: Connection) -> None:
    try:
        connection.rollback()
    except psycopg.Error as error:
        logger.info("store.connection_lost", extra={"reason": type(error).__name__})


def first_line(error: Exception) -> str:
    """Return what a driver's error says, without the statement and the hints."""
    cause = getattr(error, "orig", None) or error
    return str(cause).strip().partition("\n")[0] or type(cause).__name__
