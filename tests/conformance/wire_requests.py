"""The requests that the original SDK 0.11.10 sends for every public method: 48 in each of three modes, made anew here.

Each is what one call of one variant puts on the wire, with its method, path, query and body; keys come in the order of
the wire. A caller that gave no idempotency key sent a UUID4 of its own; here a number stands for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

MODES: Final = ("direct", "direct+auth", "hosted")
Json = dict[str, Any]
_TENANT: Final[Json] = {"org_id": "", "project_id": ""}
_TYPE: Final = "tickets"
_GOLD: Final = {"metadata.tier": "gold"}


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request of the original. ``path`` is what follows the base path of the mode; ``query`` is in wire order."""

    method_called: str
    variant: str
    http_method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Json | None = None

    def target(self, mode: str, project_id: str) -> str:
        """Return the path and query under the base path of a mode."""
        base = f"/api/v1/projects/{quote(project_id, safe='')}/memory" if mode == "hosted" else "/api/v1/memory"
        query = urlencode(self.query)
        return f"{base}{self.path}?{query}" if query else f"{base}{self.path}"

    @property
    def shape(self) -> str:
        """The name of the success body that the call expects."""
        return _SHAPES.get((self.http_method, self.path.removeprefix(f"/types/{_TYPE}")), self.path)


_SHAPES: Final = {
    ("POST", ""): "custom save",
    ("POST", "/retrieve"): "custom retrieve",
    ("POST", "/retrieval/context-from-sources"): "/context",
    **{("POST", f"/{kind}"): f"create {kind}" for kind in ("semantic", "episodic", "taxonomic", "procedural")},
    **{("GET", f"/{kind}"): "entries" for kind in ("semantic", "episodic", "taxonomic", "procedural")},
}


def wire_requests() -> list[WireRequest]:
    """Return the 48 requests of one mode, in the order in which the original was driven."""
    return [*_turns(), *_semantic(), *_episodes(), *_terms(), *_procedures(), *_custom(), *_contexts(), *_searches()]


def _post(method: str, variant: str, path: str, body: Json) -> WireRequest:
    return WireRequest(method, variant, "POST", path, body=body)


def _get(method: str, variant: str, path: str, **query: str) -> WireRequest:
    return WireRequest(method, variant, "GET", path, tuple((_TENANT | query).items()))


def _turns() -> Iterator[WireRequest]:
    def turn(variant: str, session: str | None, user: str | None, role: str, content: str | None, **more: Any) -> Any:
        body = {"session_id": session, "user_id": user, "role": role, "content": content}
        return _post("record_turn", variant, "/turns", body | more)

    call = {"id": "c1", "name": "f", "args": {"a": 1}}
    yield turn("min-unbound", None, None, "user", None, idempotency_key="key-1")
    yield turn("min-bound", "s1", "u1", "user", "hi", agent_id="a1", idempotency_key="key-2")
    yield turn(
        "max",
        "s9",
        "u1",
        "tool",
        "out",
        agent_id="a1",
        model_name="gpt",
        tool_calls=[call],
        tool_call_id="c1",
        tool_name="f",
        is_error=True,
        metadata={"k": {"n": [1, 2]}},
        idempotency_key="idem",
    )
    more: Json = {"agent_id": "a1", "tool_calls": [], "metadata": {}, "idempotency_key": "key-3"}
    yield turn("metadata-empty", "s1", "u1", "user", "x", **more)


def _semantic() -> Iterator[WireRequest]:
    def save(variant: str, **fields: Any) -> WireRequest:
        return _post("save_semantic", variant, "/semantic", _TENANT | {"label": "L", "text": "T"} | fields)

    yield save("min", user_id="u1", source="agent", visibility="private", agent_id="a1", metadata=None, upsert=True)
    yield save("max", user_id="u2", source="import", visibility="org", agent_id="a2", metadata={"a": 1}, upsert=False)
    yield _search("search_semantic", "min", "semantic", "u1", 50)
    yield _search("search_semantic", "min-unbound", "semantic", None, 50)
    yield _search("search_semantic", "max", "semantic", "u2", 7, visibility="org")
    yield _get("get_semantic", "min", "/semantic", label="L", user_id="u1")
    yield _get("get_semantic", "max", "/semantic", label="L é&/?", user_id="u2", visibility="private")


def _search(method: str, variant: str, kind: str, user: str | None, top_k: int, **more: Any) -> WireRequest:
    return _post(method, variant, "/search", {"type": kind, "query": "q", "user_id": user, "top_k": top_k} | more)


def _episodes() -> Iterator[WireRequest]:
    def save(variant: str, summary: str, user: str, session: str, **fields: Any) -> WireRequest:
        body = {"title": "T", "content": "C", "summary_text": summary, "user_id": user, "session_id": session}
        return _post("save_episode", variant, "/episodic", _TENANT | body | fields)

    yield save("min", "", "u1", "s1", visibility="private", agent_id="a1", participants=None, tags=None)
    lists: Json = {"participants": ["p"], "tags": ["t"], "metadata": {"a": 1}}
    yield save("max", "S", "u2", "s2", visibility="org", agent_id="a2", **lists)
    bound = "min-bound(session not inherited)"
    yield _search("search_episodes", bound, "episodic", "u1", 50)
    yield _search("search_episodes", "max", "episodic", "u2", 3, visibility="private", session_id="s2")
    yield _get("list_episodes", bound, "/episodic", limit="20", user_id="u1")
    yield _get("list_episodes", "max", "/episodic", limit="5", user_id="u2", session_id="s2", visibility="org")


def _terms() -> Iterator[WireRequest]:
    def save(variant: str, user: str, **fields: Any) -> WireRequest:
        body = {"domain": "D", "term": "T", "definition": "X", "user_id": user}
        return _post("save_taxonomic", variant, "/taxonomic", _TENANT | body | fields)

    yield save("min", "u1", related_terms=None, visibility="org")
    yield save("max", "u2", related_terms=["r"], visibility="private", metadata={"a": 1})
    yield _search("search_taxonomic", "min", "taxonomic", "u1", 50)
    yield _search("search_taxonomic", "max", "taxonomic", "u2", 4, visibility="org", domain="D")
    yield _get("get_taxonomic_term", "min", "/taxonomic", domain="D", user_id="u1")
    yield _get("get_taxonomic_term", "no-match", "/taxonomic", domain="D", user_id="u2", visibility="org")
    yield _get("list_domains", "min", "/taxonomic/domains")
    yield _get("list_domains", "max", "/taxonomic/domains", visibility="org")


_PROCEDURE_MIN: Final[Json] = {
    "user_id": "u1",
    "steps": None,
    "resources": None,
    "allowed_tools": None,
    "compatibility": None,
    "license": None,
    "trigger_conditions": None,
    "tags": None,
    "visibility": "private",
    "agent_id": "a1",
    "extraction_source": None,
    "source_format": None,
    "source_path": None,
}
_PROCEDURE_MAX: Final[Json] = {
    "user_id": "u2",
    "steps": [{"n": 1}],
    "resources": [{"r": 1}],
    "allowed_tools": ["x"],
    "compatibility": "cc",
    "license": "MIT",
    "trigger_conditions": ["tc"],
    "tags": ["t"],
    "visibility": "org",
    "agent_id": "a2",
    "extraction_source": "es",
    "source_format": "sf",
    "source_path": "sp",
    "metadata": {"a": 1},
}


def _procedures() -> Iterator[WireRequest]:
    discover, get, save = "discover_procedures", "get_procedure", "save_procedure"
    yield _search(discover, "min", "procedural", "u1", 10, similarity_threshold=0.0)
    more: Json = {"similarity_threshold": 0.5, "visibility": "org", "tags": ["t"], "metadata_filter": _GOLD}
    yield _search(discover, "max", "procedural", "u2", 2, **more)
    yield _get(get, "min", "/procedural", include_deleted="false", user_id="u1", procedure="p")
    names = {"include_deleted": "true", "user_id": "u2", "visibility": "org", "procedure": "nope"}
    yield _get(get, "max", "/procedural", **names)
    named = _TENANT | {"procedure": "P", "description": "D", "content": "C"}
    yield _post(save, "min", "/procedural", named | _PROCEDURE_MIN)
    yield _post(save, "max", "/procedural", named | _PROCEDURE_MAX)


def _custom() -> Iterator[WireRequest]:
    tags = {"queue": "b", "profile": {"loc": "x"}, "a.b": 1, "ok": True, "f": 1.5}
    path = f"/types/{_TYPE}"
    yield _post("save", "min", path, {"content": "C"})
    yield _post("save", "max", path, {"content": "C", "tags": tags, "contextual_metadata": {"k": [1]}})
    yield _post("retrieve", "min", f"{path}/retrieve", {"query": "q", "top_k": 10})
    yield _post("retrieve", "max", f"{path}/retrieve", {"query": "q", "top_k": 100, "tags": {"queue": "b"}})


def _contexts() -> Iterator[WireRequest]:
    def context(variant: str, user: str | None, **more: Any) -> WireRequest:
        return _post("build_context", variant, "/context", {"query": "q", "user_id": user, "top_k": 50} | more)

    def from_sources(variant: str, sources: list[Json], rerank: bool, **more: Any) -> WireRequest:
        body = {"query": "q", "sources": sources, "rerank": rerank} | more
        return _post("build_context_from_sources", variant, "/retrieval/context-from-sources", body)

    every = ["episodic", "procedural", "semantic", "stm", "taxonomic"]
    yield context("min-unbound", None)
    yield context("min-bound", "u1", session_id="s1")
    yield context(
        "max",
        "u2",
        session_id="s2",
        visibility="org",
        metadata_filter=_GOLD,
        enabled_sources=every,
        max_tokens=2048,
        format_style="claude",
        include_memories=True,
    )
    yield context("empty-set-sources", "u1", session_id="th", enabled_sources=[], format_style="OpenAI")
    plain = {"source": "semantic", "mode": "semantic", "top_k": 20}
    yield from_sources("min", [plain], False, user_id="u1", session_id="s1")
    yield from_sources("min-unbound", [plain], False)
    in_tiers = {"metadata.tier": {"$in": ["a"]}}
    yield from_sources(
        "max",
        [
            {"source": "stm", "mode": "text", "top_k": 200},
            {"source": "semantic", "mode": "hybrid", "metadata_filter": in_tiers, "top_k": 1},
        ],
        True,
        user_id="u2",
        session_id="s2",
        visibility="private",
        max_tokens=900,
        format_style="jinja2",
        include_memories=True,
    )


def _searches() -> Iterator[WireRequest]:
    yield _search("search", "default", "semantic", "u1", 10)
    yield _search("search", "default", "episodic", "u1", 10)
    threshold: Json = {"similarity_threshold": 0.1, "visibility": "org"}
    filtered: Json = {"tags": ["t"], "metadata_filter": {"metadata.x": 1}}
    yield _search("search", "all", "procedural", "u2", 3, **threshold, **filtered)
    yield _search("search", "all", "taxonomic", "u2", 3, visibility="org", domain="D")
    yield _search("search", "all", "episodic", "u2", 3, visibility="org", session_id="s2")
    yield _search("search", "all", "semantic", "u2", 3, visibility="org")
