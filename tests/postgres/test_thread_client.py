"""The client of the thread API on PostgreSQL: every way to name the database, and what differs from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import psycopg
import pytest
from psycopg_pool import ConnectionPool
from sqlalchemy import create_engine

from memoranda.threads import AgentMemory, Message, RecordStatus

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32


def opened(connection: object, **options: Any) -> AgentMemory:
    given = {"embedder": None, "schema_policy": "create_if_necessary", "llm": "local"}
    return AgentMemory(connection=connection, **{**given, **options})


@contextmanager
def _engine(url: str) -> Iterator[object]:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
    yield engine
    engine.dispose()


PLACES: dict[str, Callable[[str], AbstractContextManager[object]]] = {
    "url": nullcontext,
    "engine": _engine,
    "pool": lambda url: ConnectionPool(url, open=True),
    "connection": lambda url: psycopg.connect(url),
}


@pytest.mark.parametrize("place", PLACES)
def test_threads_and_memories_live_in_the_database(place: str, postgres_url: str) -> None:
    with PLACES[place](postgres_url) as connection:
        client = opened(connection)
        client.add_user("u", "likes trains", {"k": [1]})
        old = client.add_memory("lives in Lyon", user_id="u", metadata={"k": {"n": 1}})
        client.add_memory("lives in Paris", memory_id_to_link=old, link_type="supersedes")
        thread = client.create_thread(thread_id="t", user_id="u")
        thread.add_messages([Message("user", "My name is Anna.", metadata={"k": [2]})])
        thread.add_image(PNG, "a train in Lyon", "image/png")
        client.wait_for_memory_extraction()

        assert client.get_memory(old).status is RecordStatus.INVALID
        found = client.search("Lyon Paris lives", user_id="u", num_hops=1, record_types=["memory"])
        assert [len(each.linked_results) for each in found] == [1, 1]
        only = client.search("lives name trains", user_id="u", metadata_filter={"k": {"n": 1}})
        assert [each.content for each in only] == ["lives in Lyon"]
        held = client.list_messages("u", metadata_filter={"k": {"$array_contains": 2}})
        assert [each.content for each in held] == ["My name is Anna."]
        assert [each.content for each in client.search("train", user_id="u", record_types=["image"])] == [
            "a train in Lyon"
        ]
        assert client.delete_user("u") == 1
        assert client.list_memories() == []
        assert client.list_messages() == []
        client._finalizer()


def test_the_policy_holds_on_a_database_too(postgres_url: str) -> None:
    with pytest.raises(RuntimeError, match="create_if_necessary"):
        opened(postgres_url, schema_policy="require_existing")
    first = opened(postgres_url, memory_store_id="a", schema_policy="create_if_empty")
    first.add_memory("x")
    other = opened(postgres_url, memory_store_id="b")
    other.add_memory("y")
    again = opened(postgres_url, memory_store_id="a", schema_policy="require_existing")
    assert len(again.list_memories()) == 1
    anew = opened(postgres_url, memory_store_id="a", schema_policy="recreate")
    assert anew.list_memories() == []
    assert len(other.list_memories()) == 1
    with pytest.raises(RuntimeError, match=r"'C'.*create_if_necessary"):
        opened(postgres_url, memory_store_id="c", schema_policy="require_existing")
    for client in (first, other, again, anew):
        client._finalizer()


def test_a_database_that_is_not_there_is_a_runtime_error_without_the_password() -> None:
    with pytest.raises(RuntimeError) as refused:
        opened("postgresql://somebody:secret@127.0.0.1:1/nothing")
    assert "secret" not in str(refused.value)
