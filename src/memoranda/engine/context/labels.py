"""The short labels that formats share: dates, times with their offset, headings."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from memoranda.engine.context.selection import SessionTurns
from memoranda.engine.records import Image, MemoryRecord, MemoryStatus, Profile

_HEADINGS = {
    "profile": "Profiles",
    "semantic": "Facts",
    "episodic": "Episodes",
    "procedural": "Procedures",
    "taxonomic": "Terms",
}
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


def flavour(record: MemoryRecord | Profile | Image) -> str:
    """Return the record type of a semantic memory, the subject of a profile, or nothing where it says nothing."""
    if isinstance(record, Profile):
        return f"{record.subject} {record.id}"
    if isinstance(record, Image):
        return "image"
    return "" if record.record_type == _UNNAMED_TYPE else record.record_type


def date_of(record: MemoryRecord | Profile | Image) -> str:
    """Return the UTC date of what a record tells, or of a profile's last change."""
    return day(record.updated_at if isinstance(record, Profile) else record.event_time)


def ended(record: MemoryRecord | Profile | Image) -> str:
    """Return the UTC date from which a memory no longer holds, or nothing while it does."""
    if isinstance(record, Profile | Image) or (record.valid_to is None and record.status is MemoryStatus.CURRENT):
        return ""
    return day(record.valid_to or record.updated_at)


def session_names(sessions: Iterable[SessionTurns]) -> list[str]:
    """Return a name for each session; the user is named only where there are several."""
    listed = list(sessions)
    several = len({session.user_id for session in listed}) > 1
    return [
        " ".join(part for part in (session.session_id, f"(user {session.user_id})" if several else "") if part)
        for session in listed
    ]
