"""What a search gives back: hits, how each source fared, and why a hit stands where it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from memoranda.engine.indexing import memory_text, turn_text
from memoranda.engine.records import Image, IndexState, MemoryRecord, Profile, Turn
from memoranda.engine.retrieval.plan import Mode

WEIGHTED_MINMAX = "weighted_minmax"
TEXT_ONLY = "text"
SEMANTIC_ONLY = "semantic"
RERANK = "rerank"

Found: TypeAlias = MemoryRecord | Turn | Profile | Image


@dataclass(frozen=True, slots=True)
class LegRank:
    """Where one leg placed a record: ``rank`` counts from 1, ``score`` is on the leg's own scale."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Each leg that found a record, what its neighbours lent, and the score it was ordered by."""

    fused: float
    text: LegRank | None = None
    semantic: LegRank | None = None
    neighbour: float | None = None
    rerank: LegRank | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One record that was found. ``score``: on the scale of its source, or of the merge when there are several.

    A reranked hit has the reranker's score. Scores of different searches are not comparable.
    """

    source: str
    record: Found
    score: float
    state: IndexState = IndexState.CURRENT
    explanation: Explanation | None = None

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def key(self) -> int:
        return self.record.key

    @property
    def text(self) -> str:
        """The record's text as it is searched; empty for a turn that only calls tools."""
        if isinstance(self.record, Turn):
            return turn_text(self.record)
        if isinstance(self.record, Image):
            return self.record.description
        return self.record.information if isinstance(self.record, Profile) else memory_text(self.record)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one source fared: ``effective_mode`` differs from ``requested_mode`` when it was degraded.

    ``error`` says why; ``failed`` means that the source gave nothing because of the error.
    """

    source: str
    requested_mode: Mode
    effective_mode: Mode
    count: int
    error: str | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits best first, one outcome a source in the order asked for, and seconds a stage.

    ``companions`` has, for each found turn that calls a tool or holds a result, the whole exchange in order.
    """

    hits: Sequence[Hit]
    outcomes: Sequence[Outcome]
    timings: Mapping[str, float]
    strategy: str
    rerank_error: str | None = None
    companions: Mapping[str, tuple[Turn, ...]] = field(default_factory=dict)
