"""What a caller asks a search for, checked, and which legs answer it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memoranda.engine.records import IndexState
from memoranda.engine.rows import Narrowing
from memoranda.engine.scope import Scope
from memoranda.engine.text import require_count, require_text
from memoranda.sdk.errors import MemoryClientError

_NO_NARROWING = Narrowing()


class Mode(StrEnum):
    """How a source is searched: by words, by vectors, or by both fused."""

    TEXT = "text"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """One source of a search. ``scope`` replaces the request's for this source alone."""

    source: str
    mode: Mode = Mode.HYBRID
    top_k: int = 50
    narrowing: Narrowing = _NO_NARROWING
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search. Sources are answered in one consistent view and merged; their order settles ties.

    ``query_vector`` spares the embedder. ``similarity_threshold`` hides vector hits below it, never a keyword hit.
    ``companions`` also reads what belongs to a found tool call or result.
    """

    query: str
    scope: Scope
    sources: Sequence[SourcePlan]
    query_vector: Sequence[float] | None = None
    include_superseded: bool = False
    rerank: bool = False
    similarity_threshold: float | None = None
    explain: bool = False
    companions: bool = False

    def states(self) -> tuple[IndexState, ...]:
        """Return the index states that the search reads."""
        return tuple(IndexState) if self.include_superseded else (IndexState.CURRENT,)


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The query as a vector of ``model``, or why there is none."""

    model: str = ""
    values: Sequence[float] | None = None
    error: str | None = None


def check_request(request: SearchRequest, known_sources: Collection[str]) -> None:
    """Raise ``MemoryClientError`` for a blank query, and for sources that are missing, doubled or unknown.

    What is of the wrong type is a ``MemoryBadRequestError``.
    """
    if not require_text("query", request.query).strip():
        raise MemoryClientError("empty query: pass a query with at least one character that is not blank")
    if not request.sources:
        raise MemoryClientError("no sources: name at least one source to search")
    seen: set[str] = set()
    for plan in request.sources:
        if plan.source not in known_sources:
            raise MemoryClientError(f"unknown source {plan.source!r}: use one of {', '.join(sorted(known_sources))}")
        if plan.source in seen:
            raise MemoryClientError(f"source {plan.source!r} is given twice: name each source once")
        if require_count(f"top_k of source {plan.source!r}", plan.top_k) < 1:
            raise MemoryClientError(f"top_k of source {plan.source!r} is {plan.top_k}: it must be at least 1")
        seen.add(plan.source)


def effective_mode(requested: Mode, vector: QueryVector) -> Mode:
    """Return the mode that can be run: without a query vector every source runs on text."""
    return Mode.TEXT if vector.values is None else requested
