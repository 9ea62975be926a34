"""The client of the memory server's own routes: what it sends, who it says it is, what it raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from memoranda import (
    Memory,
    MemoryBadRequestError,
    MemoryConnectionError,
    MemoryNotSupportedError,
    MemoryRequestContext,
    SourceSpec,
)
from memoranda.sdk._client import MemoryClient
from memoranda.sdk._native_runtime import DIRECT_PREFIX
from tests.sdk.http.scripted_server import Answer, ScriptedServer

QUERY = "?org_id=o&project_id=p"
SOURCES = [SourceSpec.model_validate({"source": "semantic"})]


@pytest.fixture
def client(server: ScriptedServer) -> Iterator[MemoryClient]:
    with closing(MemoryClient(server.url, org_id="o", project_id="p")) as client:
        yield client


REQUESTS: dict[str, tuple[Callable[[MemoryClient], Any], str, str]] = {
    "record_turn": (
        lambda c: c.record_turn(role="user", content="hi", session_id="s", user_id="u", metadata={"a": 1}),
        "POST /stm/turns",
        '{"org_id":"o","project_id":"p","user_id":"u","session_id":"s","role":"user","content":"hi","tokens":null,'
        '"stop_reason":null,"model_name":null,"tool_calls":null,"tool_call_id":null,"tool_name":null,'
        '"is_error":false,"metadata":{"a":1}}',
    ),
    "build_context": (
        lambda c: c.build_context(query="q", user_id="u", max_tokens=9),
        "POST /retrieval/context",
        '{"org_id":"o","project_id":"p","user_id":"u","query":"q","session_id":null,"visibility":null,'
        '"enabled_sources":null,"format_style":null,"top_k":50,"include_memories":false,"max_tokens":9}',
    ),
    "build_context_from_sources": (
        lambda c: c.build_context_from_sources(query="q", sources=SOURCES, user_id="u", session_id="s"),
        "POST /retrieval/context-from-sources",
        '{"org_id":"o","project_id":"p","user_id":"u","query":"q","sources":[{"source":"semantic","mode":"semantic",'
        '"top_k":20}],"rerank":false,"include_memories":false,"session_id":"s"}',
    ),
    "discover_procedures": (
        lambda c: c.discover_procedures(query="q", user_id="u"),
        "POST /retrieval/procedural",
        '{"org_id":"o","project_id":"p","user_id":"u","query":"q","visibility":null,"tags":null,"top_k":10,'
        '"similarity_threshold":0.0}',
    ),
    "create_semantic": (
        lambda c: c.create_semantic(label="L", text="T", user_id="u"),
        "POST /semantic",
        '{"org_id":"o","project_id":"p","user_id":"u","label":"L","text":"T","source":"agent","visibility":"private",'
        '"agent_id":null,"embedding":null,"metadata":null,"upsert":false}',
    ),
    "create_taxonomic": (
        lambda c: c.create_taxonomic(domain="D", term="T", definition="X", user_id="u"),
        "POST /taxonomic",
        '{"org_id":"o","project_id":"p","user_id":"u","domain":"D","term":"T","definition":"X","query_expansion":true}',
    ),
    "update_semantic": (
        lambda c: c.update_semantic("a/b", user_id="u", text="T"),
        f"PATCH /semantic/a%2Fb{QUERY}&user_id=u",
        '{"text":"T","source":null,"visibility":null}',
    ),
    "update_procedural": (
        lambda c: c.update_procedural("x", user_id="u", content="C", metadata={"a": 1}),
        f"PATCH /procedural/x{QUERY}&user_id=u",
        '{"description":null,"content":"C","steps":null,"resources":null,"allowed_tools":null,'
        '"trigger_conditions":null,"tags":null,"visibility":null,"user_id":"u","metadata":{"a":1}}',
    ),
    "create_custom": (lambda c: c.create_custom(memory_type="t", content="C"), "POST /types/t", '{"content":"C"}'),
    "get_semantic": (
        lambda c: c.get_semantic(label="L", user_id="u"),
        f"GET /semantic{QUERY}&label=L&user_id=u",
        "",
    ),
    "get_semantic_by_id": (lambda c: c.get_semantic_by_id("x"), f"GET /semantic/x{QUERY}", ""),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_requests_of_the_native_routes(server: ScriptedServer, client: MemoryClient, name: str) -> None:
    call, request, body = REQUESTS[name]
    call(client)
    (seen,) = server.seen
    assert (f"{seen.method} {seen.target}", seen.text) == (request.replace(" /", " /api/v1/memory/"), body)


def test_a_memory_server_is_reached_without_the_proxy(server: ScriptedServer) -> None:
    with closing(MemoryClient(server.url, org_id="o", project_id="p", prefix=DIRECT_PREFIX)) as client:
        client.search_semantic(query="q")
        client.search_episodes(query="q", session_id="s")
        client.search_taxonomic(query="q", domain="D")
    targets = [seen.target for seen in server.seen]
    assert targets == [f"/api/v1/retrieval/{kind}" for kind in ("semantic", "episodic", "taxonomic")]


def test_agent_and_execution_are_told_with_every_request(server: ScriptedServer) -> None:
    executions: Iterator[str | None] = iter(["e1", None, "e3"])
    client = MemoryClient(
        server.url, org_id="o", project_id="p", agent_id="app", execution_id_provider=lambda: next(executions)
    )
    with closing(client):
        for _ in range(3):
            client.search_semantic(query="q")
    for name in ("X-Agent-Engine-Agent-Id", "X-Agentic-Agent-Id"):
        assert [seen.header(name) for seen in server.seen] == ["app"] * 3
    for name in ("X-Agent-Engine-Execution-Id", "X-Agentic-Execution-Id"):
        assert [seen.header(name) for seen in server.seen] == ["e1", None, "e3"]


def test_nobody_is_named_where_nobody_is_known(server: ScriptedServer, client: MemoryClient) -> None:
    client.search_semantic(query="q")
    assert [name for name, _ in server.last.headers if name.startswith("X-")] == []


def test_ordinary_failures_are_those_of_the_transport_and_not_retried(
    server: ScriptedServer, client: MemoryClient
) -> None:
    server.answer = Answer(503, {"detail": "busy"})
    with pytest.raises(httpx.HTTPStatusError):
        client.search_semantic(query="q")
    assert len(server.seen) == 1


def test_custom_types_fail_as_they_do_for_everybody(server: ScriptedServer, client: MemoryClient) -> None:
    server.answer = Answer(400, {"error": "custom_memory_types is not enabled"})
    with pytest.raises(MemoryNotSupportedError):
        client.create_custom(memory_type="t", content="C")
    server.answer = Answer(404, {"detail": "unknown custom memory type 't'"})
    with pytest.raises(MemoryBadRequestError):
        client.retrieve_custom(memory_type="t", query="q")
    with closing(MemoryClient("http://127.0.0.1:1", org_id="o", project_id="p")) as nowhere:
        with pytest.raises(MemoryConnectionError):
            nowhere.create_custom(memory_type="t", content="C")


def test_one_that_is_not_there_is_none(server: ScriptedServer, client: MemoryClient) -> None:
    server.answer = Answer(404, {"detail": "no"})
    assert client.get_semantic_by_id("x") is None
    assert client.get_procedural_by_id("x") is None
    with pytest.raises(httpx.HTTPStatusError):
        client.delete_procedural("x", user_id="u")


@pytest.mark.parametrize("memory_id", [".", ".."])
def test_an_id_that_is_a_step_in_the_path_is_refused(
    server: ScriptedServer, client: MemoryClient, memory_id: str
) -> None:
    for call in (client.get_semantic_by_id, client.get_procedural_by_id, client.delete_procedural):
        with pytest.raises(ValueError, match="dots"):
            call(memory_id)
    assert server.seen == []


def test_the_facade_stands_on_it(server: ScriptedServer, client: MemoryClient) -> None:
    memory = Memory(runtime=client, client=client).bind(MemoryRequestContext(user_id="u", session_id="s"))
    memory.record_turn(role="user", content="hi")
    memory.save_semantic(text="T", label="L")
    memory.save_episode(title="T", content="C")
    memory.save_procedure(procedure="P", description="D", content="C")
    memory.list_episodes()
    assert [seen.target.partition("?")[0] for seen in server.seen] == [
        f"/api/v1/memory/{path}" for path in ("stm/turns", "semantic", "episodic", "procedural", "episodic")
    ]
