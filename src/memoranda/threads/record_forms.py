"""What is stored, as the records that callers read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from memoranda.threads.images import image_record
from memoranda.threads.message_forms import read_message
from memoranda.threads.record_text import INVALIDATION_REASON
from memoranda.threads.records import (
    AGENT_MEMORY_KEY,
    RECORD_CLASSES,
    AgentProfileRecord,
    MemoryRecord,
    MessageRecord,
    Metadata,
    Record,
    RecordStatus,
    ThreadRecord,
    UserProfileRecord,
)
from memoranda.threads.relations import LINK_TYPES, MemoryLink, RecordRelation, opposite_of
from memoranda.threads.results import SearchResult
from memoranda.threads.stored import (
    FoundRecord,
    JsonObject,
    LinkedMemory,
    StoredImage,
    StoredLink,
    StoredMemory,
    StoredMessage,
    StoredProfile,
    StoredRecord,
    StoredThread,
)


def search_result(found: FoundRecord) -> SearchResult:
    """Return what a search found as a result, with what was reached over links."""
    return SearchResult(found.distance, record_of(found.record, found.linked))


def record_of(stored: StoredRecord, linked: Sequence[LinkedMemory] = ()) -> Record:
    """Return a stored record of any type as callers read it."""
    if isinstance(stored, StoredMemory):
        return memory_record(stored, linked)
    if isinstance(stored, StoredMessage):
        return message_record(stored)
    return image_record(stored) if isinstance(stored, StoredImage) else profile_record(stored)


def memory_record(stored: StoredMemory, linked: Sequence[LinkedMemory] = ()) -> MemoryRecord:
    """Return a memory, of the class of its type, with the memories that were reached from it."""
    cls = RECORD_CLASSES.get(stored.record_type, MemoryRecord)
    made = cls if issubclass(cls, MemoryRecord) else MemoryRecord
    return made(
        stored.id,
        content=stored.content,
        timestamp=_timestamp(stored.timestamp_text, stored.event_time),
        metadata=_metadata(stored.metadata, None if stored.valid else stored.invalidation_reason),
        status=RecordStatus.VALID if stored.valid else RecordStatus.INVALID,
        linked_results=tuple((relation_of(each.link), memory_record(each.memory, each.linked)) for each in linked),
        thread_id=stored.thread_id,
        user_id=stored.user_id,
        agent_id=stored.agent_id,
    )


def message_record(stored: StoredMessage, images: Mapping[str, StoredImage] | None = None) -> MessageRecord:
    """Return a message; images have their bytes where ``images`` (by id) has them."""
    message = read_message(stored, images)
    content = message.content if isinstance(message.content, str) else tuple(message.content)
    return MessageRecord(
        stored.id,
        content=content,
        timestamp=message.timestamp,
        metadata=message.metadata,
        thread_id=stored.thread_id,
        user_id=stored.user_id,
        agent_id=stored.agent_id,
        role=stored.role,
        seq_no=stored.seq_no,
    )


def profile_record(stored: StoredProfile) -> Record:
    """Return the profile of a user or an agent."""
    cls = UserProfileRecord if stored.subject == "user" else AgentProfileRecord
    return cls(
        stored.id,
        content=stored.information,
        timestamp=stored.created_at.isoformat(),
        metadata=_metadata(stored.metadata),
    )


def thread_record(stored: StoredThread) -> ThreadRecord:
    """Return a thread with its saved settings and state."""
    return ThreadRecord(
        stored.thread_id,
        timestamp=stored.created_at.isoformat(),
        metadata=_metadata(stored.metadata),
        thread_id=stored.thread_id,
        user_id=stored.user_id,
        agent_id=stored.agent_id,
        runtime_config=_metadata(stored.runtime_config),
        runtime_state=_metadata(stored.runtime_state),
    )


def relation_of(stored: StoredLink) -> RecordRelation:
    """Return a stored link; between memories, by one of the labels that have a meaning, it is a ``MemoryLink``."""
    known = stored.relation in LINK_TYPES
    cls = MemoryLink if known else RecordRelation
    return cls(
        id=stored.id,
        source_record_id=stored.source_id,
        source_record_type=stored.source_record_type,
        target_record_id=stored.target_id,
        target_record_type=stored.target_record_type,
        relation_type=stored.relation,
        opposite_relation_type=opposite_of(stored.relation) if known else stored.inverse,
        timestamp=stored.timestamp_text,
        metadata=_metadata(stored.metadata),
        created_at=stored.created_at.isoformat(),
    )


def _timestamp(given: str | None, otherwise: datetime) -> str:
    return given or otherwise.isoformat()


def _metadata(stored: JsonObject | None, invalidation_reason: str | None = None) -> Metadata | None:
    if invalidation_reason is None:
        return None if stored is None else dict(stored)
    own = (stored or {}).get(AGENT_MEMORY_KEY)
    ours = {**(own if isinstance(own, Mapping) else {}), INVALIDATION_REASON: invalidation_reason}
    return {**(stored or {}), AGENT_MEMORY_KEY: ours}
