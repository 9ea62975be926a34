"""Searches: ranked records of one kind, or of several together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memoranda.sdk._handle import Handle
from memoranda.sdk.models import MemoryChunk, MemorySource, RetrievalMode, SearchSource
from memoranda.sdk.protocol import MemoryRuntime
from memoranda.sdk.validation import read_options

_EPOCH = datetime.fromtimestamp(0, UTC)
_DEFAULT_SOURCES = (SearchSource.SEMANTIC, SearchSource.EPISODIC)


@dataclass(frozen=True, slots=True)
class _Question:
    """One search, ready to be put to each source; `session_id` reaches episodes only, and so on."""

    query: str
    top_k: int
    user_id: str | None
    visibility: str | None
    session_id: str | None
    domain: str | None
    tags: list[str] | None
    similarity_threshold: float
    metadata_filter: dict[str, Any] | None
    options: dict[str, Any]


class Searches(Handle):
    """The part of `Memory` that searches.

    All searches take: `mode` (`text`, `semantic` or `hybrid`; default hybrid), `query_embedding` (the caller's own
    vector for the query), `include_superseded` (records that no longer hold, too), `as_of` (records that held at that
    time, superseded by now or not; earlier states of a record that was changed in place are found by `get_memory`
    alone) and `explain` (how each result was found).
    """

    def search_semantic(
        self,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        top_k: int = 50,
        *,
        mode: RetrievalMode | str | None = None,
        query_embedding: Sequence[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = False,
    ) -> list[MemoryChunk]:
        """Return the best semantic memories, best first."""
        options = read_options(
            mode=mode,
            query_embedding=query_embedding,
            include_superseded=include_superseded,
            as_of=as_of,
            explain=explain,
        )
        who = self._reader(user_id=user_id, visibility=visibility)
        return self._connection.runtime.search_semantic(
            query=query, user_id=who.user_id, visibility=visibility, top_k=top_k, **options
        )

    def search_episodes(
        self,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        session_id: str | None = None,
        top_k: int = 50,
        *,
        mode: RetrievalMode | str | None = None,
        query_embedding: Sequence[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = False,
    ) -> list[MemoryChunk]:
        """Return the best episodes, best first; of one session only when `session_id` is given here."""
        options = read_options(
            mode=mode,
            query_embedding=query_embedding,
            include_superseded=include_superseded,
            as_of=as_of,
            explain=explain,
        )
        who = self._reader(user_id=user_id, visibility=visibility)
        return self._connection.runtime.search_episodes(
            query=query, user_id=who.user_id, visibility=visibility, session_id=session_id, top_k=top_k, **options
        )

    def search_taxonomic(
        self,
        query: str,
        user_id: str | None = None,
        domain: str | None = None,
        visibility: str | None = None,
        top_k: int = 50,
        *,
        mode: RetrievalMode | str | None = None,
        query_embedding: Sequence[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = False,
    ) -> list[MemoryChunk]:
        """Return the best terms, best first, of one domain when given."""
        options = read_options(
            mode=mode,
            query_embedding=query_embedding,
            include_superseded=include_superseded,
            as_of=as_of,
            explain=explain,
        )
        who = self._reader(user_id=user_id, visibility=visibility)
        return self._connection.runtime.search_taxonomic(
            query=query, user_id=who.user_id, domain=domain, visibility=visibility, top_k=top_k, **options
        )

    def discover_procedures(
        self,
        query: str,
        user_id: str | None = None,
        *,
        visibility: str | None = None,
        tags: list[str] | None = None,
        top_k: int = 10,
        similarity_threshold: float = 0.0,
        metadata_filter: dict[str, Any] | None = None,
        mode: RetrievalMode | str | None = None,
        query_embedding: Sequence[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = False,
    ) -> list[dict[str, Any]]:
        """Return the best procedures, best first, as dicts with `id`, `procedure`, `content`, `timestamp`, `score`."""
        options = read_options(
            mode=mode,
            query_embedding=query_embedding,
            include_superseded=include_superseded,
            as_of=as_of,
            explain=explain,
        )
        who = self._reader(user_id=user_id, visibility=visibility)
        return self._connection.runtime.discover_procedures(
            query=query,
            user_id=who.user_id,
            visibility=visibility,
            tags=tags,
            top_k=top_k,
            similarity_threshold=similarity_threshold,
            metadata_filter=metadata_filter,
            **options,
        )

    def search(
        self,
        query: str,
        *,
        sources: SearchSource | str | Sequence[SearchSource | str] | None = None,
        top_k: int = 10,
        user_id: str | None = None,
        visibility: str | None = None,
        session_id: str | None = None,
        domain: str | None = None,
        tags: list[str] | None = None,
        similarity_threshold: float = 0.0,
        metadata_filter: dict[str, Any] | None = None,
        mode: RetrievalMode | str | None = None,
        query_embedding: Sequence[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = False,
    ) -> list[MemoryChunk]:
        """Search several kinds (default: semantic and episodic), one after the other, and merge by score.

        `session_id` concerns episodes, `domain` terms, `tags`, `similarity_threshold` and `metadata_filter`
        procedures. The first source that fails fails the call.
        """
        wanted = _wanted(sources)
        options = read_options(
            mode=mode,
            query_embedding=query_embedding,
            include_superseded=include_superseded,
            as_of=as_of,
            explain=explain,
        )
        question = _Question(
            query=query,
            top_k=top_k,
            user_id=self._reader(user_id=user_id, visibility=visibility).user_id,
            visibility=visibility,
            session_id=session_id,
            domain=domain,
            tags=tags,
            similarity_threshold=similarity_threshold,
            metadata_filter=metadata_filter,
            options=options,
        )
        runtime = self._connection.runtime
        chunks = [chunk for source in wanted for chunk in _ask(runtime, source, question)]
        chunks.sort(key=_unscored_last)
        return chunks[: max(top_k, 0)]


def _wanted(sources: SearchSource | str | Sequence[SearchSource | str] | None) -> list[SearchSource]:
    if sources is None:
        return list(_DEFAULT_SOURCES)
    named = [sources] if isinstance(sources, str) else sources
    return list(dict.fromkeys(SearchSource(name) for name in named))


def _ask(runtime: MemoryRuntime, source: SearchSource, asked: _Question) -> list[MemoryChunk]:
    common: dict[str, Any] = {
        "query": asked.query,
        "user_id": asked.user_id,
        "visibility": asked.visibility,
        "top_k": asked.top_k,
        **asked.options,
    }
    if source is SearchSource.SEMANTIC:
        return runtime.search_semantic(**common)
    if source is SearchSource.EPISODIC:
        return runtime.search_episodes(session_id=asked.session_id, **common)
    if source is SearchSource.TAXONOMIC:
        return runtime.search_taxonomic(domain=asked.domain, **common)
    found = runtime.discover_procedures(
        tags=asked.tags,
        similarity_threshold=asked.similarity_threshold,
        metadata_filter=asked.metadata_filter,
        **common,
    )
    return [_procedure_chunk(procedure) for procedure in found]


def _procedure_chunk(procedure: dict[str, Any]) -> MemoryChunk:
    content = procedure.get("content") or procedure.get("description") or procedure.get("procedure") or ""
    score = procedure.get("score")
    return MemoryChunk(
        id=procedure.get("id") or "",
        content=content,
        source=MemorySource.PROCEDURAL,
        timestamp=procedure.get("timestamp") or _EPOCH,
        similarity_score=procedure.get("similarity_score") if score is None else score,
        metadata={name: value for name, value in procedure.items() if name != "explanation"},
        explanation=procedure.get("explanation"),
    )


def _unscored_last(chunk: MemoryChunk) -> tuple[bool, float]:
    score = chunk.similarity_score
    return (score is None, -(score or 0.0))
