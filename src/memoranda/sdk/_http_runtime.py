"""The runtime over HTTP: turns, contexts and searches here, records and Memoranda's own calls beside it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from memoranda.sdk._direct_crud import DirectCrud
from memoranda.sdk._http_management import HttpManagement
from memoranda.sdk._pool import pause
from memoranda.sdk._responses import chunks_in, core_model
from memoranda.sdk._settings import HttpSettings
from memoranda.sdk._transport import Transport
from memoranda.sdk._wire import Json, core, plain, present, procedure_found, source_entry, turn_key
from memoranda.sdk.models import ContextResponse, FormatStyle, MemoryChunk, SourceSpec, WriteTurnResult


class HttpMemoryRuntime(DirectCrud, HttpManagement):
    """`MemoryRuntime`, `MemoryCrudClient` and `MemoryManagement` of a service.

    Hosted and direct use differ in paths only. What the shared protocol has is sent exactly as it says, and what
    Memoranda adds (`**ours`) goes along under its own name when it is set.
    """

    def __init__(self, settings: HttpSettings, *, pause: Callable[[float], None] = pause) -> None:
        self._transport = Transport(settings, pause=pause)

    def close(self) -> None:
        """Close the connections; again is harmless."""
        self._transport.close()

    def record_turn(
        self,
        *,
        role: str,
        content: str | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        tool_calls: list[Json] | None = None,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
        is_error: bool = False,
        model_name: str | None = None,
        metadata: Json | None = None,
        idempotency_key: str | None = None,
        **ours: Any,
    ) -> WriteTurnResult:
        body = {"session_id": session_id, "user_id": user_id, "role": role, "content": content}
        body |= present(
            agent_id=agent_id,
            model_name=model_name,
            tool_calls=tool_calls,
            tool_call_id=tool_call_id,
            tool_name=tool_name,
            is_error=is_error or None,
            metadata=metadata,
        )
        body |= {"idempotency_key": turn_key(idempotency_key)}
        return core_model(WriteTurnResult, self._transport.send(core("turns", body | plain(ours))))

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
        body = {"query": query, "user_id": user_id, "top_k": top_k}
        body |= present(
            session_id=session_id,
            visibility=visibility,
            metadata_filter=metadata_filter,
            enabled_sources=None if enabled_sources is None else sorted(enabled_sources),
            max_tokens=max_tokens,
            format_style=format_style,
            include_memories=include_memories or None,
        )
        return core_model(ContextResponse, self._transport.send(core("context", body | plain(ours))))

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
        body = {"query": query, "sources": [source_entry(spec) for spec in sources], "rerank": rerank}
        body |= present(
            user_id=user_id,
            session_id=session_id,
            visibility=visibility,
            max_tokens=max_tokens,
            format_style=format_style,
            include_memories=include_memories or None,
        )
        request = core("retrieval/context-from-sources", body | plain(ours))
        return core_model(ContextResponse, self._transport.send(request))

    def search_semantic(
        self,
        *,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        top_k: int = 50,
        **ours: Any,
    ) -> list[MemoryChunk]:
        body = {"type": "semantic", "query": query, "user_id": user_id, "top_k": top_k}
        return self._search(body | present(visibility=visibility) | plain(ours))

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
        body = {"type": "episodic", "query": query, "user_id": user_id, "top_k": top_k}
        return self._search(body | present(visibility=visibility, session_id=session_id) | plain(ours))

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
        body = {"type": "taxonomic", "query": query, "user_id": user_id, "top_k": top_k}
        return self._search(body | present(visibility=visibility, domain=domain) | plain(ours))

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
        body: Json = {"type": "procedural", "query": query, "user_id": user_id, "top_k": top_k}
        body |= {"similarity_threshold": similarity_threshold}
        body |= present(visibility=visibility, tags=tags, metadata_filter=metadata_filter)
        response = self._transport.send(core("search", body | plain(ours)))
        return [procedure_found(chunk) for chunk in chunks_in(response)]

    def _search(self, body: Json) -> list[MemoryChunk]:
        response = self._transport.send(core("search", body))
        return [MemoryChunk.model_validate(chunk) for chunk in chunks_in(response)]
