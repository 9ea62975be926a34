"""Times as callers and models write them."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_of(text: str | None) -> datetime | None:
    """Return the time that words say (ISO 8601), in UTC, a naive one too; None for words that say none."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        # No time at all, or one that is outside the years 1 to 9999 in UTC.
        return None
