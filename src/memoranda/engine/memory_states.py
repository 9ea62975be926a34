"""How one state of a memory follows from a draft or from the state before it; nothing here writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.ids import new_id
from memoranda.engine.indexing import memory_text
from memoranda.engine.natural_keys import slot_of
from memoranda.engine.records import PROCEDURAL, JsonObject, MemoryRecord
from memoranda.sdk.errors import MemoryConflictError


def is_expired(record: MemoryRecord, now: datetime) -> bool:
    """Return whether a record's lifetime has ended."""
    return record.expires_at is not None and record.expires_at <= now


def needs_reindexing(old: MemoryRecord, record: MemoryRecord) -> bool:
    """Return whether a change touches the searchable text or the place in the index."""
    return _place(old) != _place(record) or memory_text(old) != memory_text(record)


def _place(record: MemoryRecord) -> tuple[object, ...]:
    return (record.visibility, record.user_id, record.agent_id, record.session_id, record.expires_at, record.status)


def expiry(ttl_days: float | None, now: datetime) -> datetime | None:
    """Return when a lifetime that starts now ends."""
    return None if ttl_days is None else now + timedelta(days=ttl_days)


RETIRED_BY_HAND: Final = "retired_by_hand"
SAID_AT: Final = "said_at"
"""Keys of a record's provenance: that a caller said it no longer holds, and a caller's words for when it happened."""


def by_hand(record: MemoryRecord, *, retired: bool = True) -> MemoryRecord:
    """Return a record with the note that it was retired by hand, or without it."""
    kept = {name: value for name, value in record.provenance.items() if name != RETIRED_BY_HAND}
    return replace(record, provenance={**kept, RETIRED_BY_HAND: True} if retired else kept)


def said_at(provenance: JsonObject, text: str | None) -> JsonObject:
    """Return a provenance with a caller's words for the time of the event, or without any."""
    kept = {name: value for name, value in provenance.items() if name != SAID_AT}
    return kept if text is None else {**kept, SAID_AT: text}


def state_then(states: Iterable[MemoryRecord], moment: datetime) -> MemoryRecord | None:
    """Return which of a record's states was valid at a moment (an interval includes its start, not its end)."""
    valid = [
        state for state in states if state.valid_from <= moment and (state.valid_to is None or moment < state.valid_to)
    ]
    return max(valid, key=recency, default=None)


def recency(state: MemoryRecord) -> tuple[datetime, int, int]:
    """Order states by when they began, those of one time by when they were written."""
    return (state.valid_from, state.version, state.key)


def same_state(record: MemoryRecord, draft: MemoryDraft) -> bool:
    """Return whether a draft says exactly what a record says."""
    said = (draft.content, draft.metadata, draft.body, draft.record_type, draft.visibility, draft.agent_id)
    return said == (
        record.content,
        record.metadata,
        record.body,
        record.record_type,
        record.visibility,
        record.agent_id,
    )


def new_record(draft: MemoryDraft, *, key: int, now: datetime) -> MemoryRecord:
    """Return a new record of a draft, its times and slot filled in."""
    began, record_id = draft.event_time or now, draft.id or new_id()
    return MemoryRecord(
        id=record_id,
        key=key,
        kind=draft.kind,
        content=draft.content,
        user_id=draft.user_id,
        visibility=draft.visibility,
        created_at=now,
        updated_at=now,
        event_time=began,
        valid_from=began,
        record_type=draft.record_type,
        domain=draft.domain,
        name=draft.name,
        slot=draft.natural_slot or record_id,
        body=draft.body,
        agent_id=draft.agent_id,
        session_id=draft.session_id,
        metadata=draft.metadata,
        expires_at=draft.expires_at or expiry(draft.ttl_days, now),
        origin=draft.origin,
        provenance=draft.provenance,
    )


def slot_after(old: MemoryRecord, changed: MemoryRecord) -> str:
    """Return the slot of a changed record: its own id as long as it was added beside the natural key's."""
    if (old.domain, old.name) == (changed.domain, changed.name):
        return old.slot
    had_own_slot = bool(old.name) and old.slot == old.id
    return old.id if had_own_slot or not changed.name else slot_of(changed.kind, changed.domain, changed.name)


def slot_taken(record: MemoryRecord) -> MemoryConflictError:
    """Return the error for a natural key that is another record's, with its remedy."""
    if record.kind == PROCEDURAL:
        return MemoryConflictError(
            f"procedure {record.name!r} exists already (id {record.id}); pass update_existing=True to replace it, or "
            "save it under another name",
            code="PROCEDURE_EXISTS",
        )
    name = "/".join(part for part in (record.domain, record.name) if part)
    return MemoryConflictError(
        f"another {record.kind} memory is named {name!r} already (id {record.id}); update that one or choose another "
        "name",
        code="NATURAL_KEY_TAKEN",
    )
