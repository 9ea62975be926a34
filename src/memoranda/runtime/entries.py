"""The engine's records as the SDK shows them: entries, chunks and raw entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memoranda.engine.feed.rows import Change
from memoranda.engine.records import (
    EPISODIC,
    PROCEDURAL,
    SEMANTIC,
    STM,
    TAXONOMIC,
    Failure,
    MemoryRecord,
    MemoryStatus,
    Turn,
)
from memoranda.sdk.models import ChangeEntry, FailureEntry, MemoryEntry, TurnEntry

Json = dict[str, Any]


def present(value: str) -> str | None:
    """Return an identity the SDK's way: absent is None."""
    return value or None


def memory_text(record: MemoryRecord) -> str:
    """Return what a reader sees as a record's content; a term is shown with its place (``domain/term: definition``)."""
    return f"{record.domain}/{record.name}: {record.content}" if record.kind == TAXONOMIC else record.content


def memory_entry(
    record: MemoryRecord,
    *,
    superseded_by: str | None = None,
    has_embedding: bool = False,
    turn_ids: Sequence[str] = (),
) -> MemoryEntry:
    return MemoryEntry(
        id=record.id,
        kind=record.kind,
        record_type=record.record_type if record.kind == SEMANTIC else None,
        content=record.content,
        label=present(record.name),
        body=_natural_key(record) | dict(record.body),
        user_id=present(record.user_id),
        agent_id=present(record.agent_id),
        session_id=present(record.session_id),
        visibility=record.visibility,
        metadata=None if record.metadata is None else dict(record.metadata),
        status=record.status.value,
        version=record.version,
        occurrences=record.occurrences,
        event_time=record.event_time,
        valid_from=record.valid_from,
        valid_to=record.valid_to,
        expires_at=record.expires_at,
        created_at=record.created_at,
        updated_at=record.updated_at,
        superseded_by=superseded_by,
        provenance={"origin": record.origin, **record.provenance, **({"turn_ids": list(turn_ids)} if turn_ids else {})},
        has_embedding=has_embedding,
    )


def turn_entry(turn: Turn) -> TurnEntry:
    return TurnEntry(
        id=turn.id,
        session_id=turn.session_id,
        user_id=present(turn.user_id),
        agent_id=present(turn.agent_id),
        turn_seq=turn.turn_seq,
        role=turn.role,
        content=turn.content,
        tool_calls=None if turn.tool_calls is None else [dict(call) for call in turn.tool_calls],
        tool_call_id=turn.tool_call_id,
        tool_name=turn.tool_name,
        is_error=turn.is_error,
        model_name=turn.model_name,
        metadata=None if turn.metadata is None else dict(turn.metadata),
        event_time=turn.event_time,
        created_at=turn.created_at,
        expires_at=turn.expires_at,
        promoted=turn.snapshot_id is not None,
    )


def failure_entry(failure: Failure) -> FailureEntry:
    return FailureEntry(
        id=failure.id,
        job_kind=failure.job_kind.value,
        failure_class=failure.failure_class,
        reason=failure.reason,
        attempts=failure.attempts,
        first_seen=failure.first_seen,
        last_seen=failure.last_seen,
        session_id=present(failure.session_id),
        user_id=present(failure.user_id),
        snapshot_id=present(failure.snapshot_id),
        raw_reply=failure.raw_reply,
        retryable=failure.retryable,
    )


def change_entry(change: Change) -> ChangeEntry:
    return ChangeEntry(
        position=change.position,
        entity=change.entity.value,
        entity_id=change.entity_id,
        operation=change.operation.value,
        user_id=present(change.user_id),
        at=change.at,
    )


def _natural_key(record: MemoryRecord) -> Json:
    """Return a record's natural key under the names of its kind."""
    if record.kind == SEMANTIC:
        return {"label": record.name}
    if record.kind == TAXONOMIC:
        return {"domain": record.domain, "term": record.name}
    if record.kind == PROCEDURAL:
        return {"procedure": record.name}
    if record.kind == EPISODIC or not record.name:
        return {}
    return {"namespace": record.domain, "key": record.name}


def _slot(metadata: Mapping[str, object] | None) -> Json:
    """Return the caller's metadata in its own slot, so that its keys never meet ours; an empty dict is none."""
    return {"metadata": dict(metadata)} if metadata else {}


def memory_metadata(record: MemoryRecord) -> Json:
    """Return a memory's chunk metadata: the fields of its kind, where it belongs, and the caller's own slot."""
    fields: Json = {
        **record.body,
        **_natural_key(record),
        "kind": record.kind,
        "user_id": present(record.user_id),
        "agent_id": present(record.agent_id),
        "session_id": present(record.session_id),
        "visibility": record.visibility,
        "version": record.version,
        "occurrences": record.occurrences,
        "origin": record.origin,
        "event_time": _iso(record.event_time),
        "valid_from": _iso(record.valid_from),
    }
    if record.kind == SEMANTIC:
        fields["record_type"] = record.record_type
    if record.kind == TAXONOMIC:
        fields["definition"] = record.content
    if record.status is MemoryStatus.SUPERSEDED:
        fields["superseded"] = True
    if record.valid_to is not None:
        fields["valid_to"] = _iso(record.valid_to)
    return fields | _slot(record.metadata)


def turn_metadata(turn: Turn) -> Json:
    """Return a turn's chunk metadata: its place in the conversation, set tool fields, the caller's own slot."""
    fields: Json = {
        "kind": STM,
        "role": turn.role,
        "turn_seq": turn.turn_seq,
        "user_id": present(turn.user_id),
        "agent_id": present(turn.agent_id),
        "session_id": turn.session_id,
        "event_time": _iso(turn.event_time),
    }
    optional = {
        "model_name": turn.model_name,
        "tool_name": turn.tool_name,
        "tool_call_id": turn.tool_call_id,
        "tool_calls": turn.tool_calls,
        "is_error": turn.is_error or None,
    }
    fields |= {name: value for name, value in optional.items() if value is not None}
    return fields | _slot(turn.metadata)


def raw_entry(record: MemoryRecord, *, has_embedding: bool) -> Json:
    """Return a memory as the typed getters show it: a plain JSON object with the names of the wire."""
    return {
        **record.body,
        **_natural_key(record),
        **_text_fields(record),
        "id": record.id,
        "user_id": present(record.user_id),
        "agent_id": present(record.agent_id),
        "session_id": present(record.session_id),
        "visibility": record.visibility,
        "metadata": None if record.metadata is None else dict(record.metadata),
        "version": record.version,
        "has_embedding": has_embedding,
        "event_time": _iso(record.event_time),
        "created_at": _iso(record.created_at),
        "updated_at": _iso(record.updated_at),
        "expires_at": None if record.expires_at is None else _iso(record.expires_at),
    }


def _text_fields(record: MemoryRecord) -> Json:
    if record.kind == SEMANTIC:
        return {"text": record.content, "content": record.content}
    if record.kind == TAXONOMIC:
        return {"definition": record.content, "content": memory_text(record)}
    return {"content": record.content}


def _iso(moment: datetime) -> str:
    return moment.isoformat()
