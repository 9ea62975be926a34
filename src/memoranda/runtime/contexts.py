"""Contexts: what ``build_context`` and ``build_context_from_sources`` ask of the engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from typing import Any

from memoranda.engine.context.assemble import ContextRequest
from memoranda.engine.context.render import Style, style_named
from memoranda.engine.ports import Narrowing
from memoranda.engine.records import BUILT_IN_KINDS, EPISODIC, SEMANTIC, STM
from memoranda.engine.retrieval.plan import Mode, SearchRequest, SourcePlan
from memoranda.engine.scope import Scope
from memoranda.runtime.calls import EngineCalls, Json, at_moment, includes_superseded
from memoranda.runtime.chunks import context_response
from memoranda.sdk.errors import MemoryBadRequestError
from memoranda.sdk.models import ContextMetadata, ContextResponse, FormatStyle, SourceSpec

SOURCE_NAMES = (STM, *BUILT_IN_KINDS)
MAX_TOP_K = 200
"""The most candidates one source gives to a context (spec 4.2)."""
DEFAULT_SOURCES = (EPISODIC, SEMANTIC)
"""What ``build_context`` reads when no sources are named (spec 4.2)."""


class ContextCalls(EngineCalls):
    """The context calls of ``MemoryRuntime``. A session narrows turns alone: memories do not live in sessions."""

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
        **options: Any,
    ) -> ContextResponse:
        if not 1 <= top_k <= MAX_TOP_K:
            raise MemoryBadRequestError(f"top_k is {top_k}: give 1 to {MAX_TOP_K}")
        mode = Mode(_name(options.get("mode") or Mode.HYBRID))
        names = _source_names(enabled_sources)
        if not names:
            return _empty(_style(format_style), include_memories=include_memories)
        narrowing = Narrowing(where=self._filter(metadata_filter, names))
        scope = self._scope(user_id=user_id, visibility=visibility)
        plans = [
            SourcePlan(name, mode, top_k, narrowing, self._source_scope(name, scope, session_id)) for name in names
        ]
        request = self._request(query, scope, plans, options)
        context = self._engine.assembler.build(ContextRequest(request, max_tokens, _style(format_style)))
        # Who names a mode is told how each source was searched; the shared contract has no outcomes here.
        return context_response(context, include_memories=include_memories, with_outcomes="mode" in options)

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
        **options: Any,
    ) -> ContextResponse:
        scope = self._scope(user_id=user_id, visibility=visibility)
        plans = [
            SourcePlan(
                _name(spec.source),
                Mode(_name(spec.mode)),
                spec.top_k,
                Narrowing(where=self._filter(spec.metadata_filter, [_name(spec.source)])),
                self._source_scope(_name(spec.source), scope, session_id),
            )
            for spec in sources
        ]
        request = self._request(query, scope, plans, options, rerank=rerank)
        context = self._engine.assembler.build(ContextRequest(request, max_tokens, _style(format_style)))
        return context_response(context, include_memories=include_memories, with_outcomes=True)

    def _source_scope(self, source: str, scope: Scope, session_id: str | None) -> Scope:
        return scope.narrowed(session_id=self._scope(session_id=session_id).session_id) if source == STM else scope

    def _request(
        self,
        query: str,
        scope: Scope,
        plans: Sequence[SourcePlan],
        options: Mapping[str, Any],
        *,
        rerank: bool = False,
    ) -> SearchRequest:
        return SearchRequest(
            query=query,
            scope=scope,
            sources=[at_moment(plan, options) for plan in plans],
            query_vector=options.get("query_embedding"),
            similarity_threshold=options.get("similarity_threshold") or None,
            include_superseded=includes_superseded(options),
            rerank=rerank,
            explain=bool(options.get("explain")),
        )


def _source_names(enabled: Collection[str] | None) -> list[str]:
    """Return the enabled sources in their canonical order, an empty choice too; the facade leaves checking to us."""
    if enabled is None:
        return list(DEFAULT_SOURCES)
    names = {_name(source) for source in enabled}
    unknown = sorted(names - set(SOURCE_NAMES))
    if unknown:
        raise MemoryBadRequestError(f"enabled_sources has {unknown}: use {', '.join(SOURCE_NAMES)}")
    return [name for name in SOURCE_NAMES if name in names]


def _empty(style: Style, *, include_memories: bool) -> ContextResponse:
    """Return what no source gives: nothing, in the form that was asked for."""
    return ContextResponse(
        formatted_context=[] if style is Style.OPENAI else "",
        metadata=ContextMetadata(),
        selected_memories=[] if include_memories else None,
    )


def _name(value: str | Enum) -> str:
    """Return a source's or mode's plain name; models hold either form."""
    return str(value.value) if isinstance(value, Enum) else value


def _style(style: FormatStyle | str | None) -> Style:
    return Style.OPENAI if style is None else style_named(_name(style))
