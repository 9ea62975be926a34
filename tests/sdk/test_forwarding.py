"""What reaches the runtime: the shared contract exactly, and ours only when set."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from memoranda import (
    ChunkExplanation,
    CreateSemanticResult,
    Memory,
    MemoryManagement,
    MemoryRequestContext,
    MemoryRuntime,
    MemorySource,
    RetrievalMode,
    SourceSpec,
)
from memoranda.sdk.protocol import AmbientIdentityRuntime, MemoryCrudClient
from tests.sdk.recording import NOW, SHARED_CONTRACT, AmbientRuntime, CoreRuntime, FullRuntime, chunk, over

U1 = MemoryRequestContext(user_id="u1", agent_id="a1", session_id="s1")
SEMANTIC = [SourceSpec(source=MemorySource.SEMANTIC)]

Call = Callable[..., Any]


@pytest.fixture
def runtime() -> FullRuntime:
    return FullRuntime()


@pytest.fixture
def memory(runtime: FullRuntime) -> Memory:
    return over(runtime, runtime).bind(U1)


SAVES: dict[str, tuple[str, Call]] = {
    "save_semantic": ("create_semantic", lambda m, **more: m.save_semantic(text="t", label="l", **more)),
    "save_episode": ("create_episodic", lambda m, **more: m.save_episode(title="t", content="c", **more)),
    "save_taxonomic": (
        "create_taxonomic",
        lambda m, **more: m.save_taxonomic(domain="d", term="t", definition="x", **more),
    ),
    "save_procedure": (
        "create_procedural",
        lambda m, **more: m.save_procedure(procedure="p", description="d", content="c", **more),
    ),
    "save": ("create_custom", lambda m, **more: m.save("tickets", "c", **more)),
}
SEARCHES: dict[str, tuple[str, Call]] = {
    "search_semantic": ("search_semantic", lambda m, **more: m.search_semantic("q", **more)),
    "search_episodes": ("search_episodes", lambda m, **more: m.search_episodes("q", **more)),
    "search_taxonomic": ("search_taxonomic", lambda m, **more: m.search_taxonomic("q", **more)),
    "discover_procedures": ("discover_procedures", lambda m, **more: m.discover_procedures("q", **more)),
    "retrieve": ("retrieve_custom", lambda m, **more: m.retrieve("tickets", "q", **more)),
}
CONTEXTS: dict[str, tuple[str, Call]] = {
    "build_context": ("build_context", lambda m, **more: m.build_context("q", **more)),
    "build_context_from_sources": (
        "build_context_from_sources",
        lambda m, **more: m.build_context_from_sources("q", SEMANTIC, **more),
    ),
}
GETS: dict[str, tuple[str, Call]] = {
    "get_semantic": ("get_semantic", lambda m, **more: m.get_semantic("l", **more)),
    "get_taxonomic_term": ("get_taxonomic", lambda m, **more: m.get_taxonomic_term("d", "t", **more)),
    "get_procedure": ("get_procedural", lambda m, **more: m.get_procedure("p", **more)),
    "list_episodes": ("list_episodic", lambda m, **more: m.list_episodes(**more)),
    "list_domains": ("get_distinct_domains", lambda m, **more: m.list_domains(**more)),
}
TURN: dict[str, tuple[str, Call]] = {"record_turn": ("record_turn", lambda m, **more: m.record_turn(role="u", **more))}
ALL = SAVES | SEARCHES | CONTEXTS | GETS | TURN


@pytest.mark.parametrize(("name", "call"), ALL.values(), ids=ALL)
def test_without_ours_exactly_the_shared_contract_is_passed(
    memory: Memory, runtime: FullRuntime, name: str, call: Call
) -> None:
    call(memory)
    # Identity that the shared contract does not carry reaches a client that is the platform, as this one is.
    stamped = {"user_id", "agent_id"} if name.endswith(("_custom", "_domains")) else set()
    assert runtime.names == [name]
    assert set(runtime.last) - stamped == set(SHARED_CONTRACT[name].split())


@pytest.mark.parametrize(("name", "call"), SAVES.values(), ids=SAVES)
def test_write_options_arrive_in_the_runtimes_form(memory: Memory, runtime: FullRuntime, name: str, call: Call) -> None:
    call(memory, timestamp="2026-03-01T13:00:00+01:00", ttl_days=7, idempotency_key="k", embedding=(1, 0.5))
    got = {key: runtime.last[key] for key in ("timestamp", "ttl_days", "idempotency_key", "embedding")}
    assert got == {"timestamp": NOW, "ttl_days": 7.0, "idempotency_key": "k", "embedding": [1.0, 0.5]}
    assert runtime.last["timestamp"].tzinfo is UTC


def test_turn_takes_time_and_lifetime(memory: Memory, runtime: FullRuntime) -> None:
    memory.record_turn(role="user", timestamp=datetime(2026, 3, 1, 12), ttl_days=0.5)  # noqa: DTZ001 - naive is UTC
    assert (runtime.last["timestamp"], runtime.last["ttl_days"]) == (NOW, 0.5)


@pytest.mark.parametrize(("name", "call"), (SAVES | TURN).values(), ids=SAVES | TURN)
def test_bad_write_options_are_refused_before_anything_is_written(
    memory: Memory, runtime: FullRuntime, name: str, call: Call
) -> None:
    for options in ({"timestamp": "yesterday"}, {"timestamp": 5}, {"ttl_days": 0}, {"ttl_days": "7"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            call(memory, **options)
    assert runtime.calls == []


@pytest.mark.parametrize(("name", "call"), SEARCHES.values(), ids=SEARCHES)
def test_read_options_arrive_on_searches(memory: Memory, runtime: FullRuntime, name: str, call: Call) -> None:
    call(memory, mode="text", query_embedding=[1, 2], include_superseded=True, explain=True)
    got = {key: runtime.last[key] for key in ("mode", "query_embedding", "include_superseded", "explain")}
    assert got == {
        "mode": RetrievalMode.TEXT,
        "query_embedding": [1.0, 2.0],
        "include_superseded": True,
        "explain": True,
    }
    with pytest.raises(ValueError, match="mode must be one of: text, semantic, hybrid; got 'fuzzy'"):
        call(memory, mode="fuzzy")


@pytest.mark.parametrize(("name", "call"), CONTEXTS.values(), ids=CONTEXTS)
def test_read_options_arrive_on_contexts(memory: Memory, runtime: FullRuntime, name: str, call: Call) -> None:
    call(memory, query_embedding=[1], include_superseded=True, explain=True, include_memories=True, max_tokens=9)
    got = {key: runtime.last[key] for key in ("query_embedding", "include_superseded", "explain", "include_memories")}
    assert got == {"query_embedding": [1.0], "include_superseded": True, "explain": True, "include_memories": True}
    assert runtime.last["max_tokens"] == 9


@pytest.mark.parametrize(("name", "call"), (SEARCHES | CONTEXTS).values(), ids=SEARCHES | CONTEXTS)
def test_searches_and_contexts_take_a_moment(memory: Memory, runtime: FullRuntime, name: str, call: Call) -> None:
    call(memory, as_of="2026-03-01T13:00:00+01:00")
    assert runtime.last["as_of"] == NOW
    with pytest.raises(ValueError, match="as_of"):
        call(memory, as_of="last year")
    assert len(runtime.calls) == 1


def test_search_passes_a_moment_to_every_source(memory: Memory, runtime: FullRuntime) -> None:
    memory.search("q", sources=["semantic", "episodic", "taxonomic", "procedural"], as_of=NOW)
    assert [arguments["as_of"] for _, arguments in runtime.calls] == [NOW] * 4


def test_search_passes_read_options_to_every_source(memory: Memory, runtime: FullRuntime) -> None:
    memory.search("q", sources=["semantic", "episodic", "taxonomic", "procedural"], mode="hybrid", explain=True)
    assert [(a["mode"], a["explain"]) for _, a in runtime.calls] == [(RetrievalMode.HYBRID, True)] * 4


def test_past_reads_take_a_moment(memory: Memory, runtime: FullRuntime) -> None:
    for name in ("get_semantic", "get_taxonomic_term", "get_procedure", "list_episodes"):
        GETS[name][1](memory, as_of="2026-03-01T12:00:00Z")
        assert runtime.last["as_of"] == NOW
    memory.list_episodes(include_superseded=True)
    assert runtime.last["include_superseded"] is True
    with pytest.raises(ValueError, match="as_of"):
        memory.get_semantic("l", as_of="later")


def test_natural_key_of_a_custom_memory_is_whole_or_absent(memory: Memory, runtime: FullRuntime) -> None:
    memory.save("tickets", "c", namespace="jira", key="T-1", visibility="org")
    assert (runtime.last["namespace"], runtime.last["key"], runtime.last["visibility"]) == ("jira", "T-1", "org")
    for half in ({"namespace": "jira"}, {"key": "T-1"}):
        with pytest.raises(ValueError, match="go together"):
            memory.save("tickets", "c", **half)  # type: ignore[arg-type]


def test_search_routes_each_argument_to_the_source_it_concerns(memory: Memory, runtime: FullRuntime) -> None:
    memory.search(
        "q",
        sources=["procedural", "taxonomic", "episodic", "semantic"],
        top_k=3,
        visibility="org",
        session_id="s2",
        domain="D",
        tags=["t"],
        similarity_threshold=0.1,
        metadata_filter={"metadata.tier": "gold"},
    )
    common = {"query": "q", "user_id": "u1", "visibility": "org", "top_k": 3}
    assert runtime.calls == [
        (
            "discover_procedures",
            {**common, "tags": ["t"], "similarity_threshold": 0.1, "metadata_filter": {"metadata.tier": "gold"}},
        ),
        ("search_taxonomic", {**common, "domain": "D"}),
        ("search_episodes", {**common, "session_id": "s2"}),
        ("search_semantic", common),
    ]


def test_search_merges_by_score_with_unscored_last_and_cuts(memory: Memory, runtime: FullRuntime) -> None:
    runtime.answers["search_semantic"] = [
        chunk(id="none"),
        chunk(id="low", similarity_score=0.1),
        chunk(id="tie-first", similarity_score=0.5),
    ]
    runtime.answers["search_episodes"] = [
        chunk(id="tie-second", similarity_score=0.5),
        chunk(id="high", similarity_score=2.0),
    ]
    assert [found.id for found in memory.search("q")] == ["high", "tie-first", "tie-second", "low", "none"]
    assert [found.id for found in memory.search("q", top_k=2)] == ["high", "tie-first"]
    assert memory.search("q", top_k=0) == []


def test_search_turns_procedures_into_chunks(memory: Memory, runtime: FullRuntime) -> None:
    explanation = ChunkExplanation(fused=0.9)
    runtime.answers["discover_procedures"] = [
        {"id": "p1", "procedure": "deploy", "content": "", "description": "how", "score": 0.9, "timestamp": NOW}
        | {"explanation": explanation},
        {"id": None, "procedure": "bare", "content": "", "score": None, "similarity_score": 0.2, "timestamp": None},
    ]
    first, second = memory.search("q", sources="procedural", explain=True)
    assert (first.id, first.content, first.similarity_score, first.timestamp) == ("p1", "how", 0.9, NOW)
    assert first.explanation == explanation
    assert first.metadata is not None
    assert first.metadata["procedure"] == "deploy"
    assert (second.content, second.similarity_score, second.timestamp.timestamp()) == ("bare", 0.2, 0)


def test_first_source_that_fails_fails_the_search(memory: Memory, runtime: FullRuntime) -> None:
    class Broken(CoreRuntime):
        def search_semantic(self, **_: object) -> object:
            raise ConnectionError("down")

    broken = Broken()
    with pytest.raises(ConnectionError):
        over(broken).search("q", sources=["episodic", "semantic", "taxonomic"])
    assert broken.names == ["search_episodes"]


def test_mappings_from_a_client_become_models(memory: Memory, runtime: FullRuntime) -> None:
    runtime.answers["create_semantic"] = {"id": "1", "label": "l", "has_embedding": True, "unknown": 1}
    assert memory.save_semantic(text="t", label="l") == CreateSemanticResult(id="1", label="l", has_embedding=True)
    runtime.answers["create_custom"] = {"id": "1", "type": "t", "tags": {"a": [1]}, "has_embedding": True}
    with pytest.raises(ValueError, match="tags"):
        memory.save("tickets", "c")


def test_entries_come_back_untouched(memory: Memory, runtime: FullRuntime) -> None:
    entry = {"id": "1", "anything": object()}
    runtime.answers |= {"get_semantic": entry, "list_episodic": [entry]}
    assert memory.get_semantic("l") is entry
    assert memory.list_episodes() == [entry]


def test_summary_goes_under_its_name_on_the_wire(memory: Memory, runtime: FullRuntime) -> None:
    memory.save_episode(title="t", content="c", summary="S")
    assert runtime.last["summary_text"] == "S"
    memory.save_episode(title="t", content="c")
    assert runtime.last["summary_text"] == ""


def test_upsert_is_the_facades_default(memory: Memory, runtime: FullRuntime) -> None:
    memory.save_semantic(text="t", label="l")
    assert runtime.last["upsert"] is True
    memory.save_semantic(text="t", label="l", upsert=False)
    assert runtime.last["upsert"] is False


def test_protocols_tell_runtimes_apart() -> None:
    core, ambient, full = CoreRuntime(), AmbientRuntime(), FullRuntime()
    protocols = (MemoryRuntime, AmbientIdentityRuntime, MemoryCrudClient, MemoryManagement)
    assert [isinstance(core, each) for each in protocols] == [True, False, False, False]
    assert [isinstance(ambient, each) for each in protocols] == [True, True, False, False]
    assert [isinstance(full, each) for each in protocols] == [True, False, True, True]
