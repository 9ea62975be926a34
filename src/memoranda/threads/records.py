"""What is read back: one frozen class for each type of record, equal when all fields are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from memoranda.threads.content import ImageMimeType, MessageContent, RawBytes
from memoranda.threads.relations import RecordRelation

Metadata: TypeAlias = dict[str, object]
RecordContent: TypeAlias = str | tuple[MessageContent, ...] | Metadata | None

AGENT_MEMORY_KEY: Final = "$agent_memory"
"""The key of metadata that is ours: callers do not write it."""


class RecordStatus(StrEnum):
    """Whether a record still holds; an invalid one stays stored and can be read."""

    VALID = "valid"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Record:
    """Anything stored. ``timestamp`` is the caller's event time where one was given, else the time of creation.

    ``linked_results`` are the records that a search with hops reached from this one, nearest first.
    """

    id: str
    record_type: str = field(default="record", init=False)
    content: RecordContent = None
    timestamp: str | None = None
    metadata: Metadata | None = None
    status: RecordStatus = RecordStatus.VALID
    linked_results: Sequence[tuple[RecordRelation, Record]] = ()


@dataclass(frozen=True, slots=True)
class ScopedRecord(Record):
    """A record that belongs to a thread, user or agent; ``None`` where it belongs to none."""

    thread_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryRecord(ScopedRecord):
    """A memory of no narrower type."""

    record_type: str = field(default="memory", init=False)


@dataclass(frozen=True, slots=True)
class FactRecord(MemoryRecord):
    """A memory that states a fact."""

    record_type: str = field(default="fact", init=False)


@dataclass(frozen=True, slots=True)
class GuidelineRecord(MemoryRecord):
    """A memory that says how to act."""

    record_type: str = field(default="guideline", init=False)


@dataclass(frozen=True, slots=True)
class PreferenceRecord(MemoryRecord):
    """A memory that says what somebody prefers."""

    record_type: str = field(default="preference", init=False)


@dataclass(frozen=True, slots=True)
class MessageRecord(ScopedRecord):
    """A stored message; ``seq_no`` rises within its thread and may have gaps."""

    record_type: str = field(default="message", init=False)
    role: str | None = None
    seq_no: int = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class ImageRecord(ScopedRecord):
    """A stored image; ``content`` is its description, ``bytes`` is ``None`` unless they were asked for."""

    record_type: str = field(default="image", init=False)
    message_id: str | None = None
    mime_type: ImageMimeType = field(kw_only=True)
    bytes: RawBytes | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class ThreadRecord(ScopedRecord):
    """A stored thread with its saved settings and state."""

    record_type: str = field(default="thread", init=False)
    runtime_config: Metadata | None = None
    runtime_state: Metadata | None = None


@dataclass(frozen=True, slots=True)
class ThreadSummaryRecord(ScopedRecord):
    """The running summary of a thread; its content is ``{"text": str, "topics": [str]}``."""

    record_type: str = field(default="thread_summary", init=False)


@dataclass(frozen=True, slots=True)
class UserProfileRecord(Record):
    """What is known of a user; its id is the user's."""

    record_type: str = field(default="user_profile", init=False)


@dataclass(frozen=True, slots=True)
class AgentProfileRecord(Record):
    """What is known of an agent; its id is the agent's."""

    record_type: str = field(default="agent_profile", init=False)


_CLASSES: Final[tuple[type[Record], ...]] = (
    MemoryRecord,
    FactRecord,
    GuidelineRecord,
    PreferenceRecord,
    MessageRecord,
    ImageRecord,
    ThreadRecord,
    ThreadSummaryRecord,
    UserProfileRecord,
    AgentProfileRecord,
)


def _type_of(cls: type[Record]) -> str:
    return next(str(each.default) for each in fields(cls) if each.name == "record_type")


RECORD_CLASSES: Final[Mapping[str, type[Record]]] = MappingProxyType({_type_of(cls): cls for cls in _CLASSES})
"""The class of each record type."""


def build_record(
    record_type: str,
    record_id: str,
    *,
    content: RecordContent = None,
    thread_id: str | None = None,
    user_id: str | None = None,
    agent_id: str | None = None,
    role: str | None = None,
    seq_no: int | None = None,
    timestamp: str | None = None,
    metadata: Metadata | None = None,
    status: RecordStatus | str = RecordStatus.VALID,
    **kwargs: object,
) -> Record:
    """Build a record of the most specific class; of an unknown type, a plain ``Record``.

    What the class has no field for is left out. Raises ``ValueError`` for a message without ``seq_no`` and
    ``TypeError`` for an image without ``mime_type``.
    """
    cls = RECORD_CLASSES.get(record_type, Record)
    if cls is MessageRecord and seq_no is None:
        raise ValueError(f"message {record_id!r} has no seq_no; give its place in the thread")
    given: dict[str, object] = {
        "content": content,
        "timestamp": timestamp,
        "metadata": metadata,
        "status": RecordStatus(status),
        "thread_id": thread_id,
        "user_id": user_id,
        "agent_id": agent_id,
        "role": role,
        "seq_no": seq_no,
        **kwargs,
    }
    known = {each.name for each in fields(cls) if each.init}
    make: type = cls
    built: Record = make(record_id, **{name: value for name, value in given.items() if name in known})
    return built


def check_metadata(metadata: object) -> Metadata | None:
    """Return the metadata that a caller wrote.

    Raises ``ValueError`` when it is no dictionary with string keys or has the key that is ours.
    """
    if metadata is None:
        return None
    if not isinstance(metadata, dict):
        raise ValueError(f"metadata is of type {type(metadata).__name__}; give a dictionary or None")
    for key in metadata:
        if not isinstance(key, str):
            raise ValueError(f"metadata has the key {key!r}; keys are strings")
    if AGENT_MEMORY_KEY in metadata:
        raise ValueError(f"the metadata key {AGENT_MEMORY_KEY!r} is reserved; choose another name")
    return metadata
