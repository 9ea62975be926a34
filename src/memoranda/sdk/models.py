"""What goes in and comes out of `Memory`: enums, results, chunks and contexts.

The public two-API contract lives here; what Memoranda adds (entries, pages, reports, bulk inputs) is defined in
`_entries` and `_inputs` and exported from here as well. Unknown keys are ignored in everything that is read from an
engine or a service, and refused in everything that a caller writes.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Any, NotRequired, TypeAlias

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from memoranda.sdk._entries import (
    BreakerEntry,
    BulkItemResult,
    ChangeEntry,
    ChangePage,
    DeletionReport,
    FailureEntry,
    FailurePage,
    MemoryEntry,
    MemoryPage,
    StatusReport,
    TurnEntry,
    TurnPage,
)
from memoranda.sdk._inputs import (
    CustomInput,
    EpisodicInput,
    MemoryInput,
    MemoryUpdate,
    ProceduralInput,
    SemanticInput,
    TaxonomicInput,
    TurnInput,
)
from memoranda.sdk._model import Model

__all__ = [
    "BreakerEntry",
    "BulkCreateSemanticResult",
    "BulkItemResult",
    "ChangeEntry",
    "ChangePage",
    "ChunkExplanation",
    "ContextMetadata",
    "ContextResponse",
    "CreateEpisodicResult",
    "CreateProceduralResult",
    "CreateSemanticResult",
    "CreateSnapshotResult",
    "CreateTaxonomicResult",
    "CreateUserContextResult",
    "CustomInput",
    "CustomMemoryRetrieveResult",
    "CustomMemorySaveResult",
    "DeleteResult",
    "DeletionReport",
    "EpisodicInput",
    "FailureEntry",
    "FailurePage",
    "FormatStyle",
    "ISGenerationResult",
    "InternalStateResult",
    "LegScore",
    "MemoryChunk",
    "MemoryEntry",
    "MemoryInput",
    "MemoryPage",
    "MemorySource",
    "MemoryUpdate",
    "ProceduralInput",
    "PromoteSnapshotResult",
    "RetrievalMode",
    "RetrievedCustomMemory",
    "SearchSource",
    "SemanticInput",
    "SourceOutcome",
    "SourceSpec",
    "StatusReport",
    "TagScalar",
    "TaxonomicInput",
    "TurnEntry",
    "TurnInput",
    "TurnPage",
    "WriteTurnResult",
]

TagScalar: TypeAlias = str | int | float | bool


def _not_set(value: object) -> bool:
    return value is None or value is False


def _only_when_set(default: Any) -> Any:
    """A field of ours on a shared model: left out of dumps unless set, so that the shared shape stays exact."""
    return Field(default=default, exclude_if=_not_set)


class MemorySource(str, Enum):  # noqa: UP042 - the shared contract: str() of a member is not its value
    """Where a reader may look: turns, or one kind of memory."""

    STM = "stm"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    TAXONOMIC = "taxonomic"
    PROCEDURAL = "procedural"


class SearchSource(str, Enum):  # noqa: UP042 - the shared contract: str() of a member is not its value
    """The sources that `Memory.search` accepts: every kind, but not turns."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    TAXONOMIC = "taxonomic"
    PROCEDURAL = "procedural"


class RetrievalMode(str, Enum):  # noqa: UP042 - the shared contract: str() of a member is not its value
    """How a source is searched: by words, by vectors, or by both fused."""

    TEXT = "text"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


class FormatStyle(str, Enum):  # noqa: UP042 - the shared contract: str() of a member is not its value
    """The form of an assembled context: chat messages, XML, or Markdown."""

    OPENAI = "openai"
    CLAUDE = "claude"
    JINJA2 = "jinja2"


class SourceSpec(Model):
    """One source of `build_context_from_sources`: how to search it, with which filter, for how many (1 to 200)."""

    model_config = ConfigDict(use_enum_values=True, validate_default=True)

    source: MemorySource
    mode: RetrievalMode = RetrievalMode.SEMANTIC
    metadata_filter: dict[str, Any] | None = None
    top_k: int = Field(default=20, ge=1, le=200)


class LegScore(Model):
    """Where one leg of the search placed a chunk: `rank` counts from 1; `score` is on that leg's own scale."""

    rank: int | None = None
    score: float | None = None


class ChunkExplanation(Model):
    """Why a chunk was returned: each leg that found it, and the fused score it was ordered by."""

    text: LegScore | None = None
    semantic: LegScore | None = None
    neighbour: LegScore | None = None
    rerank: LegScore | None = None
    fused: float | None = None


class MemoryChunk(Model):
    """One retrieval result. `explanation` is filled on `explain=True` only."""

    model_config = ConfigDict(use_enum_values=True)

    id: str
    content: str
    source: MemorySource
    timestamp: datetime
    embedding: list[float] | None = None
    similarity_score: float | None = None
    metadata: dict[str, Any] | None = None
    explanation: ChunkExplanation | None = _only_when_set(None)

    @property
    def org_id(self) -> Any:
        """The organisation recorded in the metadata, or None."""
        return (self.metadata or {}).get("org_id")


class SourceOutcome(TypedDict):
    """What became of one source: `effective_mode` differs from `requested_mode` when it was degraded."""

    source: str
    requested_mode: str
    effective_mode: str
    count: int
    error: str | None
    retryable: NotRequired[bool]


class ContextMetadata(Model):
    """Facts about an assembled context; `timing` is in seconds a stage.

    `dropped` says which chunks were left out and why (`budget`, `duplicate`), `truncated` that the budget was used up.
    """

    token_count: int = Field(default=0, ge=0)
    memory_counts: dict[str, int] = Field(default_factory=dict)
    timing: dict[str, float] = Field(default_factory=dict)
    ranking_strategy: str | None = None
    source_outcomes: list[SourceOutcome] | None = None
    dropped: list[dict[str, Any]] | None = _only_when_set(None)
    truncated: bool = _only_when_set(False)


class ContextResponse(Model):
    """A context ready for a prompt: chat messages or one string; `selected_memories` only on `include_memories`."""

    formatted_context: str | list[dict[str, Any]]
    metadata: ContextMetadata
    selected_memories: list[MemoryChunk] | None = None


class WriteTurnResult(Model):
    """A turn that is durable: its id and its number in the session.

    `repeated` says that an earlier call with the same idempotency key had recorded it.
    """

    id: str
    session_id: str
    turn_seq: int
    acknowledged: bool = True
    has_embedding: bool = False
    repeated: bool = _only_when_set(False)


class CreateSemanticResult(Model):
    """A saved semantic memory."""

    id: str
    label: str
    has_embedding: bool
    acknowledged: bool = True


class BulkCreateSemanticResult(Model):
    """Part of the shared contract; no method of `Memory` returns it."""

    created_count: int
    skipped_count: int
    created_ids: list[str]
    skipped_labels: list[str]
    has_embeddings: bool
    acknowledged: bool = True


class CreateEpisodicResult(Model):
    """A saved episode."""

    id: str
    title: str
    has_embedding: bool
    acknowledged: bool = True


class CreateTaxonomicResult(Model):
    """A saved term."""

    id: str
    domain: str
    term: str
    has_embedding: bool
    acknowledged: bool = True


class CreateProceduralResult(Model):
    """A saved procedure."""

    id: str
    procedure: str
    has_embedding: bool
    acknowledged: bool = True


class CreateUserContextResult(Model):
    """Part of the shared contract; no method of `Memory` returns it."""

    id: str
    context_key: str
    acknowledged: bool = True


class CreateSnapshotResult(Model):
    """Part of the shared contract; no method of `Memory` returns it."""

    id: str
    session_id: str
    message_count: int
    has_embedding: bool
    embedding_strategy: str | None = None
    snapshot_reason: str = "manual"
    acknowledged: bool = True


class PromoteSnapshotResult(Model):
    """One session that was promoted on request; `snapshot_id` is None when it had nothing to promote."""

    snapshot_id: str | None = None
    session_id: str
    promoted_count: int
    reason: str
    has_embedding: bool = False
    acknowledged: bool = True


class DeleteResult(Model):
    """Part of the shared contract; deletions of Memoranda report a `DeletionReport`."""

    deleted_count: int
    acknowledged: bool = True


class InternalStateResult(Model):
    """Part of the shared contract; no method of `Memory` returns it. `content_hash`: 16 hex digits of SHA-256."""

    session_id: str
    version: int
    token_count: int
    content_hash: str
    previous_version: int | None = None
    was_noop: bool = False
    acknowledged: bool = True


class ISGenerationResult(Model):
    """Part of the shared contract; no method of `Memory` returns it."""

    updated: bool | None = None
    version: int | None = None
    token_count: int | None = None
    content_hash: str | None = None
    previous_version: int | None = None
    was_noop: bool = False
    coalesced: bool = False
    skipped_reason: str | None = None
    next_update_at: datetime | None = None
    model_id: str | None = None
    events_hash: str | None = None


class CustomMemorySaveResult(Model):
    """A saved memory of a declared custom type."""

    id: str
    type: str
    tags: dict[str, TagScalar]
    has_embedding: bool


class RetrievedCustomMemory(Model):
    """One memory of a custom type, as found."""

    id: str
    type: str
    content: str
    tags: dict[str, TagScalar]
    contextual_metadata: dict[str, Any] | None = None
    user_id: str | None = None
    agent_id: str | None = None
    explanation: ChunkExplanation | None = _only_when_set(None)


class CustomMemoryRetrieveResult(Model):
    """What `retrieve` found, best first."""

    results: list[RetrievedCustomMemory]
    count: int
