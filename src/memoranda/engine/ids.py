"""New ids: UUIDv7 as text, so that ids of one process sort in the order they were made."""

from __future__ import annotations

import uuid_utils


def new_id() -> str:
    """Return a new UUIDv7 in its canonical text form."""
    return str(uuid_utils.uuid7())
