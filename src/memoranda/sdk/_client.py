"""`MemoryClient`: the memory server's own routes, for whoever runs agents on behalf of others. Not public.

A runner knows the organisation, the project and the running execution, and tells them with every request. It imports
nothing of any host: the execution is asked of a callable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import httpx

from memoranda.sdk._pool import TIMEOUT
from memoranda.sdk._responses import (
    Route,
    chunks_in,
    core_model,
    entry_named,
    error_in,
    first_entry,
    model_in,
    object_in,
)
from memoranda.sdk._wire import Json, encoded, plain, present, procedure_found, segment, source_entry
from memoranda.sdk.errors import MemoryConnectionError
from memoranda.sdk.models import (
    ContextResponse,
    CreateEpisodicResult,
    CreateProceduralResult,
    CreateSemanticResult,
    CreateTaxonomicResult,
    CustomMemoryRetrieveResult,
    CustomMemorySaveResult,
    DeleteResult,
    FormatStyle,
    MemoryChunk,
    SourceSpec,
    WriteTurnResult,
)

DIRECT_PREFIX: Final = "/api/v1"
"""Where a memory server has its own routes."""
PROXIED_PREFIX: Final = "/api/v1/memory"
"""Where an engine in front of it has them."""

_AGENT_HEADERS: Final = ("X-Agent-Engine-Agent-Id", "X-Agentic-Agent-Id")
_EXECUTION_HEADERS: Final = ("X-Agent-Engine-Execution-Id", "X-Agentic-Execution-Id")


class MemoryClient:
    """`MemoryRuntime` and `MemoryCrudClient` over the native routes below `prefix`.

    The agent is named in every request, and so is the execution whenever `execution_id_provider`, asked for each, names
    one; both under the present and the older header. Nothing is retried. An ordinary failure is an
    `httpx.HTTPStatusError` (httpx's own errors where there was no answer); custom types raise the classes of `errors`.
    Each attempt has 30 s.
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
        self._http = httpx.Client(base_url=base_url, headers=headers, timeout=TIMEOUT, follow_redirects=False)

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

    # --- records

    def create_semantic(
        self,
        *,
        label: str,
        text: str,
        user_id: str,
        source: str = "agent",
        visibility: str = "private",
        agent_id: str | None = None,
        embedding: list[float] | None = None,
        metadata: Json | None = None,
        upsert: bool = False,
        **ours: Any,
    ) -> CreateSemanticResult:
        body = {
            "user_id": user_id,
            "label": label,
            "text": text,
            "source": source,
            "visibility": visibility,
            "agent_id": agent_id,
            "embedding": embedding,
            "metadata": metadata,
            "upsert": upsert,
        }
        return model_in(CreateSemanticResult, self._post("semantic", body | plain(ours)))

    def get_semantic(
        self, *, label: str, user_id: str | None = None, visibility: str | None = None, **ours: Any
    ) -> Any | None:
        params = present(user_id=user_id, visibility=visibility)
        response = self._found("semantic", {"label": label} | params | plain(ours))
        return None if response is None else first_entry(response)

    def get_semantic_by_id(self, memory_id: str, *, user_id: str | None = None) -> Json | None:
        """Return the bare entry, or None."""
        return self._one(f"semantic/{_id(memory_id)}", user_id)

    def update_semantic(self, memory_id: str, *, user_id: str | None = None, **changes: Any) -> Json:
        """Change `text`, `source` or `visibility`; null leaves one as it is."""
        body = {name: changes.pop(name, None) for name in ("text", "source", "visibility")}
        return self._patched(f"semantic/{_id(memory_id)}", user_id, body | changes)

    def create_episodic(self, *, title: str, content: str, user_id: str, session_id: str, **fields: Any) -> Any:
        """Save an episode; besides the shared fields `snapshot_ref_id`, `summary_type`, `source_agent`,
        `extraction_source` and `skip_embedding`."""
        body = {"user_id": user_id, "title": title, "content": content, "session_id": session_id}
        return model_in(CreateEpisodicResult, self._post("episodic", body | plain(fields)))

    def list_episodic(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        limit: int = 20,
        **ours: Any,
    ) -> list[Any]:
        params = present(limit=limit, user_id=user_id, session_id=session_id, visibility=visibility) | plain(ours)
        entries: list[Any] = object_in(self._get("episodic", params)).get("entries", [])
        return entries

    def create_taxonomic(
        self, *, domain: str, term: str, definition: str, user_id: str, query_expansion: bool = True, **fields: Any
    ) -> CreateTaxonomicResult:
        body: Json = {"user_id": user_id, "domain": domain, "term": term, "definition": definition}
        body |= {"query_expansion": query_expansion} | plain(fields)
        return model_in(CreateTaxonomicResult, self._post("taxonomic", body))

    def get_taxonomic(
        self, *, domain: str, term: str, user_id: str | None = None, visibility: str | None = None, **ours: Any
    ) -> Any | None:
        params = present(user_id=user_id, visibility=visibility)
        response = self._found("taxonomic", {"domain": domain} | params | plain(ours))
        return None if response is None else entry_named(response, "term", term)

    def get_distinct_domains(self, *, visibility: str | None = None, user_id: str | None = None) -> list[str]:
        params = present(visibility=visibility, user_id=user_id)
        domains: list[str] = object_in(self._get("taxonomic/domains", params)).get("domains", [])
        return domains

    def create_procedural(
        self, *, procedure: str, description: str, content: str, user_id: str, **fields: Any
    ) -> CreateProceduralResult:
        body = {"user_id": user_id, "procedure": procedure, "description": description, "content": content}
        return model_in(CreateProceduralResult, self._post("procedural", body | plain(fields)))

    def get_procedural(
        self,
        *,
        procedure: str,
        user_id: str | None = None,
        visibility: str | None = None,
        include_deleted: bool = False,
        **ours: Any,
    ) -> Any | None:
        params = present(include_deleted=include_deleted, user_id=user_id, visibility=visibility, procedure=procedure)
        response = self._found("procedural", params | plain(ours))
        return None if response is None else entry_named(response, "procedure", procedure)

    def get_procedural_by_id(self, memory_id: str, *, user_id: str | None = None) -> Json | None:
        """Return the bare entry, or None."""
        return self._one(f"procedural/{_id(memory_id)}", user_id)

    def update_procedural(
        self, memory_id: str, *, user_id: str | None = None, metadata: Json | None = None, **changes: Any
    ) -> Json:
        """Change fields of a procedure, its visibility too; null leaves one as it is."""
        names = (
            "description", "content", "steps", "resources", "allowed_tools", "trigger_conditions", "tags", "visibility"
        )  # fmt: skip
        body = {name: changes.pop(name, None) for name in names} | changes | {"user_id": user_id}
        return self._patched(f"procedural/{_id(memory_id)}", user_id, body | present(metadata=metadata))

    def delete_procedural(
        self, memory_id: str, *, user_id: str | None = None, visibility: str | None = None, soft: bool = True
    ) -> DeleteResult:
        """End a procedure (`soft`), or remove it with its history."""
        params = {"soft": soft} | present(user_id=user_id, visibility=visibility)
        response = self._send("DELETE", f"procedural/{_id(memory_id)}", params=params)
        return model_in(DeleteResult, response.raise_for_status())

    # --- custom types

    def create_custom(
        self,
        *,
        memory_type: str,
        content: str,
        tags: Mapping[str, Any] | None = None,
        contextual_metadata: Json | None = None,
        **ours: Any,
    ) -> CustomMemorySaveResult:
        body = {"content": content} | present(tags=tags, contextual_metadata=contextual_metadata) | plain(ours)
        return model_in(CustomMemorySaveResult, self._custom(f"types/{segment(memory_type)}", body))

    def retrieve_custom(
        self, *, memory_type: str, query: str, tags: Mapping[str, Any] | None = None, top_k: int = 10, **ours: Any
    ) -> CustomMemoryRetrieveResult:
        body: Json = {"query": query, "top_k": top_k} | present(tags=tags) | plain(ours)
        return model_in(CustomMemoryRetrieveResult, self._custom(f"types/{segment(memory_type)}/retrieve", body))

    # --- requests

    def _custom(self, path: str, body: Json) -> httpx.Response:
        try:
            response = self._send("POST", path, body=body)
        except httpx.TransportError as error:
            raise MemoryConnectionError(str(error)) from error
        if response.is_success:
            return response
        raise error_in(response, Route.CUSTOM, scoped=False)

    def _one(self, path: str, user_id: str | None) -> Json | None:
        response = self._found(path, present(user_id=user_id))
        return None if response is None else object_in(response)

    def _patched(self, path: str, user_id: str | None, body: Json) -> Json:
        response = self._send("PATCH", path, params=present(user_id=user_id), body=body)
        return object_in(response.raise_for_status())

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


def _id(memory_id: str) -> str:
    if memory_id in (".", ".."):
        raise ValueError(f"a memory id must be more than dots, got {memory_id!r}")
    return segment(memory_id)
