"""The engine's records as what a backend gives back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, cast

from memoranda.engine.indexing import taxonomic_text
from memoranda.engine.memories import INVERSES, RETIRING
from memoranda.engine.memory_states import RETIRED_BY_HAND, SAID_AT
from memoranda.engine.ports import Transaction
from memoranda.engine.records import (
    SEMANTIC,
    TAXONOMIC,
    Image,
    Link,
    MemoryRecord,
    MemoryStatus,
    Profile,
    Session,
    Turn,
)
from memoranda.threads.relations import opposite_of
from memoranda.threads.stored import (
    JsonObject,
    StoredImage,
    StoredLink,
    StoredMemory,
    StoredMessage,
    StoredProfile,
    StoredThread,
)

_CONTENT: Final = "content"
_TIMESTAMP: Final = "timestamp"
"""Fields of a turn's parts: a message's structured content, and its time in the caller's words."""

_REASONS: Final = {"supersedes": "superseded by", "refines": "refined by", "duplicates": "duplicated by"}


def thread_of(session: Session) -> StoredThread:
    return StoredThread(
        thread_id=session.session_id,
        created_at=session.created_at,
        updated_at=session.updated_at,
        user_id=session.user_id or None,
        agent_id=session.agent_id or None,
        metadata=session.metadata,
        runtime_config=session.runtime_config,
        runtime_state=session.runtime_state,
        extraction_policy=session.extraction_policy,
        summary=session.summary,
        last_seq=session.last_seq,
        promoted_seq=session.promoted_seq,
    )


def turn_parts(parts: Sequence[JsonObject] | None, timestamp_text: str | None) -> JsonObject | None:
    """Return what a turn keeps of a message beside its text."""
    kept: dict[str, object] = {}
    if parts is not None:
        kept[_CONTENT] = [dict(part) for part in parts]
    if timestamp_text is not None:
        kept[_TIMESTAMP] = timestamp_text
    return kept or None


def message_of(turn: Turn) -> StoredMessage:
    return StoredMessage(
        id=turn.id,
        thread_id=turn.session_id,
        seq_no=turn.turn_seq,
        role=turn.role,
        content=turn.content or "",
        created_at=turn.created_at,
        updated_at=turn.created_at,
        event_time=turn.event_time,
        user_id=turn.user_id or None,
        agent_id=turn.agent_id or None,
        parts=_message_parts(turn),
        metadata=turn.metadata,
        timestamp_text=timestamp_of(turn),
        expires_at=turn.expires_at,
        extracted=turn.snapshot_id is not None,
    )


def timestamp_of(turn: Turn) -> str | None:
    """Return when a message happened in the words of whoever wrote it; None where nobody said."""
    text = (turn.parts or {}).get(_TIMESTAMP)
    if isinstance(text, str):
        return text
    return None if turn.event_time == turn.created_at else turn.event_time.isoformat()


def _message_parts(turn: Turn) -> tuple[JsonObject, ...] | None:
    parts = (turn.parts or {}).get(_CONTENT)
    return tuple(part for part in parts if isinstance(part, Mapping)) if isinstance(parts, list) else None


def memory_of(record: MemoryRecord, reason: str | None = None) -> StoredMemory:
    """Return a memory of any kind; what is not semantic has type ``memory``."""
    said = record.provenance.get(SAID_AT)
    return StoredMemory(
        id=record.id,
        record_type=record_type_of(record),
        content=taxonomic_text(record) if record.kind == TAXONOMIC else record.content,
        created_at=record.created_at,
        updated_at=record.updated_at,
        event_time=record.event_time,
        user_id=record.user_id or None,
        agent_id=record.agent_id or None,
        thread_id=record.session_id or None,
        metadata=record.metadata,
        timestamp_text=said if isinstance(said, str) else None,
        valid=record.status is MemoryStatus.CURRENT,
        invalidation_reason=reason,
        expires_at=record.expires_at,
        kind=record.kind,
        origin=record.origin,
    )


def record_type_of(record: MemoryRecord) -> str:
    """Return the type of a memory as the thread API names it."""
    return record.record_type if record.kind == SEMANTIC else "memory"


def memories_of(tx: Transaction, records: Sequence[MemoryRecord]) -> list[StoredMemory]:
    """Return memories, those that are not valid with the reason."""
    retired = [record.id for record in records if record.status is not MemoryStatus.CURRENT]
    links = tx.links.of(retired) if retired else ()
    reasons = {link.target_id: _reason(link) for link in links if link.relation in RETIRING}
    return [memory_of(record, _reason_of(record, reasons)) for record in records]


def _reason_of(record: MemoryRecord, reasons: Mapping[str, str]) -> str | None:
    if record.status is MemoryStatus.CURRENT:
        return None
    if RETIRED_BY_HAND in record.provenance:
        return "set by hand"
    return reasons.get(record.id, "no longer current")


def _reason(link: Link) -> str:
    return f"{_REASONS[link.relation]} {link.source_id}"


def links_of(tx: Transaction, links: Iterable[Link]) -> list[StoredLink]:
    """Return links with the types of their memories; one with an end that is gone is left out."""
    given = list(links)
    ids = sorted({end for link in given for end in (link.source_id, link.target_id)})
    types = {record.id: record_type_of(record) for record in tx.memories.get(ids)} if ids else {}
    return [_link(link, types) for link in given if link.source_id in types and link.target_id in types]


def _link(link: Link, types: Mapping[str, str]) -> StoredLink:
    # Links of the engine's own have its words for the other direction.
    own = INVERSES.get(link.relation)
    return StoredLink(
        id=link.id,
        source_id=link.source_id,
        source_record_type=types[link.source_id],
        target_id=link.target_id,
        target_record_type=types[link.target_id],
        relation=link.relation,
        inverse=opposite_of(link.relation) if link.inverse == own else link.inverse,
        created_at=link.created_at,
        timestamp_text=None if link.event_time is None else link.event_time.isoformat(),
        metadata=link.metadata,
    )


def profile_of(profile: Profile) -> StoredProfile:
    return StoredProfile(
        subject=cast("Literal['user', 'agent']", profile.subject),
        id=profile.id,
        information=profile.information,
        created_at=profile.created_at,
        updated_at=profile.updated_at,
        metadata=profile.metadata,
    )


def image_of(image: Image, data: bytes | None = None) -> StoredImage:
    return StoredImage(
        id=image.id,
        mime_type=image.mime_type,
        description=image.description,
        created_at=image.created_at,
        updated_at=image.updated_at,
        event_time=image.event_time,
        user_id=image.user_id or None,
        agent_id=image.agent_id or None,
        thread_id=image.session_id or None,
        message_id=image.turn_id or None,
        metadata=image.metadata,
        timestamp_text=None if image.event_time == image.created_at else image.event_time.isoformat(),
        expires_at=image.expires_at,
        data=data,
    )
