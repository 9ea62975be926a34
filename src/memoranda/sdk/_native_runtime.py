"""The memory server's own routes: turns, contexts and searches, and how every request is made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import httpx

from memoranda.sdk._pool import TIMEOUT, trusted
from memoranda.sdk._responses import chunks_in, core_model
from memoranda.sdk._wire import Json, encoded, plain, present, procedure_found, source_entry
from memoranda.sdk.models import ContextResponse, FormatStyle, MemoryChunk, SourceSpec, WriteTurnResult

DIRECT_PREFIX: Final = "/api/v1"
"""Where a memory server has its own routes."""
PROXIED_PREFIX: Final = "/api/v1/memory"
"""Where an engine in front of it has them."""

_AGENT_HEADERS: Final = ("X-Agent-Engine-Agent-Id", "X-Agentic-Agent-Id")
_EXECUTION_HEADERS: Final = ("X-Agent-Engine-Execution-Id", "X-Agentic-Execution-Id")


class NativeRuntime:
    """`MemoryRuntime` over the native routes below `prefix`.

    The agent is named in every request, and so is the execution whenever `execution_id_provider`, asked for each, names
    one; both under the present and the older header. Nothing is retried. A failure is an `httpx.HTTPStatusError`, and
    one of httpx's own errors where there was no answer. Each request has 30 s.
    """

    def __init__(
        self,
        base_url: str,
        *,
        org_id: str,
        project_id: str,
        prefix: str = PROXIED_PREFIX,
        agent_id: str | None = None,
        execution_id_provider: Callable[[], str | None] | None = None,
    ) -> None:
        self._prefix = prefix.rstrip("/")
        self._ids = {"org_id": org_id, "project_id": project_id}
        self._execution_id = execution_id_provider
        headers = {} if agent_id is None else dict.fromkeys(_AGENT_HEADERS, agent_id)
        self._http = httpx.Client(
            base_url=base_url, headers=headers, timeout=TIMEOUT, follow_redirects=False, verify=trusted()
        )

    def close(self) -> None:
        """Close the connections; again is harmless."""
        self._http.close()

    # --- turns, contexts, searches

    def record_turn(
        self,
        *,
        role: str,
        content: str | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        tokens: int | None = None,
        stop_reason: str | None = None,
        tool_calls: list[Json] | None = None,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
        is_error: bool = False,
        model_name: str | None = None,
        metadata: Json | None = None,
        **set_only: Any,
    ) -> WriteTurnResult:
        """Store one turn; the agent is that of the client."""
        set_only.pop("agent_id", None)
        body = {
            "user_id": user_id,
            "session_id": session_id,
            "role": role,
            "content": content,
            "tokens": tokens,
            "stop_reason": stop_reason,
            "model_name": model_name,
            "tool_calls": tool_calls,
            "tool_call_id": tool_call_id,
            "tool_name": tool_name,
            "is_error": is_error,
        }
        return core_model(WriteTurnResult, self._post("stm/turns", body | present(metadata=metadata) | plain(set_only)))

    def build_context(
        self,
        *,
        query: str,
        user_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        metadata_filter: Json | None = None,
        enabled_sources: Collection[str] | None = None,
        top_k: int = 50,
        max_tokens: int | None = None,
        format_style: FormatStyle | str | None = None,
        include_memories: bool = False,
        **ours: Any,
    ) -> ContextResponse:
        body = {
            "user_id": user_id,
            "query": query,
            "session_id": session_id,
            "visibility": visibility,
            "enabled_sources": None if enabled_sources is None else sorted(enabled_sources),
            "format_style": format_style,
            "top_k": top_k,
            "include_memories": include_memories,
        }
        body |= present(metadata_filter=metadata_filter, max_tokens=max_tokens) | plain(ours)
        return core_model(ContextResponse, self._post("retrieval/context", body))

    def build_context_from_sources(
        self,
        *,
        query: str,
        sources: Sequence[SourceSpec],
        user_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        rerank: bool = False,
        max_tokens: int | None = None,
        format_style: FormatStyle | str | None = None,
        include_memories: bool = False,
        **ours: Any,
    ) -> ContextResponse:
        body: Json = {"user_id": user_id, "query": query, "sources": [source_entry(spec) for spec in sources]}
        body |= {"rerank": rerank, "include_memories": include_memories}
        body |= present(session_id=session_id, visibility=visibility, max_tokens=max_tokens, format_style=format_style)
        return core_model(ContextResponse, self._post("retrieval/context-from-sources", body | plain(ours)))

    def search_semantic(
        self, *, query: str, user_id: str | None = None, visibility: str | None = None, top_k: int = 50, **ours: Any
    ) -> list[MemoryChunk]:
        body = {"user_id": user_id, "query": query, "visibility": visibility, "top_k": top_k}
        return self._chunks("semantic", body | plain(ours))

    def search_episodes(
        self,
        *,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        session_id: str | None = None,
        top_k: int = 50,
        **ours: Any,
    ) -> list[MemoryChunk]:
        body = {"user_id": user_id, "query": query, "visibility": visibility, "top_k": top_k, "session_id": session_id}
        return self._chunks("episodic", body | plain(ours))

    def search_taxonomic(
        self,
        *,
        query: str,
        user_id: str | None = None,
        domain: str | None = None,
        visibility: str | None = None,
        top_k: int = 50,
        **ours: Any,
    ) -> list[MemoryChunk]:
        body = {"user_id": user_id, "query": query, "visibility": visibility, "top_k": top_k, "domain": domain}
        return self._chunks("taxonomic", body | plain(ours))

    def discover_procedures(
        self,
        *,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        tags: list[str] | None = None,
        top_k: int = 10,
        similarity_threshold: float = 0.0,
        metadata_filter: Json | None = None,
        **ours: Any,
    ) -> list[Json]:
        body: Json = {"user_id": user_id, "query": query, "visibility": visibility, "tags": tags, "top_k": top_k}
        body |= {"similarity_threshold": similarity_threshold} | present(metadata_filter=metadata_filter) | plain(ours)
        return [procedure_found(chunk) for chunk in chunks_in(self._post("retrieval/procedural", body))]

    def _chunks(self, kind: str, body: Json) -> list[MemoryChunk]:
        return [MemoryChunk.model_validate(chunk) for chunk in chunks_in(self._post(f"retrieval/{kind}", body))]

    # --- requests

    def _post(self, path: str, body: Json) -> httpx.Response:
        return self._send("POST", path, body=self._ids | body).raise_for_status()

    def _get(self, path: str, params: Json) -> httpx.Response:
        return self._send("GET", path, params=params).raise_for_status()

    def _found(self, path: str, params: Json) -> httpx.Response | None:
        response = self._send("GET", path, params=params)
        return None if response.status_code == 404 else response.raise_for_status()

    def _send(self, method: str, path: str, *, params: Json | None = None, body: Json | None = None) -> httpx.Response:
        execution_id = None if self._execution_id is None else self._execution_id()
        headers = dict.fromkeys(_EXECUTION_HEADERS, execution_id) if execution_id else {}
        query = None if params is None else self._ids | params
        content = None if body is None else encoded(body)
        headers |= {} if body is None else {"Content-Type": "application/json"}
        return self._http.request(method, f"{self._prefix}/{path}", params=query, content=content, headers=headers)
