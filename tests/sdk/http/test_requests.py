"""Every call of the shared protocol makes exactly the request that the protocol says."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import pytest

from memoranda import MemoryRequestContext
from memoranda.sdk._wire import AGENT_HEADER, USER_HEADER, VERSION_HEADER
from tests.sdk.http.calls import EXPECTED, KEY, WHO
from tests.sdk.http.connecting import connected
from tests.sdk.http.scripted_server import Answer, ScriptedServer

ALWAYS = ["Host", "Accept", "Accept-Encoding", "Connection", "User-Agent"]
WITH_BODY = ["Content-Length", "Content-Type"]
MODES: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "direct": ({}, "/api/v1/memory", []),
    "direct with a token": ({"token": "t"}, "/api/v1/memory", ["Authorization"]),
    "hosted": ({"token": "t", "project_id": "p 1/ü"}, "/api/v1/projects/p%201%2F%C3%BC/memory", ["Authorization"]),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", EXPECTED)
def test_the_request_is_that_of_the_protocol(server: ScriptedServer, name: str, mode: str) -> None:
    call, method, target, body, bound = EXPECTED[name]
    settings, base, authorization = MODES[mode]
    with connected(server.url, **settings) as memory:
        memory.search_semantic("a call before, which shows whose server it is")
        server.seen.clear()
        call(memory if bound is None else memory.bind(bound))
    (seen,) = server.seen
    assert (seen.method, seen.target) == (method, base + target)
    assert [name for name, _ in seen.headers] == ALWAYS + authorization + ([] if body is None else WITH_BODY)
    assert body is None or _with_key_named(seen.text, body) == body
    assert body is None or seen.header("Content-Type") == "application/json"
    assert seen.header("Authorization") == ("Bearer t" if authorization else None)


def _with_key_named(sent: str, body: str) -> str:
    if KEY not in body:
        return sent
    (key,) = re.findall(r'"idempotency_key":"([^"]*)"', sent)
    assert UUID(key).version == 4
    return sent.replace(key, KEY)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_first_request_has_the_same_target_and_body(server: ScriptedServer, name: str) -> None:
    call, method, target, body, bound = EXPECTED[name]
    with connected(server.url) as memory:
        call(memory if bound is None else memory.bind(bound))
    (seen,) = server.seen
    assert (seen.method, seen.target) == (method, f"/api/v1/memory{target}")
    assert body is None or _with_key_named(seen.text, body) == body


def test_every_turn_has_a_key_of_its_own(server: ScriptedServer) -> None:
    with connected(server.url) as memory:
        memory.record_turn(role="user", content="x")
        memory.record_turn(role="user", content="x")
    first, second = (seen.body["idempotency_key"] for seen in server.seen)
    assert first != second


def test_search_asks_one_source_after_the_other(server: ScriptedServer) -> None:
    with connected(server.url) as memory:
        bound = memory.bind(WHO)
        bound.search("q")
        bound.search(
            "q",
            sources=["procedural", "taxonomic", "episodic", "semantic"],
            top_k=3,
            user_id="u2",
            visibility="org",
            session_id="s2",
            domain="D",
            tags=["t"],
            similarity_threshold=0.1,
            metadata_filter={"metadata.x": 1},
        )
        bound.search("q", sources=[])
    assert [seen.text for seen in server.seen] == [
        '{"type":"semantic","query":"q","user_id":"u1","top_k":10}',
        '{"type":"episodic","query":"q","user_id":"u1","top_k":10}',
        '{"type":"procedural","query":"q","user_id":"u2","top_k":3,"similarity_threshold":0.1,"visibility":"org",'
        '"tags":["t"],"metadata_filter":{"metadata.x":1}}',
        '{"type":"taxonomic","query":"q","user_id":"u2","top_k":3,"visibility":"org","domain":"D"}',
        '{"type":"episodic","query":"q","user_id":"u2","top_k":3,"visibility":"org","session_id":"s2"}',
        '{"type":"semantic","query":"q","user_id":"u2","top_k":3,"visibility":"org"}',
    ]


def test_a_prefix_of_the_url_is_kept(server: ScriptedServer) -> None:
    with connected(f"{server.url}/pre") as memory:
        memory.search_semantic("q")
    assert server.last.target == "/pre/api/v1/memory/search"


def test_one_connection_serves_many_calls(server: ScriptedServer) -> None:
    with connected(server.url) as memory:
        for _ in range(3):
            memory.search_semantic("q")
    assert {seen.header("Connection") for seen in server.seen} == {"keep-alive"}
    assert len({seen.port for seen in server.seen}) == 1


OURS: dict[str, tuple[Any, str]] = {
    "turn": (
        lambda m: m.record_turn(role="user", timestamp="2026-03-01T09:30:00+01:00", ttl_days=2, idempotency_key="k"),
        '{"session_id":null,"user_id":null,"role":"user","content":null,"idempotency_key":"k",'
        '"timestamp":"2026-03-01T08:30:00+00:00","ttl_days":2.0}',
    ),
    "save_semantic": (
        lambda m: m.save_semantic(text="T", label="L", user_id="u", idempotency_key="k", embedding=[1, 0.5]),
        '{"org_id":"","project_id":"","label":"L","text":"T","user_id":"u","source":"agent","visibility":"private",'
        '"agent_id":null,"metadata":null,"upsert":true,"idempotency_key":"k","embedding":[1.0,0.5]}',
    ),
    "search_semantic": (
        lambda m: m.search_semantic("q", mode="text", include_superseded=True, explain=True),
        '{"type":"semantic","query":"q","user_id":null,"top_k":50,"mode":"text","include_superseded":true,'
        '"explain":true}',
    ),
    "build_context": (
        lambda m: m.build_context("q", mode="hybrid", top_k=3, as_of="2026-03-01"),
        '{"query":"q","user_id":null,"top_k":3,"mode":"hybrid","as_of":"2026-03-01T00:00:00+00:00"}',
    ),
    "save": (
        lambda m: m.save("tickets", "C", visibility="org", namespace="n", key="k"),
        '{"content":"C","visibility":"org","namespace":"n","key":"k"}',
    ),
    "retrieve": (
        lambda m: m.retrieve("tickets", "q", visibility="org", mode="text"),
        '{"query":"q","top_k":10,"visibility":"org","mode":"text"}',
    ),
}


@pytest.mark.parametrize("name", OURS)
def test_what_is_ours_follows_when_it_is_set(server: ScriptedServer, name: str) -> None:
    call, body = OURS[name]
    with connected(server.url) as memory:
        call(memory)
    assert server.last.text == body


def test_what_is_ours_follows_in_queries(server: ScriptedServer) -> None:
    with connected(server.url) as memory:
        memory.get_semantic("L", as_of="2026-03-01")
        memory.list_episodes(include_superseded=True)
    assert [seen.target.partition("&project_id=&")[2] for seen in server.seen] == [
        "label=L&as_of=2026-03-01T00%3A00%3A00%2B00%3A00",
        "limit=20&include_superseded=true",
    ]


SILENT: dict[str, Any] = {
    "save": lambda m: m.save("tickets", "C"),
    "retrieve": lambda m: m.retrieve("tickets", "q"),
    "list_domains": lambda m: m.list_domains(),
}


@pytest.mark.parametrize("name", SILENT)
@pytest.mark.parametrize("announced", [True, False])
def test_identity_beside_the_protocol_goes_in_headers(server: ScriptedServer, name: str, announced: bool) -> None:
    call = SILENT[name]
    plausible = server.script

    def ours(seen: Any) -> Answer:
        answer = plausible(seen)
        return Answer(answer.status, answer.body, {VERSION_HEADER: "1"})

    server.script = ours
    with connected(server.url) as memory:
        if announced:
            memory.search_semantic("q")
        call(memory.bind(MemoryRequestContext(user_id="u é/", agent_id="a")))
    assert server.last.header(USER_HEADER) == "u%20%C3%A9%2F"
    assert server.last.header(AGENT_HEADER) == ("a" if name == "save" else None)


@pytest.mark.parametrize("name", SILENT)
def test_a_server_that_is_known_to_be_another_is_not_told(server: ScriptedServer, name: str) -> None:
    call = SILENT[name]
    with connected(server.url) as memory:
        memory.search_semantic("q")
        call(memory.bind(WHO))
    assert (server.last.header(USER_HEADER), server.last.header(AGENT_HEADER)) == (None, None)
