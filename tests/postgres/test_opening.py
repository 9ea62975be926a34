"""A store in PostgreSQL is opened by a URL, an engine, a pool or a connection; what was lent is given back."""

from __future__ import annotations

import psycopg
import pytest
from psycopg_pool import ConnectionPool
from sqlalchemy import create_engine, text

from memoranda import Memory, MemoryConfigError, MemoryRequestContext, MemoryStoreError
from memoranda.runtime.opening import open_store
from memoranda.stores.postgres.connecting import database_at
from memoranda.testing.extractors import QuietExtractor


def _use(place: object) -> None:
    with Memory.open(place, embedder=None, llm=QuietExtractor(), worker=False) as memory:
        alice = memory.bind(MemoryRequestContext(user_id="alice", session_id="s"))
        alice.record_turn(role="user", content="tea")
        assert [turn.content for turn in alice.list_turns().items] == ["tea"]


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_url_opens(postgres_url: str, scheme: str) -> None:
    _use(postgres_url.replace("postgresql", scheme, 1))


def test_an_engine_opens_and_stays_open_as_it_was(postgres_url: str) -> None:
    engine = create_engine(postgres_url.replace("postgresql", "postgresql+psycopg", 1), pool_size=1, max_overflow=0)
    _use(engine)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM turns")).scalar() == 1
        driver = connection.connection.driver_connection
        assert driver is not None
        assert driver.autocommit is False
    engine.dispose()


def test_a_pool_opens_and_stays_open_as_it_was(postgres_url: str) -> None:
    with ConnectionPool(postgres_url, min_size=1, max_size=2, open=True) as pool:
        _use(pool)
        with pool.connection() as connection:
            assert connection.autocommit is False
            assert connection.execute("SELECT count(*) FROM turns").fetchone() == (1,)


@pytest.mark.parametrize("autocommit", [True, False])
def test_a_connection_opens_and_stays_open_as_it_was(postgres_url: str, autocommit: bool) -> None:
    with psycopg.connect(postgres_url, autocommit=autocommit) as connection:
        _use(connection)
        assert connection.autocommit is autocommit
        assert connection.execute("SELECT count(*) FROM turns").fetchone() == (1,)


def test_a_closed_connection_is_an_error_that_can_be_tried_again(postgres_url: str) -> None:
    connection = psycopg.connect(postgres_url)
    connection.close()
    with pytest.raises(MemoryStoreError, match="cannot be reached"):
        open_store(connection)


@pytest.mark.parametrize("place", [7, create_engine("sqlite://")])
def test_what_is_no_store_is_named(place: object) -> None:
    with pytest.raises(MemoryConfigError, match=type(place).__name__):
        open_store(place)


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(MemoryStoreError, match="cannot open") as caught:
        open_store("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)


def test_an_address_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(MemoryStoreError, match="cannot be read"):
        open_store("postgresql://host:port/none")


@pytest.mark.parametrize(("threshold", "prepared"), [("none", 0), ("0", 1)])
def test_prepared_statements_can_be_turned_off(postgres_url: str, threshold: str, prepared: int) -> None:
    separator = "&" if "?" in postgres_url else "?"
    with database_at(f"{postgres_url}{separator}prepare_threshold={threshold}").engine() as engine:
        with engine.connect() as connection:
            connection.exec_driver_sql("SELECT %s::int", (1,))
            statements = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT $1%%'"
            assert connection.exec_driver_sql(statements).scalar() == prepared
        engine.dispose()
    with pytest.raises(MemoryConfigError, match="prepare_threshold"):
        open_store(f"{postgres_url}{separator}prepare_threshold=often")
