"""Every call of the shared protocol with the request it must make: method, target below the base path, exact body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from memoranda import FormatStyle, MemoryRequestContext, SourceSpec

WHO = MemoryRequestContext(user_id="u1", agent_id="a1", session_id="s1")
KEY = "<key>"
"""Stands for a key that the SDK made."""


class Expected(NamedTuple):
    """A call of a handle, and what it must send. `bound` is who the handle is for."""

    call: Callable[[Any], Any]
    method: str
    target: str
    body: str | None
    bound: MemoryRequestContext | None = WHO


UNBOUND = None
_GET = "?org_id=&project_id="
_TOOL_CALLS = [{"id": "c1", "name": "f", "args": {"a": 1}}]
_TICKET = {"queue": "b", "profile": {"loc": "x"}, "a.b": 1, "ok": True, "f": 1.5}


def _every_source(memory: Any) -> Any:
    return memory.build_context(
        "q",
        "u2",
        "s2",
        "org",
        {"metadata.tier": "gold"},
        {"stm", "episodic", "semantic", "taxonomic", "procedural"},
        max_tokens=2048,
        format_style=FormatStyle.CLAUDE,
        include_memories=True,
    )


def _two_sources(memory: Any) -> Any:
    condition = {"metadata.tier": {"$in": ["a"]}}
    sources = [
        SourceSpec.model_validate({"source": "stm", "mode": "text", "top_k": 200}),
        SourceSpec.model_validate({"source": "semantic", "mode": "hybrid", "metadata_filter": condition, "top_k": 1}),
    ]
    return memory.build_context_from_sources(
        "q",
        sources,
        user_id="u2",
        session_id="s2",
        visibility="private",
        rerank=True,
        max_tokens=900,
        format_style="jinja2",
        include_memories=True,
    )


def _one_source(memory: Any) -> Any:
    return memory.build_context_from_sources("q", [SourceSpec.model_validate({"source": "semantic"})])


def _whole_procedure(memory: Any) -> Any:
    return memory.save_procedure(
        procedure="P",
        description="D",
        content="C",
        user_id="u2",
        steps=[{"n": 1}],
        resources=[{"r": 1}],
        allowed_tools=["x"],
        compatibility="cc",
        license="MIT",
        trigger_conditions=["tc"],
        tags=["t"],
        visibility="org",
        agent_id="a2",
        extraction_source="es",
        source_format="sf",
        source_path="sp",
        metadata={"a": 1},
    )


EXPECTED: dict[str, Expected] = {
    "turn, nobody": Expected(
        lambda m: m.record_turn(role="user"),
        "POST",
        "/turns",
        '{"session_id":null,"user_id":null,"role":"user","content":null,"idempotency_key":"<key>"}',
        UNBOUND,
    ),
    "turn": Expected(
        lambda m: m.record_turn(role="user", content="hi"),
        "POST",
        "/turns",
        '{"session_id":"s1","user_id":"u1","role":"user","content":"hi","agent_id":"a1","idempotency_key":"<key>"}',
    ),
    "turn, everything": Expected(
        lambda m: m.record_turn(
            role="tool",
            content="out",
            session_id="s9",
            tool_calls=_TOOL_CALLS,
            tool_call_id="c1",
            tool_name="f",
            is_error=True,
            model_name="gpt",
            metadata={"k": {"n": [1, 2]}},
            idempotency_key="idem",
        ),
        "POST",
        "/turns",
        '{"session_id":"s9","user_id":"u1","role":"tool","content":"out","agent_id":"a1","model_name":"gpt",'
        '"tool_calls":[{"id":"c1","name":"f","args":{"a":1}}],"tool_call_id":"c1","tool_name":"f","is_error":true,'
        '"metadata":{"k":{"n":[1,2]}},"idempotency_key":"idem"}',
    ),
    "turn, empty is not absent": Expected(
        lambda m: m.record_turn(role="user", content="x", tool_calls=[], metadata={}),
        "POST",
        "/turns",
        '{"session_id":"s1","user_id":"u1","role":"user","content":"x","agent_id":"a1","tool_calls":[],"metadata":{},'
        '"idempotency_key":"<key>"}',
    ),
    "turn, other letters": Expected(
        lambda m: m.record_turn(role="user", content="Grüße 日本", idempotency_key="k"),
        "POST",
        "/turns",
        '{"session_id":null,"user_id":null,"role":"user","content":"Grüße 日本","idempotency_key":"k"}',
        UNBOUND,
    ),
    "save_semantic": Expected(
        lambda m: m.save_semantic(text="T", label="L"),
        "POST",
        "/semantic",
        '{"org_id":"","project_id":"","label":"L","text":"T","user_id":"u1","source":"agent","visibility":"private",'
        '"agent_id":"a1","metadata":null,"upsert":true}',
    ),
    "save_semantic, everything": Expected(
        lambda m: m.save_semantic(
            text="T",
            label="L",
            user_id="u2",
            source="import",
            visibility="org",
            metadata={"a": 1},
            upsert=False,
            agent_id="a2",
        ),
        "POST",
        "/semantic",
        '{"org_id":"","project_id":"","label":"L","text":"T","user_id":"u2","source":"import","visibility":"org",'
        '"agent_id":"a2","metadata":{"a":1},"upsert":false}',
    ),
    "search_semantic": Expected(
        lambda m: m.search_semantic("q"),
        "POST",
        "/search",
        '{"type":"semantic","query":"q","user_id":"u1","top_k":50}',
    ),
    "search_semantic, nobody": Expected(
        lambda m: m.search_semantic("q"),
        "POST",
        "/search",
        '{"type":"semantic","query":"q","user_id":null,"top_k":50}',
        UNBOUND,
    ),
    "search_semantic, everything": Expected(
        lambda m: m.search_semantic("q", "u2", "org", 7),
        "POST",
        "/search",
        '{"type":"semantic","query":"q","user_id":"u2","top_k":7,"visibility":"org"}',
    ),
    "get_semantic": Expected(lambda m: m.get_semantic("L"), "GET", f"/semantic{_GET}&label=L&user_id=u1", None),
    "get_semantic, everything": Expected(
        lambda m: m.get_semantic("L é&/?", "u2", "private"),
        "GET",
        f"/semantic{_GET}&label=L+%C3%A9%26%2F%3F&user_id=u2&visibility=private",
        None,
    ),
    "save_episode": Expected(
        lambda m: m.save_episode(title="T", content="C"),
        "POST",
        "/episodic",
        '{"org_id":"","project_id":"","title":"T","content":"C","summary_text":"","user_id":"u1","session_id":"s1",'
        '"visibility":"private","agent_id":"a1","participants":null,"tags":null}',
    ),
    "save_episode, everything": Expected(
        lambda m: m.save_episode(
            title="T",
            content="C",
            user_id="u2",
            summary="S",
            session_id="s2",
            participants=["p"],
            tags=["t"],
            visibility="org",
            metadata={"a": 1},
            agent_id="a2",
        ),
        "POST",
        "/episodic",
        '{"org_id":"","project_id":"","title":"T","content":"C","summary_text":"S","user_id":"u2","session_id":"s2",'
        '"visibility":"org","agent_id":"a2","participants":["p"],"tags":["t"],"metadata":{"a":1}}',
    ),
    "search_episodes does not inherit the session": Expected(
        lambda m: m.search_episodes("q"),
        "POST",
        "/search",
        '{"type":"episodic","query":"q","user_id":"u1","top_k":50}',
    ),
    "search_episodes, everything": Expected(
        lambda m: m.search_episodes("q", "u2", "private", "s2", 3),
        "POST",
        "/search",
        '{"type":"episodic","query":"q","user_id":"u2","top_k":3,"visibility":"private","session_id":"s2"}',
    ),
    "list_episodes does not inherit the session": Expected(
        lambda m: m.list_episodes(), "GET", f"/episodic{_GET}&limit=20&user_id=u1", None
    ),
    "list_episodes, everything": Expected(
        lambda m: m.list_episodes("u2", "org", "s2", 5),
        "GET",
        f"/episodic{_GET}&limit=5&user_id=u2&session_id=s2&visibility=org",
        None,
    ),
    "save_taxonomic": Expected(
        lambda m: m.save_taxonomic(domain="D", term="T", definition="X"),
        "POST",
        "/taxonomic",
        '{"org_id":"","project_id":"","domain":"D","term":"T","definition":"X","user_id":"u1","related_terms":null,'
        '"visibility":"org"}',
    ),
    "save_taxonomic, everything": Expected(
        lambda m: m.save_taxonomic(
            domain="D",
            term="T",
            definition="X",
            related_terms=["r"],
            visibility="private",
            user_id="u2",
            metadata={"a": 1},
        ),
        "POST",
        "/taxonomic",
        '{"org_id":"","project_id":"","domain":"D","term":"T","definition":"X","user_id":"u2","related_terms":["r"],'
        '"visibility":"private","metadata":{"a":1}}',
    ),
    "search_taxonomic": Expected(
        lambda m: m.search_taxonomic("q"),
        "POST",
        "/search",
        '{"type":"taxonomic","query":"q","user_id":"u1","top_k":50}',
    ),
    "search_taxonomic, everything": Expected(
        lambda m: m.search_taxonomic("q", "u2", "D", "org", 4),
        "POST",
        "/search",
        '{"type":"taxonomic","query":"q","user_id":"u2","top_k":4,"visibility":"org","domain":"D"}',
    ),
    "get_taxonomic_term does not send the term": Expected(
        lambda m: m.get_taxonomic_term("D", "T"), "GET", f"/taxonomic{_GET}&domain=D&user_id=u1", None
    ),
    "get_taxonomic_term, everything": Expected(
        lambda m: m.get_taxonomic_term("D", "nope", "u2", "org"),
        "GET",
        f"/taxonomic{_GET}&domain=D&user_id=u2&visibility=org",
        None,
    ),
    "list_domains": Expected(lambda m: m.list_domains(), "GET", f"/taxonomic/domains{_GET}", None),
    "list_domains, everything": Expected(
        lambda m: m.list_domains("org"), "GET", f"/taxonomic/domains{_GET}&visibility=org", None
    ),
    "discover_procedures": Expected(
        lambda m: m.discover_procedures("q"),
        "POST",
        "/search",
        '{"type":"procedural","query":"q","user_id":"u1","top_k":10,"similarity_threshold":0.0}',
    ),
    "discover_procedures, everything": Expected(
        lambda m: m.discover_procedures(
            "q",
            "u2",
            visibility="org",
            tags=["t"],
            top_k=2,
            similarity_threshold=0.5,
            metadata_filter={"metadata.tier": "gold"},
        ),
        "POST",
        "/search",
        '{"type":"procedural","query":"q","user_id":"u2","top_k":2,"similarity_threshold":0.5,"visibility":"org",'
        '"tags":["t"],"metadata_filter":{"metadata.tier":"gold"}}',
    ),
    "get_procedure": Expected(
        lambda m: m.get_procedure("p"),
        "GET",
        f"/procedural{_GET}&include_deleted=false&user_id=u1&procedure=p",
        None,
    ),
    "get_procedure, everything": Expected(
        lambda m: m.get_procedure("nope", user_id="u2", visibility="org", include_deleted=True),
        "GET",
        f"/procedural{_GET}&include_deleted=true&user_id=u2&visibility=org&procedure=nope",
        None,
    ),
    "save_procedure": Expected(
        lambda m: m.save_procedure(procedure="P", description="D", content="C"),
        "POST",
        "/procedural",
        '{"org_id":"","project_id":"","procedure":"P","description":"D","content":"C","user_id":"u1","steps":null,'
        '"resources":null,"allowed_tools":null,"compatibility":null,"license":null,"trigger_conditions":null,'
        '"tags":null,"visibility":"private","agent_id":"a1","extraction_source":null,"source_format":null,'
        '"source_path":null}',
    ),
    "save_procedure, everything": Expected(
        _whole_procedure,
        "POST",
        "/procedural",
        '{"org_id":"","project_id":"","procedure":"P","description":"D","content":"C","user_id":"u2",'
        '"steps":[{"n":1}],"resources":[{"r":1}],"allowed_tools":["x"],"compatibility":"cc","license":"MIT",'
        '"trigger_conditions":["tc"],"tags":["t"],"visibility":"org","agent_id":"a2","extraction_source":"es",'
        '"source_format":"sf","source_path":"sp","metadata":{"a":1}}',
    ),
    "save": Expected(lambda m: m.save("tickets", "C"), "POST", "/types/tickets", '{"content":"C"}'),
    "save, everything": Expected(
        lambda m: m.save("tickets", "C", tags=_TICKET, contextual_metadata={"k": [1]}),
        "POST",
        "/types/tickets",
        '{"content":"C","tags":{"queue":"b","profile":{"loc":"x"},"a.b":1,"ok":true,"f":1.5},'
        '"contextual_metadata":{"k":[1]}}',
    ),
    "save, a line break in the name": Expected(
        lambda m: m.save("tickets\n", "C"), "POST", "/types/tickets%0A", '{"content":"C"}'
    ),
    "retrieve": Expected(
        lambda m: m.retrieve("tickets", "q"), "POST", "/types/tickets/retrieve", '{"query":"q","top_k":10}'
    ),
    "retrieve, everything": Expected(
        lambda m: m.retrieve("tickets", "q", tags={"queue": "b"}, top_k=100),
        "POST",
        "/types/tickets/retrieve",
        '{"query":"q","top_k":100,"tags":{"queue":"b"}}',
    ),
    "build_context, nobody": Expected(
        lambda m: m.build_context("q"), "POST", "/context", '{"query":"q","user_id":null,"top_k":50}', UNBOUND
    ),
    "build_context": Expected(
        lambda m: m.build_context("q"),
        "POST",
        "/context",
        '{"query":"q","user_id":"u1","top_k":50,"session_id":"s1"}',
    ),
    "build_context, everything": Expected(
        _every_source,
        "POST",
        "/context",
        '{"query":"q","user_id":"u2","top_k":50,"session_id":"s2","visibility":"org",'
        '"metadata_filter":{"metadata.tier":"gold"},'
        '"enabled_sources":["episodic","procedural","semantic","stm","taxonomic"],"max_tokens":2048,'
        '"format_style":"claude","include_memories":true}',
    ),
    "build_context, no source, style as typed": Expected(
        lambda m: m.build_context("q", "u1", thread_id="th", enabled_sources=set(), format_style="OpenAI"),
        "POST",
        "/context",
        '{"query":"q","user_id":"u1","top_k":50,"session_id":"th","enabled_sources":[],"format_style":"OpenAI"}',
        UNBOUND,
    ),
    "build_context_from_sources": Expected(
        _one_source,
        "POST",
        "/retrieval/context-from-sources",
        '{"query":"q","sources":[{"source":"semantic","mode":"semantic","top_k":20}],"rerank":false,"user_id":"u1",'
        '"session_id":"s1"}',
    ),
    "build_context_from_sources, nobody": Expected(
        _one_source,
        "POST",
        "/retrieval/context-from-sources",
        '{"query":"q","sources":[{"source":"semantic","mode":"semantic","top_k":20}],"rerank":false}',
        UNBOUND,
    ),
    "build_context_from_sources, everything": Expected(
        _two_sources,
        "POST",
        "/retrieval/context-from-sources",
        '{"query":"q","sources":[{"source":"stm","mode":"text","top_k":200},{"source":"semantic","mode":"hybrid",'
        '"metadata_filter":{"metadata.tier":{"$in":["a"]}},"top_k":1}],"rerank":true,"user_id":"u2",'
        '"session_id":"s2","visibility":"private","max_tokens":900,"format_style":"jinja2","include_memories":true}',
    ),
}
