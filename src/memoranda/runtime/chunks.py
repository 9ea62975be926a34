"""Search hits and contexts as the SDK shows them."""

from __future__ import annotations

from typing import Any

from memoranda.engine.context.assemble import AssembledContext, Dropped
from memoranda.engine.records import Image, Profile, Turn
from memoranda.engine.retrieval.hits import Explanation, Hit, LegRank, Outcome
from memoranda.runtime.entries import memory_metadata, memory_text, turn_metadata
from memoranda.sdk.models import (
    ChunkExplanation,
    ContextMetadata,
    ContextResponse,
    LegScore,
    MemoryChunk,
    MemorySource,
    SourceOutcome,
)


def chunk(hit: Hit) -> MemoryChunk:
    """Return a hit as a chunk; its time is the record's event time."""
    record = hit.record
    if isinstance(record, Profile | Image):
        raise TypeError("profiles and images are no sources of this front door")
    if isinstance(record, Turn):
        content, metadata = record.content or "", turn_metadata(record)
    else:
        content, metadata = memory_text(record), memory_metadata(record)
    return MemoryChunk(
        id=record.id,
        content=content,
        source=MemorySource(hit.source),
        timestamp=record.event_time,
        similarity_score=hit.score,
        metadata=metadata,
        explanation=None if hit.explanation is None else _explanation(hit.explanation),
    )


def procedure_entry(shown: MemoryChunk) -> dict[str, Any]:
    """Return a procedure as ``discover_procedures`` shows it: the chunk's metadata overlaid with its main fields."""
    metadata = shown.metadata or {}
    entry: dict[str, Any] = {
        **metadata,
        "id": shown.id,
        "timestamp": shown.timestamp,
        "procedure": metadata.get("procedure", ""),
        "content": shown.content,
        "score": shown.similarity_score,
    }
    return entry if shown.explanation is None else {**entry, "explanation": shown.explanation}


def context_response(context: AssembledContext, *, include_memories: bool, with_outcomes: bool) -> ContextResponse:
    """Return an assembled context; strategy and outcomes belong to the per-source form alone (spec 4.2)."""
    metadata = ContextMetadata(
        token_count=context.token_count,
        memory_counts=dict(context.memory_counts),
        timing=dict(context.timings),
        ranking_strategy=context.strategy if with_outcomes else None,
        source_outcomes=outcomes(context) if with_outcomes else None,
        dropped=[_dropped(item) for item in context.dropped] or None,
        truncated=context.truncated,
    )
    return ContextResponse(
        formatted_context=context.formatted,
        metadata=metadata,
        selected_memories=[chunk(hit) for hit in context.hits] if include_memories else None,
    )


def outcomes(context: AssembledContext) -> list[SourceOutcome]:
    return [_outcome(outcome, context.rerank_error) for outcome in context.outcomes]


def _outcome(outcome: Outcome, rerank_error: str | None) -> SourceOutcome:
    return SourceOutcome(
        source=outcome.source,
        requested_mode=outcome.requested_mode.value,
        effective_mode=outcome.effective_mode.value,
        count=outcome.count,
        error=outcome.error or rerank_error,
    )


def _dropped(item: Dropped) -> dict[str, Any]:
    shown = {"id": item.hit.id, "source": item.hit.source, "reason": item.reason}
    return shown | ({"duplicate_of": item.duplicate_of} if item.duplicate_of else {})


def _explanation(explanation: Explanation) -> ChunkExplanation:
    return ChunkExplanation(
        text=_leg(explanation.text),
        semantic=_leg(explanation.semantic),
        neighbour=None if explanation.neighbour is None else LegScore(score=explanation.neighbour),
        rerank=_leg(explanation.rerank),
        fused=explanation.fused,
    )


def _leg(rank: LegRank | None) -> LegScore | None:
    return None if rank is None else LegScore(rank=rank.rank, score=rank.score)
