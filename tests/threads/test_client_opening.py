"""What a client is opened with: arguments, schema policies, projects, stores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from memoranda.stores.sqlite import SqliteStore
from memoranda.threads import (
    AgentMemory,
    MemoryExtractionConfig,
    MemoryRetentionConfig,
    PruningMemorySearchConfig,
    SchemaPolicy,
    SearchIndexSyncMode,
    SearchStrategy,
    TopKMemorySearchConfig,
)
from tests.threads.clients import Bench, ClientOpener, bench, opened, said
from tests.threads.scripted import ScriptedLlm

__all__ = ["bench", "opened"]

CREATE = SchemaPolicy.CREATE_IF_NECESSARY


WRONG: dict[str, tuple[type[Exception], str, dict[str, object]]] = {
    "no store": (ValueError, "connection", {"connection": None}),
    "both": (ValueError, "both", {"store": object(), "connection": "x"}),
    "no connection": (TypeError, "connection", {"connection": 3}),
    "policy": (ValueError, "create_if_empty", {"schema_policy": "CREATE_IF_NECESSARY"}),
    "no check": (RuntimeError, "no_check", {"schema_policy": SchemaPolicy.NO_CHECK}),
    "store id": (ValueError, "memory_store_id", {"memory_store_id": "1abc"}),
    "long store id": (ValueError, "memory_store_id", {"memory_store_id": "a" * 17}),
    "two projects": (ValueError, "memory_store_id", {"memory_store_id": "a", "table_name_prefix": "b"}),
    "prefix": (ValueError, "table_name_prefix", {"table_name_prefix": "a-b"}),
    "prefix and policy": (ValueError, "table_name_prefix", {"table_name_prefix": "a_", "schema_policy": CREATE}),
    "owner": (ValueError, "schema_owner", {"schema_owner": "scott"}),
    "strategy": (TypeError, "SearchStrategy", {"search_strategy": "vector"}),
    "sync of vectors": (
        ValueError,
        "search_index_sync",
        {"search_strategy": SearchStrategy.VECTOR, "search_index_sync": SearchIndexSyncMode.ON_COMMIT},
    ),
    "automatic sync": (
        ValueError,
        "HYBRID",
        {"search_strategy": SearchStrategy.KEYWORD, "search_index_sync": SearchIndexSyncMode.AUTO},
    ),
    "vectors without embedder": (
        ValueError,
        "embedder",
        {"search_strategy": SearchStrategy.VECTOR, "embedder": None, "schema_policy": CREATE},
    ),
    "two extraction styles": (
        ValueError,
        "memory_extraction_config",
        {"memory_extraction_config": MemoryExtractionConfig(), "extract_memories": False},
    ),
    "pruner and search": (
        ValueError,
        "pruner_llm",
        {"pruner_llm": ScriptedLlm(), "search_config": TopKMemorySearchConfig()},
    ),
    "search config": (TypeError, "search_config", {"search_config": "top_k"}),
    "model": (TypeError, "ILlm", {"llm": 3}),
    "embedder": (TypeError, "IEmbedder", {"embedder": 3, "schema_policy": CREATE}),
    "token": (ValueError, "token", {"token": "secret"}),
    "retention": (ValueError, "default_ttl_days", {"memory_retention_config": MemoryRetentionConfig(0)}),
    "retention above": (ValueError, "max_ttl_days", {"memory_retention_config": MemoryRetentionConfig(9, 3)}),
    "server": (ValueError, "server", {"connection": "http://localhost:1"}),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_argument_that_cannot_be_is_refused_and_nothing_is_created(name: str, tmp_path: Path) -> None:
    error, words, options = WRONG[name]
    given = {"connection": tmp_path / "memory.db", **options}
    if name == "no store":
        given = {}
    with pytest.raises(error, match=words):
        AgentMemory(**given)  # type: ignore[arg-type]  # wrong on purpose
    assert list(tmp_path.iterdir()) == []


def test_connection_none_is_no_connection() -> None:
    with pytest.raises(TypeError, match="None"):
        AgentMemory(connection=None)


def test_arguments_are_keywords() -> None:
    with pytest.raises(TypeError, match="positional"):
        AgentMemory("memory.db")  # type: ignore[call-arg]  # wrong on purpose


@pytest.mark.parametrize(
    "option",
    [
        {"schema_policy": CREATE},
        {"memory_store_id": "a"},
        {"table_name_prefix": "a"},
        {"search_strategy": SearchStrategy.HYBRID},
        {"search_index_sync": SearchIndexSyncMode.ON_COMMIT},
        {"memory_retention_config": MemoryRetentionConfig()},
        {"schema_owner": "x"},
    ],
    ids=lambda option: next(iter(option)),
)
def test_options_of_a_store_that_is_opened_are_not_for_a_ready_one(option: dict[str, Any], bench: Bench) -> None:
    with pytest.raises(ValueError, match=next(iter(option))):
        AgentMemory(store=bench.engine(), **option)


@pytest.mark.parametrize("store", [None, object()], ids=["none", "object"])
def test_what_is_no_store_is_refused_at_once(store: object) -> None:
    with pytest.raises(TypeError, match="store"):
        AgentMemory(store=store)


def test_deprecated_extraction_arguments_work_and_name_their_field(bench: Bench) -> None:
    with pytest.warns(DeprecationWarning, match="MemoryExtractionConfig"):
        client = bench.client(extract_memories=False)
    assert client.create_thread(user_id="u").user_id == "u"


def test_the_prefix_is_deprecated_and_names_a_project(opened: ClientOpener) -> None:
    opened(memory_store_id="DEV_").add_memory("x", user_id="u")
    with pytest.warns(DeprecationWarning, match="memory_store_id"):
        client = opened(table_name_prefix="DEV_", schema_policy="require_existing")
    assert [each.content for each in client.list_memories("u")] == ["x"]


# --- schema policies


def test_a_new_file_is_not_created_unless_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="create_if_necessary"):
        AgentMemory(connection=tmp_path / "memory.db")
    assert list(tmp_path.iterdir()) == []


def test_a_project_is_not_created_unless_that_is_said(opened: ClientOpener) -> None:
    opened()
    with pytest.raises(RuntimeError, match=r"'OTHER'.*create_if_necessary"):
        opened(memory_store_id="other", schema_policy="require_existing")


@pytest.mark.parametrize("policy", ["require_existing", "create_if_empty", "create_if_necessary"])
def test_what_is_there_is_opened_as_it_is(policy: str, opened: ClientOpener) -> None:
    opened().add_memory("x", user_id="u")
    again = opened(schema_policy=policy)
    assert [each.content for each in again.list_memories("u")] == ["x"]


@pytest.mark.parametrize("policy", ["create_if_empty", "create_if_necessary", "recreate"])
def test_what_is_not_there_is_created(policy: str, opened: ClientOpener) -> None:
    client = opened(schema_policy=policy)
    assert client.list_memories() == []


def test_recreating_empties_one_project(opened: ClientOpener) -> None:
    for name in ("a", "b"):
        opened(memory_store_id=name).add_memory(name, user_id="u")
    assert opened(memory_store_id="a", schema_policy="recreate").list_memories() == []
    assert len(opened(memory_store_id="b").list_memories()) == 1


def test_a_file_of_another_program_is_left_alone(tmp_path: Path, opened: ClientOpener) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"not a database, but quite some text" * 100)
    with pytest.raises(RuntimeError):
        opened()
    assert path.read_bytes().startswith(b"not a database")


def test_a_store_id_is_compared_in_capitals(opened: ClientOpener) -> None:
    opened(memory_store_id="dev").add_memory("x", user_id="u")
    assert len(opened(memory_store_id="DEV").list_memories()) == 1


# --- what a client stands on


def _path(path: Path) -> object:
    return path


def _text(path: Path) -> object:
    return str(path)


def _url(path: Path) -> object:
    return f"sqlite:///{path}"


@pytest.mark.parametrize("form", [_path, _text, _url])
def test_a_store_in_a_file_is_named_in_three_ways(
    form: Callable[[Path], object], tmp_path: Path, opened: ClientOpener
) -> None:
    opened().add_memory("x", user_id="u")
    client = opened(connection=form(tmp_path / "memory.db"), schema_policy="require_existing")
    assert [each.content for each in client.list_memories("u")] == ["x"]


def test_a_store_in_memory_needs_no_policy(opened: ClientOpener) -> None:
    client = opened(connection=":memory:", schema_policy="require_existing")
    client.add_memory("x", user_id="u")
    assert len(client.list_memories("u")) == 1


def test_an_engine_of_another_database_is_no_connection() -> None:
    with pytest.raises((TypeError, ImportError)):
        AgentMemory(connection=create_engine("sqlite://"))


def test_a_ready_store_and_a_ready_engine_stay_open(bench: Bench) -> None:
    store = SqliteStore.open(bench.path)
    first = AgentMemory(store=store, embedder=None)
    first.add_memory("x", user_id="u")
    first.close()
    engine = bench.engine()
    second = AgentMemory(store=engine, embedder="ignored")
    assert [each.content for each in second.list_memories("u")] == ["x"]
    second.close()
    assert engine.project().project_id == "default"
    assert list(store.projects()) == ["default"]
    store.close()


def test_a_search_strategy_says_what_is_asked(opened: ClientOpener) -> None:
    words = opened(search_strategy=SearchStrategy.KEYWORD)
    words.add_memory("trains leave at noon", user_id="u")
    assert said(words.search("trains", user_id="u")) == {"trains leave at noon"}
    assert words.search("railways", user_id="u") == []
    vectors = opened(search_strategy=SearchStrategy.VECTOR, embedder="local")
    vectors.wait_for_memory_extraction()
    assert said(vectors.search("railways", user_id="u")) == {"trains leave at noon"}


def test_a_pruner_is_a_search_configuration(bench: Bench) -> None:
    client = bench.client(pruner_llm=ScriptedLlm())
    assert isinstance(client._parts.search_config, PruningMemorySearchConfig)
