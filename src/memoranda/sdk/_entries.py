"""Stored things as a caller sees them: memories, turns, failures, pages of them, and reports on the store."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from memoranda.sdk._model import Model


class MemoryEntry(Model):
    """One state of one memory, current or past.

    `body` holds the fields of its kind, `valid_to` is None while it holds, `occurrences` counts how often it was
    stated, and `provenance` says where it came from. Times are UTC.
    """

    id: str
    kind: str
    record_type: str | None = None
    content: str
    label: str | None = None
    body: dict[str, Any] = Field(default_factory=dict)
    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    visibility: str
    metadata: dict[str, Any] | None = None
    status: Literal["current", "superseded"] = "current"
    version: int = 1
    occurrences: int = 1
    event_time: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    created_at: datetime
    updated_at: datetime
    superseded_by: str | None = None
    provenance: dict[str, Any] = Field(default_factory=dict)
    has_embedding: bool = False


class MemoryPage(Model):
    """A page of memories; `next_cursor` is None on the last one."""

    items: list[MemoryEntry]
    next_cursor: str | None = None


class TurnEntry(Model):
    """One recorded turn; `promoted` says that a snapshot holds it."""

    id: str
    session_id: str
    user_id: str | None = None
    agent_id: str | None = None
    turn_seq: int
    role: str
    content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    model_name: str | None = None
    metadata: dict[str, Any] | None = None
    event_time: datetime
    created_at: datetime
    expires_at: datetime | None = None
    promoted: bool = False


class TurnPage(Model):
    """A page of turns in session order; `next_cursor` is None on the last one."""

    items: list[TurnEntry]
    next_cursor: str | None = None


class FailureEntry(Model):
    """A job that ended without success, kept until an operator acts.

    `failure_class` is the stable name of the cause, `raw_reply` what a model answered when that is the cause, and
    `retryable` says whether the condition can change while the request stays the same.
    """

    id: str
    job_kind: str
    failure_class: str
    reason: str
    attempts: int
    first_seen: datetime
    last_seen: datetime
    session_id: str | None = None
    user_id: str | None = None
    snapshot_id: str | None = None
    raw_reply: str | None = None
    retryable: bool


class FailurePage(Model):
    """A page of failures, latest first; `next_cursor` is None on the last one."""

    items: list[FailureEntry]
    next_cursor: str | None = None


class BulkItemResult(Model):
    """What became of one item of `save_many`; `index` is its position in the call."""

    index: int
    id: str
    kind: str
    status: Literal["created", "updated", "repeated"]
    version: int
    has_embedding: bool


class ChangeEntry(Model):
    """One entry of the change feed: what happened to what, without its content.

    Positions grow; where entries are no longer kept there are gaps. `entity_id` is the id of the memory, the turn or
    the session; of a user who was deleted it is the SHA-256 of the user's id, in hexadecimal. Entries about deleted
    memories, turns and users name no user. New kinds of entity and operation may come.
    """

    position: int
    entity: str
    entity_id: str
    operation: str
    user_id: str | None = None
    at: datetime


class ChangePage(Model):
    """A page of the change feed; `next_cursor` is where to go on, also from an empty page."""

    items: list[ChangeEntry]
    next_cursor: str


class DeletionReport(Model):
    """What one deletion removed, by table; all zero when there was nothing."""

    turns: int = 0
    memories: int = 0
    snapshots: int = 0
    links: int = 0
    profiles: int = 0
    history: int = 0
    jobs: int = 0
    failures: int = 0
    postings: int = 0
    vectors: int = 0
    images: int = 0


class BreakerEntry(Model):
    """A provider that is out of order: its jobs wait, and one of them asks again at `next_probe`.

    `failures` is how often in a row it failed `since` then; `failure_class` and `reason` are of the last time.
    """

    provider: str
    job_kind: str
    since: datetime
    next_probe: datetime
    failures: int
    failure_class: str
    reason: str


class StatusReport(Model):
    """The state of a project's store.

    `memories` counts current ones by kind, `jobs` the background work by state, `queue` the same by job kind and
    state, `failures` by class. `lag_seconds` is the age of the oldest job that is due (0 when none is).
    `breakers` are the providers whose jobs wait.
    `spent_today` is what models have cost since 00:00 UTC; at the cap of `memory.spending` extraction is
    paused until `extraction_paused_until`.
    """

    project_id: str
    turns: int = 0
    sessions: int = 0
    memories: dict[str, int] = Field(default_factory=dict)
    jobs: dict[str, int] = Field(default_factory=dict)
    queue: dict[str, dict[str, int]] = Field(default_factory=dict)
    lag_seconds: float = 0.0
    failures: dict[str, int] = Field(default_factory=dict)
    breakers: list[BreakerEntry] = Field(default_factory=list)
    spent_today: dict[str, int] = Field(default_factory=dict)
    extraction_paused_until: datetime | None = None
    embedder: str | None = None
    analyser: str
    schema_version: str
    store: str
