"""Natural keys: what makes a later save mean the same record (kind, owner, and a name within a domain)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from memoranda.sdk.errors import MemoryBadRequestError

SEPARATOR: Final = "/"


def slot_of(kind: str, domain: str, name: str) -> str:
    """Return the digest of a natural key's exact UTF-8 bytes; parts cannot run together."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (kind, domain, name):
        raw = part.encode("utf-8")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()


def namespace_path(namespace: str | Sequence[str]) -> str:
    """Return a namespace as stored: its segments joined by ``/``. A string is split there, a sequence taken as it is.

    Raises ``MemoryBadRequestError`` for an empty segment, or a segment of a sequence that holds a ``/``.
    """
    segments = namespace.split(SEPARATOR) if isinstance(namespace, str) else list(namespace)
    if segments in ([], [""]):
        return ""
    for segment in segments:
        if not segment or SEPARATOR in segment:
            raise MemoryBadRequestError(
                f"namespace {namespace!r} has the segment {segment!r}; a segment is not empty and holds no '/'",
                code="INVALID_NAMESPACE",
            )
    return SEPARATOR.join(segments)
