"""Records for rendering."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from memoranda.engine.context.selection import Selection, arrange, units_of
from memoranda.engine.records import (
    IMAGE,
    PROFILE,
    SEMANTIC,
    STM,
    Image,
    JsonObject,
    MemoryRecord,
    MemoryStatus,
    Profile,
    Turn,
)
from memoranda.engine.retrieval.hits import Found, Hit

NOON = datetime(2026, 5, 10, 12, 0, tzinfo=UTC)


def turn(
    seq: int,
    content: str | None = "text",
    *,
    role: str = "user",
    session: str = "s",
    user: str = "ann",
    calls: Sequence[JsonObject] | None = None,
    result_of: str | None = None,
    tool: str | None = None,
    at: datetime | None = None,
) -> Turn:
    """A turn, a minute after the one before."""
    time = at or NOON + timedelta(minutes=seq)
    return Turn(
        id=f"{user}-{session}-{seq}",
        key=seq,
        user_id=user,
        session_id=session,
        turn_seq=seq,
        role=role,
        content=content,
        created_at=time,
        event_time=time,
        tool_calls=calls,
        tool_call_id=result_of,
        tool_name=tool,
    )


def memory(
    content: str, *, kind: str = SEMANTIC, ended: datetime | None = None, number: int = 100, **fields: object
) -> MemoryRecord:
    """A memory, superseded where it has an end."""
    return MemoryRecord(
        id=f"m{number}-{content[:5]}",
        key=number,
        kind=kind,
        content=content,
        user_id="ann",
        visibility="private",
        created_at=NOON,
        updated_at=NOON,
        event_time=NOON,
        valid_from=NOON,
        valid_to=ended,
        status=MemoryStatus.SUPERSEDED if ended else MemoryStatus.CURRENT,
        **fields,  # type: ignore[arg-type]
    )


def selection(*records: Found) -> Selection:
    """These records in rank order, arranged."""
    return arrange(units_of([Hit(_source(record), record, 1.0) for record in records], {}))


def _source(record: Found) -> str:
    if isinstance(record, Profile):
        return PROFILE
    if isinstance(record, Image):
        return IMAGE
    return STM if isinstance(record, Turn) else record.kind
