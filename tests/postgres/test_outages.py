"""Connections that are cut, a server that goes away: errors that can be tried again, nothing lost or doubled."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import cast

import psycopg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import QueuePool

from memoranda import Memory, MemoryRequestContext, MemoryStoreError
from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.runtime.fleet import Fleet, FleetSettings
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked, open_store
from memoranda.stores.postgres import PostgresStore
from memoranda.testing import postgres, postgres_integrity
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.extractors import QuietExtractor, ScriptedExtractor

PROJECT = "p"
WRITERS, TURNS = 4, 60


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore.open(postgres_url)) as store:
        yield store


def cut_connections(url: str) -> int:
    """End every other connection to the database; return how many there were."""
    with psycopg.connect(url, autocommit=True) as connection:
        return len(
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ).fetchall()
        )


def test_connections_cut_while_they_are_idle_are_made_anew(store: PostgresStore, postgres_url: str) -> None:
    with store.read(PROJECT), store.read(PROJECT):
        """Two connections are open from now on."""
    assert cut_connections(postgres_url) >= 2
    with store.write(PROJECT) as tx:
        assert tx.projects.get() is None
    with store.read(PROJECT), store.read(PROJECT):
        """And two again."""


def _change(store: PostgresStore, url: str, *, at_the_end: bool) -> None:
    """Make a change whose connection is cut: at its end, or before its last statement."""
    with store.write(PROJECT) as tx:
        if not at_the_end:
            cut_connections(url)
        tx.projects.get()
        if at_the_end:
            cut_connections(url)


def test_a_connection_cut_inside_a_transaction_is_an_error_to_try_again(
    store: PostgresStore, postgres_url: str
) -> None:
    with pytest.raises(MemoryStoreError, match="nothing was written, try again"):
        _change(store, postgres_url, at_the_end=False)
    with store.write(PROJECT) as tx:
        assert tx.projects.get() is None


def test_a_connection_cut_before_its_commit_leaves_open_whether_it_was_made(
    store: PostgresStore, postgres_url: str
) -> None:
    with pytest.raises(MemoryStoreError, match="as a whole or not at all") as caught:
        _change(store, postgres_url, at_the_end=True)
    assert caught.value.code == "COMMIT_UNKNOWN"


def _record(memory: Memory, writer: int, stop: threading.Event, errors: list[BaseException]) -> None:
    """Record turns as a caller should: again with the same key until it is acknowledged."""
    handle = memory.bind(MemoryRequestContext(user_id=f"user {writer}", session_id="s"))
    try:
        for number in range(TURNS):
            while True:
                try:
                    handle.record_turn(role="user", content=f"turn {number}", idempotency_key=str(number))
                    break
                except MemoryStoreError as error:
                    errors.append(error)
                    if stop.wait(0.05):
                        return
    except BaseException as error:
        errors.append(error)
        raise


@pytest.fixture
def outage() -> Iterator[tuple[postgres.RestartableServer, str]]:
    with postgres.restartable_server() as server, postgres.database(server.url) as url:
        yield server, url


@contextmanager
def working(url: str) -> Iterator[tuple[Fleet, Memory]]:
    """Run a fleet and a handle of the project, each on a pool of its own."""
    asked = Asked(HashedEmbedder(), QuietExtractor(), None, None)
    with closing(EngineHost(open_store(url), asked=asked, create_projects=True)) as host:
        fleet = Fleet(host, FleetSettings(threads=2, poll_seconds=0.1))
        fleet.start()
        opened = Memory.open(url, project_id=PROJECT, embedder=HashedEmbedder(), llm=QuietExtractor(), worker=False)
        with opened as memory:
            try:
                yield fleet, memory
            finally:
                fleet.stop()


@pytest.mark.timeout(240)
def test_a_server_restarted_under_load_loses_and_doubles_nothing(
    outage: tuple[postgres.RestartableServer, str],
) -> None:
    server, url = outage
    stop, errors = threading.Event(), list[BaseException]()
    with working(url) as (fleet, memory):
        writers = [threading.Thread(target=_record, args=(memory, number, stop, errors)) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        try:
            server.stop()
            time.sleep(0.2)
            server.start()
            for writer in writers:
                writer.join(90)
            assert not any(writer.is_alive() for writer in writers)
        finally:
            stop.set()
        assert {type(error) for error in errors} == {MemoryStoreError}
        memory.wait_until_idle(timeout=60)
        for number in range(WRITERS):
            handle = memory.bind(MemoryRequestContext(user_id=f"user {number}", session_id="s"))
            turns = handle.list_turns(limit=TURNS + 10).items
            assert sorted(turn.content or "" for turn in turns) == sorted(f"turn {each}" for each in range(TURNS))
            assert sorted(turn.turn_seq for turn in turns) == list(range(1, TURNS + 1))
        assert fleet.running
        assert fleet.jobs_done > 0
    assert postgres_integrity.check(url) == []


class IdlePool:
    """An embedder and an extractor that look whether anybody holds a connection while they are asked."""

    def __init__(self, url: str) -> None:
        self.engine = create_engine(url.replace("postgresql", "postgresql+psycopg", 1))
        self.held: list[int] = []
        self.embedder = HashedEmbedder(refuses=lambda _: self._look())
        self.extractor = ScriptedExtractor(self._extract)

    def _look(self) -> None:
        self.held.append(cast(QueuePool, self.engine.pool).checkedout())

    def _extract(self, turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        self._look()
        return ()


def test_no_connection_is_held_while_a_model_is_asked(postgres_url: str) -> None:
    pool = IdlePool(postgres_url)
    try:
        opened = Memory.open(pool.engine, embedder=pool.embedder, llm=pool.extractor, worker=False)
        with opened as memory:
            alice = memory.bind(MemoryRequestContext(user_id="alice", session_id="s"))
            alice.record_turn(role="user", content="I drink tea")
            alice.save_semantic(label="drink", text="tea is a drink")
            alice.search("tea")
            alice.build_context("tea", enabled_sources={"stm"}, include_memories=True)
            memory.promote()
            memory.wait_until_idle(timeout=60)
        assert pool.extractor.calls
        assert len(pool.embedder.calls) >= 4
        assert set(pool.held) == {0}
    finally:
        pool.engine.dispose()
