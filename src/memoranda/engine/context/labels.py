"""The short labels that formats share: dates, times with their offset, headings."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from memoranda.engine.context.selection import SessionTurns
from memoranda.engine.records import MemoryRecord, MemoryStatus

_HEADINGS = {"semantic": "Facts", "episodic": "Episodes", "procedural": "Procedures", "taxonomic": "Terms"}
_UNNAMED_TYPE = "memory"


def moment(time: datetime) -> str:
    """Return a time to the minute, with its offset: never a bare local time."""
    return time.astimezone(UTC).isoformat(timespec="minutes")


def day(time: datetime) -> str:
    """Return the UTC date of a time."""
    return time.astimezone(UTC).date().isoformat()


def heading(kind: str) -> str:
    """Return the heading over memories of a kind."""
    return _HEADINGS.get(kind, kind)


def record_type(record: MemoryRecord) -> str:
    """Return the flavour of a semantic memory, or nothing where it says nothing."""
    return "" if record.record_type == _UNNAMED_TYPE else record.record_type


def superseded(record: MemoryRecord) -> str:
    """Return since when a memory no longer holds, or nothing when it still does."""
    if record.status is not MemoryStatus.SUPERSEDED and record.valid_to is None:
        return ""
    return f"superseded on {day(record.valid_to)}" if record.valid_to else "superseded"


def session_names(sessions: Iterable[SessionTurns]) -> list[str]:
    """Return a name for each session; the user is named only where there are several."""
    listed = list(sessions)
    several = len({session.user_id for session in listed}) > 1
    return [
        " ".join(part for part in (session.session_id, f"(user {session.user_id})" if several else "") if part)
        for session in listed
    ]
