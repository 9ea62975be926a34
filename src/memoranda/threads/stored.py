"""What a backend is handed and gives back: plain frozen data that can travel as JSON.

An absent identity is None here. Times are aware, in UTC. ``timestamp_text`` is a caller's timestamp as it was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from memoranda.engine.scope import Scope

JsonObject: TypeAlias = Mapping[str, object]

T = TypeVar("T")

_EVERYTHING = Scope()

CREATED_AT: Final = "created_at"
TIMESTAMP: Final = "timestamp"


@dataclass(frozen=True, slots=True)
class Given(Generic[T]):
    """A value that a call sets. Where None stands in its place nothing is changed; ``Given(None)`` clears."""

    value: T


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a record is kept: ``ttl_days`` from ``anchor`` on.

    ``days`` is None where the project's default applies; ``Given(None)`` asks for the longest that the project allows.
    """

    days: Given[float | None] | None = None
    anchor: Literal["created_at", "timestamp"] = CREATED_AT


@dataclass(frozen=True, slots=True)
class Retention:
    """A project's lifetimes in days; None keeps forever, or sets no limit."""

    default_ttl_days: float | None = None
    max_ttl_days: float | None = None


# --- threads


@dataclass(frozen=True, slots=True)
class StoredThread:
    """A thread as it is stored. ``last_seq`` is the highest message number given out, 0 where there is none."""

    thread_id: str
    created_at: datetime
    updated_at: datetime
    user_id: str | None = None
    agent_id: str | None = None
    metadata: JsonObject | None = None
    runtime_config: JsonObject | None = None
    runtime_state: JsonObject | None = None
    extraction_policy: JsonObject | None = None
    summary: JsonObject | None = None
    last_seq: int = 0
    promoted_seq: int = 0


@dataclass(frozen=True, slots=True)
class NewThread:
    """A thread to create; its id must be free in the project."""

    thread_id: str
    user_id: str | None = None
    agent_id: str | None = None
    metadata: JsonObject | None = None
    runtime_config: JsonObject | None = None
    runtime_state: JsonObject | None = None
    extraction_policy: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ThreadUpdate:
    """What changes about a thread. With ``if_summary`` nothing does unless the stored summary is still that one."""

    metadata: Given[JsonObject | None] | None = None
    runtime_config: Given[JsonObject | None] | None = None
    runtime_state: Given[JsonObject | None] | None = None
    extraction_policy: Given[JsonObject | None] | None = None
    summary: Given[JsonObject | None] | None = None
    if_summary: Given[JsonObject | None] | None = None


# --- messages


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message. ``parts`` is its structured content (image bytes left out), None where the content is plain text."""

    id: str
    thread_id: str
    seq_no: int
    role: str
    content: str
    created_at: datetime
    updated_at: datetime
    event_time: datetime
    user_id: str | None = None
    agent_id: str | None = None
    parts: tuple[JsonObject, ...] | None = None
    metadata: JsonObject | None = None
    timestamp_text: str | None = None
    expires_at: datetime | None = None
    extracted: bool = False
    type: Literal["message"] = "message"


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to append. ``content`` is its text (searched), ``parts`` its structured form where it has one.

    A message whose ``id`` the thread already has, with the same role and content, is that one and is not stored again.
    """

    role: str
    content: str
    id: str | None = None
    parts: tuple[JsonObject, ...] | None = None
    metadata: JsonObject | None = None
    timestamp_text: str | None = None
    lifetime: Lifetime = Lifetime()


@dataclass(frozen=True, slots=True)
class MessageUpdate:
    """What changes about a message; ``content`` and ``parts`` go together."""

    content: Given[str] | None = None
    parts: Given[tuple[JsonObject, ...] | None] | None = None
    metadata: Given[JsonObject | None] | None = None
    lifetime: Lifetime | None = None


# --- memories


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory of any kind. ``record_type`` is ``memory`` for kinds that the thread API does not write."""

    id: str
    record_type: str
    content: str
    created_at: datetime
    updated_at: datetime
    event_time: datetime
    user_id: str | None = None
    agent_id: str | None = None
    thread_id: str | None = None
    metadata: JsonObject | None = None
    timestamp_text: str | None = None
    valid: bool = True
    invalidation_reason: str | None = None
    expires_at: datetime | None = None
    kind: str = "semantic"
    origin: str = "direct"
    type: Literal["memory"] = "memory"


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to add. ``index_texts`` are searched instead of the content; ``embeddings`` has one vector for each."""

    content: str
    record_type: str = "memory"
    id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    thread_id: str | None = None
    metadata: JsonObject | None = None
    timestamp_text: str | None = None
    lifetime: Lifetime = Lifetime()
    valid: bool = True
    index_texts: tuple[str, ...] | None = None
    embeddings: tuple[tuple[float, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class MemoryUpdate:
    """What changes about a memory; ``timestamp_text`` given as None goes back to the time of creation."""

    content: Given[str] | None = None
    metadata: Given[JsonObject | None] | None = None
    timestamp_text: Given[str | None] | None = None
    lifetime: Lifetime | None = None
    valid: Given[bool] | None = None
    index_texts: Given[tuple[str, ...]] | None = None
    embeddings: Given[tuple[tuple[float, ...], ...]] | None = None


# --- links


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A relation from ``source_id`` to ``target_id``; the record types are those of its two memories."""

    id: str
    source_id: str
    source_record_type: str
    target_id: str
    target_record_type: str
    relation: str
    inverse: str
    created_at: datetime
    timestamp_text: str | None = None
    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class NewLink:
    """A relation to add. ``source_id`` is blank where it goes with a memory that is added in the same call."""

    target_id: str
    relation: str
    source_id: str = ""
    inverse: str | None = None
    id: str | None = None
    timestamp_text: str | None = None
    metadata: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class LinkUpdate:
    """What changes about a relation."""

    relation: Given[str] | None = None
    inverse: Given[str] | None = None
    timestamp_text: Given[str | None] | None = None
    metadata: Given[JsonObject | None] | None = None


@dataclass(frozen=True, slots=True)
class LinkQuery:
    """Which relations to list: those at either end of ``record_id``, or by their exact ends; conditions are ANDed."""

    record_id: str | None = None
    source_id: str | None = None
    target_id: str | None = None
    relation: str | None = None


# --- profiles and images


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """What is known about a user or an agent as such."""

    subject: Literal["user", "agent"]
    id: str
    information: str
    created_at: datetime
    updated_at: datetime
    metadata: JsonObject | None = None
    type: Literal["profile"] = "profile"


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image; ``data`` is None unless it was asked for, ``message_id`` the message that it is part of."""

    id: str
    mime_type: str
    description: str
    created_at: datetime
    updated_at: datetime
    event_time: datetime
    user_id: str | None = None
    agent_id: str | None = None
    thread_id: str | None = None
    message_id: str | None = None
    metadata: JsonObject | None = None
    timestamp_text: str | None = None
    expires_at: datetime | None = None
    data: bytes | None = None
    type: Literal["image"] = "image"


@dataclass(frozen=True, slots=True)
class NewImage:
    """An image to add, found by its description. One with a ``message_id`` lives and ends with that message."""

    data: bytes
    mime_type: str
    description: str = ""
    id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    thread_id: str | None = None
    message_id: str | None = None
    metadata: JsonObject | None = None
    timestamp_text: str | None = None
    lifetime: Lifetime = Lifetime()


@dataclass(frozen=True, slots=True)
class ImageUpdate:
    """What changes about an image; ``data`` and ``mime_type`` go together."""

    data: Given[bytes] | None = None
    mime_type: Given[str] | None = None
    description: Given[str] | None = None
    metadata: Given[JsonObject | None] | None = None
    timestamp_text: Given[str | None] | None = None
    lifetime: Lifetime | None = None


# --- reading


@dataclass(frozen=True, slots=True)
class Listing:
    """Which records to list: exact ``scope``, the newest ``limit`` (None: all) of them, oldest first.

    ``filter`` is the grammar of metadata filters; ``Given(None)`` asks for records without metadata.
    """

    scope: Scope = _EVERYTHING
    filter: Given[JsonObject | None] | None = None
    limit: int | None = 10_000
    record_types: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    include_bytes: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """Part of a thread's messages by position, as a Python slice: negative numbers count from the end."""

    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class ThreadSearch:
    """What to search: ``record_types`` None is everything (messages, images, memories, profiles).

    Exactly one of ``query`` and ``query_vector``. ``num_hops`` (0 to 5) follows links from the memories found.
    """

    query: str = ""
    query_vector: tuple[float, ...] | None = None
    k: int = 10
    scope: Scope = _EVERYTHING
    record_types: tuple[str, ...] | None = None
    filter: JsonObject | None = None
    include_invalid: bool = True
    num_hops: int = 0
    max_linked_results: int = 100


StoredRecord: TypeAlias = StoredMemory | StoredMessage | StoredProfile | StoredImage


@dataclass(frozen=True, slots=True)
class LinkedMemory:
    """A memory that was reached over a link, and what was reached over it."""

    link: StoredLink
    memory: StoredMemory
    linked: tuple[LinkedMemory, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record that a search found; the smaller ``distance`` (0 to 1) the better."""

    record: StoredRecord
    distance: float
    linked: tuple[LinkedMemory, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractionFailure:
    """Work for a thread that ended without success, and why."""

    id: str
    kind: str
    reason: str
    failure_class: str
    attempts: int
    last_seen: datetime
    thread_id: str | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class Removed:
    """What a deletion removed: whether the record itself was there, and how many rows of each sort went."""

    found: bool
    counts: Mapping[str, int] = field(default_factory=dict)
