"""Whose records a client's search sees, and what its arguments say."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.testing.embedders import HashedEmbedder
from memoranda.threads import AgentMemory, Scope, SearchScope, TopKMemorySearchConfig
from tests.threads.clients import Bench, bench, client, said

__all__ = ["bench", "client"]

OWNERS: tuple[tuple[str | None, str | None, str | None], ...] = (
    ("u", "a", "t"),
    ("u", "a", "s"),
    ("u", "b", "t"),
    ("u", "a", None),
    ("u", None, None),
    (None, "a", "t"),
    (None, None, None),
    ("v", "a", "t"),
)


def name(owners: tuple[str | None, str | None, str | None]) -> str:
    return "trains " + "/".join(owner or "-" for owner in owners)


@pytest.fixture
def world(client: AgentMemory) -> AgentMemory:
    """One memory for each combination of owners."""
    for user, agent, thread in OWNERS:
        client.add_memory(name((user, agent, thread)), user_id=user, agent_id=agent, thread_id=thread)
    return client


SCOPES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a user": ({"user_id": "u"}, {"u/a/t", "u/a/s", "u/b/t", "u/a/-", "u/-/-"}),
    "nobody": ({"user_id": None}, {"-/a/t", "-/-/-"}),
    "an agent is exact where it is given": ({"user_id": "u", "agent_id": "a"}, {"u/a/t", "u/a/s", "u/a/-"}),
    "without an agent": ({"user_id": "u", "agent_id": None}, {"u/-/-"}),
    "an agent that need not match": (
        {"user_id": "u", "agent_id": "b", "exact_agent_match": False},
        {"u/a/t", "u/a/s", "u/b/t", "u/a/-", "u/-/-"},
    ),
    "a thread does not restrict by itself": (
        {"user_id": "u", "thread_id": "t"},
        {"u/a/t", "u/a/s", "u/b/t", "u/a/-", "u/-/-"},
    ),
    "a thread that has to match": (
        {"user_id": "u", "thread_id": "t", "exact_thread_match": True},
        {"u/a/t", "u/b/t"},
    ),
    "without a thread": (
        {"user_id": "u", "thread_id": None, "exact_thread_match": True},
        {"u/a/-", "u/-/-"},
    ),
    "all three": (
        {"user_id": "u", "agent_id": "a", "thread_id": "s", "exact_thread_match": True, "exact_user_match": True},
        {"u/a/s"},
    ),
    "a scope": ({"scope": SearchScope("u", "b")}, {"u/b/t"}),
    "a scope with a thread": ({"scope": SearchScope("u", thread_id="s", exact_thread_match=True)}, {"u/a/s"}),
    "a plain scope": ({"scope": Scope(None, None)}, {"-/-/-"}),
}


@pytest.mark.parametrize("case", SCOPES)
def test_a_search_sees_what_its_scope_says(case: str, world: AgentMemory) -> None:
    arguments, expected = SCOPES[case]
    assert said(world.search("trains", **arguments)) == {f"trains {each}" for each in expected}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"agent_id": "a"},
        {"user_id": "u", "exact_user_match": False},
        {"scope": SearchScope(agent_id="a")},
        {"scope": SearchScope("u", exact_user_match=False)},
        {"scope": SearchScope("u"), "user_id": "u"},
        {"scope": SearchScope("u"), "exact_thread_match": True},
        {"user_id": ""},
        {"user_id": "u", "exact_thread_match": True},
    ],
    ids=str,
)
def test_a_scope_that_cannot_be_is_refused(arguments: dict[str, Any], client: AgentMemory) -> None:
    with pytest.raises(ValueError, match=r"user|scope|thread"):
        client.search("trains", **arguments)


@pytest.mark.parametrize("query", ["", "  ", None, 3])
def test_a_query_says_something(query: Any, client: AgentMemory) -> None:
    with pytest.raises(ValueError, match="query"):
        client.search(query, user_id="u")


def test_ten_results_unless_another_number_is_said(bench: Bench) -> None:
    client = bench.client()
    for number in range(15):
        client.add_memory(f"trains {number}", user_id="u")
    assert len(client.search("trains", user_id="u")) == 10
    assert len(client.search("trains", user_id="u", max_results=None)) == 10
    assert len(client.search("trains", user_id="u", max_results=3)) == 3
    assert len(client.search("trains", user_id="u", max_results=99)) == 15
    with pytest.raises(ValueError, match="max_results"):
        client.search("trains", user_id="u", max_results=0)
    narrow = AgentMemory(store=client._opened.backend.engine, search_config=TopKMemorySearchConfig(max_results=2))
    assert len(narrow.search("trains", user_id="u")) == 2


def test_types_restrict_and_unknown_ones_match_nothing(client: AgentMemory) -> None:
    for kind in ("memory", "fact", "preference", "guideline"):
        client.add_memory(f"trains {kind}", memory_type=kind, user_id="u")
    client.add_user("u", "trains profile")
    thread = client.create_thread(user_id="u", llm="local")
    thread.add_messages([{"role": "user", "content": "trains message"}])

    def found(*types: str) -> set[object]:
        return said(client.search("trains", user_id="u", record_types=list(types)))

    assert found("fact", "preference") == {"trains fact", "trains preference"}
    assert found("memory") == {"trains memory"}
    assert found("message") == {"trains message"}
    assert found("user_profile") == {"trains profile"}
    assert found("unknown") == set()
    assert found() == set()
    assert len(said(client.search("trains", user_id="u"))) == 6


def test_metadata_restricts_every_type(client: AgentMemory) -> None:
    given: dict[str, dict[str, object] | None] = {
        "one": {"k": {"n": 1}, "tags": ["x", "y"]},
        "two": {"k": {"n": 2}},
        "none": None,
    }
    for content, metadata in given.items():
        client.add_memory(f"trains {content}", user_id="u", metadata=metadata)
    client.add_user("u", "trains profile", {"tags": ["x"]})
    thread = client.create_thread(user_id="u", llm="local")
    thread.add_messages([{"role": "user", "content": "trains message", "metadata": {"tags": ["y"]}}])

    def found(condition: dict[str, object] | None) -> set[object]:
        return {
            str(each).removeprefix("trains ")
            for each in said(client.search("trains", user_id="u", metadata_filter=condition))
        }

    assert found({"k": {"n": 1}}) == {"one"}
    assert found({"tags": {"$array_contains": "x"}}) == {"one", "profile"}
    assert found({"tags": {"$array_contains_any": ["y", "z"]}}) == {"one", "message"}
    assert found({"tags": {"$not": {"$array_contains": "x"}}}) == {"two", "none", "message"}
    assert found(None) == found({}) == {"one", "two", "none", "profile", "message"}
    with pytest.raises(ValueError, match="operator"):
        found({"k": {"$gt": 1}})


def test_superseded_memories_are_found_unless_they_are_not_wanted(client: AgentMemory) -> None:
    old = client.add_memory("trains old", user_id="u")
    client.add_memory("trains new", memory_id_to_link=old, link_type="supersedes")
    assert said(client.search("trains", user_id="u")) == {"trains old", "trains new"}
    assert said(client.search("trains", user_id="u", include_invalid_results=False)) == {"trains new"}


@pytest.mark.parametrize("embedder", [None, HashedEmbedder()], ids=["words", "words and vectors"])
def test_results_come_nearest_first(embedder: HashedEmbedder | None, bench: Bench) -> None:
    client = bench.client(embedder)
    client.add_memory("a train to Lyon", user_id="u")
    client.add_memory("a train to Lyon and a boat to Corsica", user_id="u")
    client.add_user("u", "likes Lyon")
    results = client.search("train to Lyon", user_id="u")
    distances = [each.distance for each in results]
    assert results[0].content == "a train to Lyon"
    assert distances == sorted(distances)
    assert all(0 <= each <= 1 for each in distances)


def test_budgets_cut_the_results(client: AgentMemory) -> None:
    for number in range(5):
        client.add_memory(f"trains {number} " + "x" * 300, user_id="u")
    assert client.search("trains", user_id="u", token_budget=10) == []
    assert len(client.search("trains", user_id="u", soft_token_budget=10)) == 1
    assert 0 < len(client.search("trains", user_id="u", token_budget=300)) < 5


def test_the_output_is_the_same_for_the_same_question(world: AgentMemory) -> None:
    first, second = ([each.formatted_content for each in world.search("trains", user_id="u")] for _ in range(2))
    assert first == second
