"""Names that a custom memory type may not have."""

from __future__ import annotations

import re
from typing import Final

from memoranda.sdk.errors import MemoryClientError

BUILT_IN_TYPES: Final = frozenset(
    {
        "semantic",
        "episodic",
        "taxonomic",
        "procedural",
        "snapshot",
        "entity",
        "preferences",
        "turn",
        "stm",
        "short_term",
    }
)

CUSTOM_TYPE_NAME: Final = "^[a-z][a-z0-9_]{0,63}$"


def require_custom_type(memory_type: object) -> None:
    """Raise MemoryClientError unless `memory_type` can be the name of a custom type."""
    if not isinstance(memory_type, str) or not memory_type.strip():
        raise MemoryClientError("memory_type must be a non-empty string")
    if memory_type in BUILT_IN_TYPES:
        raise MemoryClientError(f"{memory_type!r} is a built-in memory type and is not accepted by this operation")
    # `match` with `$`, not `fullmatch`: the shared contract lets one trailing newline through.
    if not re.match(CUSTOM_TYPE_NAME, memory_type):
        raise MemoryClientError(f"custom type name {memory_type!r} must match {CUSTOM_TYPE_NAME}")
