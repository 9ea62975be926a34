"""Searches of single kinds, and custom types."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memoranda.engine.filters import And, Comparison, Operator, ValueType
from memoranda.engine.indexing import TAG_VALUE
from memoranda.engine.ports import Narrowing
from memoranda.engine.records import EPISODIC, PRIVATE, PROCEDURAL, SEMANTIC, TAXONOMIC, MemoryRecord
from memoranda.engine.retrieval.hits import Hit
from memoranda.engine.retrieval.plan import Mode, SearchRequest, SourcePlan
from memoranda.engine.scope import Scope, blank_is_any
from memoranda.engine.tags import TagScalar, flat_tags
from memoranda.runtime.calls import EngineCalls, Json, at_moment, includes_superseded
from memoranda.runtime.chunks import chunk, procedure_entry
from memoranda.runtime.entries import present
from memoranda.sdk.errors import MemoryBadRequestError
from memoranda.sdk.models import CustomMemoryRetrieveResult, MemoryChunk, RetrievalMode, RetrievedCustomMemory

MAX_RETRIEVED = 100
"""The most custom memories one call returns (spec 10.1)."""


class SearchCalls(EngineCalls):
    """The ranked reads of ``MemoryRuntime`` and ``MemoryCrudClient.retrieve_custom``. Hybrid unless told otherwise."""

    def search_semantic(
        self,
        *,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        top_k: int = 50,
        **options: Any,
    ) -> list[MemoryChunk]:
        scope = self._scope(user_id=user_id, visibility=visibility)
        return [chunk(hit) for hit in self._search(query, scope, _plan(SEMANTIC, top_k, options), options)]

    def search_episodes(
        self,
        *,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        session_id: str | None = None,
        top_k: int = 50,
        **options: Any,
    ) -> list[MemoryChunk]:
        scope = self._scope(user_id=user_id, visibility=visibility, session_id=session_id)
        return [chunk(hit) for hit in self._search(query, scope, _plan(EPISODIC, top_k, options), options)]

    def search_taxonomic(
        self,
        *,
        query: str,
        user_id: str | None = None,
        domain: str | None = None,
        visibility: str | None = None,
        top_k: int = 50,
        **options: Any,
    ) -> list[MemoryChunk]:
        scope = self._scope(user_id=user_id, visibility=visibility)
        plan = _plan(TAXONOMIC, top_k, options, Narrowing(domain=blank_is_any(domain)))
        return [chunk(hit) for hit in self._search(query, scope, plan, options)]

    def discover_procedures(
        self,
        *,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        tags: list[str] | None = None,
        top_k: int = 10,
        metadata_filter: Json | None = None,
        **options: Any,
    ) -> list[Json]:
        found = self.search_procedures(
            query=query,
            user_id=user_id,
            visibility=visibility,
            tags=tags,
            top_k=top_k,
            metadata_filter=metadata_filter,
            **options,
        )
        return [procedure_entry(shown) for shown in found]

    def search_procedures(
        self,
        *,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        tags: list[str] | None = None,
        top_k: int = 10,
        metadata_filter: Json | None = None,
        **options: Any,
    ) -> list[MemoryChunk]:
        """Return what ``discover_procedures`` finds as chunks, like the other searches."""
        scope = self._scope(user_id=user_id, visibility=visibility)
        narrowing = Narrowing(tags=tuple(tags or ()), where=self._filter(metadata_filter, [PROCEDURAL]))
        plan = _plan(PROCEDURAL, top_k, options, narrowing)
        return [chunk(hit) for hit in self._search(query, scope, plan, options)]

    def retrieve_custom(
        self,
        *,
        memory_type: str,
        query: str,
        tags: Mapping[str, Any] | None = None,
        top_k: int = 10,
        user_id: str | None = None,
        visibility: str | None = None,
        owned: bool = True,
        **options: Any,
    ) -> CustomMemoryRetrieveResult:
        """See ``MemoryCrudClient``. Without ``owned`` no private memory of a user is found, whoever asks."""
        declared = self._engine.custom_type(memory_type)
        if not 1 <= top_k <= MAX_RETRIEVED:
            raise MemoryBadRequestError(f"top_k is {top_k}: give 1 to {MAX_RETRIEVED}")
        wanted = flat_tags(tags or {}, declared.tags)
        narrowing = Narrowing(where=And(tuple(_tag_equals(path, value) for path, value in wanted.items())))
        plan = _plan(memory_type, top_k, options, narrowing if wanted else Narrowing())
        scope = self._scope(user_id=user_id, visibility=visibility)
        scopes = [scope] if owned else _without_owned(scope)
        hits = [hit for each in scopes for hit in self._search(query, each, plan, options)]
        if len(scopes) > 1:
            hits = sorted(hits, key=_best_first)[:top_k]
        results = [_custom(hit.record) for hit in hits if isinstance(hit.record, MemoryRecord)]
        return CustomMemoryRetrieveResult(results=results, count=len(results))

    def _search(
        self,
        query: str,
        scope: Scope,
        plan: SourcePlan,
        options: Mapping[str, Any],
    ) -> Sequence[Hit]:
        request = SearchRequest(
            query=query,
            scope=scope,
            sources=(at_moment(plan, options),),
            query_vector=options.get("query_embedding"),
            include_superseded=includes_superseded(options),
            similarity_threshold=options.get("similarity_threshold") or None,
            explain=bool(options.get("explain")),
        )
        return self._engine.searcher.search(request).hits


def _plan(source: str, top_k: int, options: Mapping[str, Any], narrowing: Narrowing | None = None) -> SourcePlan:
    mode: RetrievalMode | None = options.get("mode")
    return SourcePlan(source, Mode.HYBRID if mode is None else Mode(mode.value), top_k, narrowing or Narrowing())


def _without_owned(scope: Scope) -> list[Scope]:
    """Return the parts of a scope that hold no private record; one that is nobody's is never private."""
    return [replace(scope, visibility=reach) for reach in scope.visibilities() if reach != PRIVATE]


def _best_first(hit: Hit) -> float:
    return -hit.score if hit.score is not None else math.inf


def _tag_equals(path: str, value: TagScalar) -> Comparison:
    if isinstance(value, bool):
        kind = ValueType.BOOLEAN
    else:
        kind = ValueType.STRING if isinstance(value, str) else ValueType.NUMBER
    return Comparison(f"{TAG_VALUE}.{path}", kind, Operator.EQUALS, value)


def _custom(record: MemoryRecord) -> RetrievedCustomMemory:
    tags = record.body.get("tags")
    return RetrievedCustomMemory(
        id=record.id,
        type=record.kind,
        content=record.content,
        tags=dict(tags) if isinstance(tags, Mapping) else {},
        contextual_metadata=None if record.metadata is None else dict(record.metadata),
        user_id=present(record.user_id),
        agent_id=present(record.agent_id),
    )
