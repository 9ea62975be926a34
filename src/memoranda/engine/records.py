"""The engine's nouns: plain frozen data, no behaviour beyond reading itself.

All times are aware ``datetime`` values in UTC. An absent identity is the empty string (never ``None``), because absent
values are distinct from each other in unique keys on both databases. ``key`` is the record's integer key: unique in its
project, allocated in writing order, used in the text index and the vector table, and the write sequence that tombstones
compare with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

# Decoded JSON. Element types stay open: every reader checks the shape that it needs.
JsonValue: TypeAlias = object
JsonObject: TypeAlias = Mapping[str, JsonValue]

STM = "stm"
SEMANTIC = "semantic"
EPISODIC = "episodic"
PROCEDURAL = "procedural"
TAXONOMIC = "taxonomic"
BUILT_IN_KINDS = (SEMANTIC, EPISODIC, PROCEDURAL, TAXONOMIC)
PROFILE = "profile"
IMAGE = "image"

PRIVATE = "private"
ORG = "org"
SHARED = "shared"
VISIBILITIES = (PRIVATE, ORG, SHARED)

RECORD_TYPES = ("memory", "fact", "preference", "guideline")


class IndexState(StrEnum):
    """Where a record stands in the text index and the vectors; part of their keys."""

    CURRENT = "c"
    SUPERSEDED = "s"


class MemoryStatus(StrEnum):
    CURRENT = "current"
    SUPERSEDED = "superseded"


class SnapshotState(StrEnum):
    """``pending`` until extraction ends; then exactly one of the three outcomes."""

    PENDING = "pending"
    EXTRACTED = "extracted"
    EMPTY = "empty"
    FAILED = "failed"


class VectorState(StrEnum):
    """Whether a record has its vector: ``none`` when no embedder is configured or there is nothing to embed."""

    NONE = "none"
    PENDING = "pending"
    PRESENT = "present"
    REFUSED = "refused"


class JobState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"


class JobKind(StrEnum):
    PROMOTE = "promote"
    EXTRACT = "extract"
    EMBED = "embed"
    EXPIRE = "expire"
    PURGE = "purge"
    BACKFILL = "backfill"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a write is for; absent is the empty string."""

    user_id: str = ""
    agent_id: str = ""
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation. ``turn_seq`` counts from 1 within (project, user, session).

    ``parts`` is what a message has beside its text: its structured content, its timestamp as the caller wrote it.
    """

    id: str
    key: int
    user_id: str
    session_id: str
    turn_seq: int
    role: str
    content: str | None
    created_at: datetime
    event_time: datetime
    agent_id: str = ""
    model_name: str | None = None
    tool_calls: Sequence[JsonObject] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    metadata: JsonObject | None = None
    idempotency_key: str | None = None
    expires_at: datetime | None = None
    snapshot_id: str | None = None
    parts: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation of one user. ``last_seq`` is the highest turn number given out, ``promoted_seq`` the last one a
    snapshot holds; ``last_turn_at`` is when the last turn arrived.

    ``runtime_config``, ``runtime_state`` and ``summary`` are kept for whoever leads the conversation.
    """

    user_id: str
    session_id: str
    agent_id: str
    last_seq: int
    promoted_seq: int
    first_turn_at: datetime
    last_turn_at: datetime
    created_at: datetime
    updated_at: datetime
    metadata: JsonObject | None = None
    extraction_policy: JsonObject | None = None
    runtime_config: JsonObject | None = None
    runtime_state: JsonObject | None = None
    summary: JsonObject | None = None

    @property
    def unpromoted(self) -> int:
        return self.last_seq - self.promoted_seq


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A contiguous run of turns (``first_seq``..``last_seq``, both included) that extraction reads as a unit."""

    id: str
    user_id: str
    session_id: str
    agent_id: str
    first_seq: int
    last_seq: int
    message_count: int
    reason: str
    state: SnapshotState
    created_at: datetime
    updated_at: datetime
    summary: str = ""
    extractor: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One durable memory.

    ``domain`` and ``name`` carry the natural key: semantic label (domain empty), taxonomic domain and term, procedural
    procedure name (domain empty), custom namespace and key. ``slot`` is its digest, or the record's own id where there
    is none. ``origin`` is ``direct`` or ``extracted``.
    """

    id: str
    key: int
    kind: str
    content: str
    user_id: str
    visibility: str
    created_at: datetime
    updated_at: datetime
    event_time: datetime
    valid_from: datetime
    record_type: str = "memory"
    domain: str = ""
    name: str = ""
    slot: str = ""
    body: JsonObject = field(default_factory=dict)
    agent_id: str = ""
    session_id: str = ""
    metadata: JsonObject | None = None
    status: MemoryStatus = MemoryStatus.CURRENT
    version: int = 1
    occurrences: int = 1
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    origin: str = "direct"
    provenance: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Link:
    """A typed relation from ``source_id`` to ``target_id`` (new to existing)."""

    id: str
    source_id: str
    target_id: str
    relation: str
    inverse: str
    created_at: datetime
    event_time: datetime | None = None
    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known about a user or an agent as such; ``subject`` is ``user`` or ``agent``."""

    subject: str
    id: str
    key: int
    information: str
    created_at: datetime
    updated_at: datetime
    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """An image, found by its description. One with a ``turn_id`` lives and ends with that turn."""

    id: str
    key: int
    user_id: str
    blob_id: str
    mime_type: str
    description: str
    created_at: datetime
    updated_at: datetime
    event_time: datetime
    agent_id: str = ""
    session_id: str = ""
    turn_id: str = ""
    metadata: JsonObject | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One unit of background work. Jobs of one ``lane`` (not empty) run one at a time, in ``seq`` order."""

    id: str
    seq: int
    kind: JobKind
    lane: str
    payload: JsonObject
    run_at: datetime
    created_at: datetime
    state: JobState = JobState.PENDING
    attempts: int = 0
    dedupe_key: str | None = None
    extractor: str = ""
    embedder: str = ""
    lease_token: str | None = None
    lease_until: datetime | None = None
    last_error: str | None = None
    user_id: str = ""
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A job that ended without success, kept with its reason until an operator acts."""

    id: str
    job_kind: JobKind
    failure_class: str
    reason: str
    attempts: int
    payload: JsonObject
    first_seen: datetime
    last_seen: datetime
    retryable: bool = True
    lane: str = ""
    extractor: str = ""
    embedder: str = ""
    raw_reply: str | None = None
    user_id: str = ""
    session_id: str = ""
    snapshot_id: str = ""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Hides every record of its user, or the turns of its session where given, whose key is at most ``upto_key``."""

    id: str
    user_id: str
    upto_key: int
    created_at: datetime
    session_id: str | None = None
    snapshot_id: str | None = None


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One searchable record as the index holds it: its place, its terms and its filterable values."""

    key: int
    record_id: str
    source: str
    state: IndexState
    visibility: str
    user_id: str
    agent_id: str
    session_id: str
    terms: tuple[tuple[str, int], ...]
    length: int
    values: tuple[IndexedValue, ...] = ()
    expires_at: datetime | None = None
    vector_state: VectorState = VectorState.NONE


@dataclass(frozen=True, slots=True)
class IndexedValue:
    """One filterable value; ``type`` is ``string``, ``number``, ``boolean`` or ``date`` (microseconds, UTC)."""

    name: str
    type: str
    value: str | int | float | bool


@dataclass(frozen=True, slots=True)
class VectorPiece:
    """One normalised vector of a record, as signed bytes and the scale that restores them (value = byte * scale)."""

    data: bytes
    scale: float


@dataclass(frozen=True, slots=True)
class RecordVectors:
    """All pieces of one record under one model."""

    key: int
    model: str
    pieces: tuple[VectorPiece, ...]


@dataclass(frozen=True, slots=True)
class Backlog:
    """The background work of all projects of a store: jobs by state, those that are due, and failures that are kept."""

    pending: int
    running: int
    due: int
    failures: int
    oldest_due_seconds: float
    """How long the job that waits longest has been due."""


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """What is fixed or remembered about a project as such; empty strings where not yet fixed.

    ``filling`` names, for each filter key that was declared later, the sources whose records do not have it yet.
    ``rebuilding`` has, by ``reembed`` and ``reindex``, what such a run is to lead to and how far it has come.
    ``pending_config`` is a configuration that was stored and is not in force yet.
    """

    project_id: str
    created_at: datetime
    org_id: str = ""
    config: JsonObject | None = None
    analyser: str = ""
    embedder_model: str = ""
    embedder_fingerprint: str = ""
    embedder_dimension: int = 0
    filling: Mapping[str, Sequence[str]] = field(default_factory=dict)
    rebuilding: Mapping[str, JsonObject] = field(default_factory=dict)
    pending_config: JsonObject | None = None
