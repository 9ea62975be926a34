"""Opaque cursors: where a listing stopped, tied to the question it belongs to."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence

from memoranda.sdk.errors import MemoryBadRequestError

Place = Sequence[str | int]


def encode_cursor(question: object, place: Place) -> str:
    """Return a cursor for what follows ``place`` in the answer to ``question`` (anything with a stable ``repr``)."""
    text = json.dumps([_digest(question), *place], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode("ascii").rstrip("=")


def decode_cursor(question: object, cursor: str, types: Sequence[type]) -> list[str | int]:
    """Return the place in a cursor; ``MemoryBadRequestError`` for one that is broken or of another question."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        parts: list[str | int] = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
        digest, *place = parts
    except (ValueError, TypeError, binascii.Error, UnicodeError):
        raise _refused(cursor) from None
    fits = len(place) == len(types) and all(type(part) is wanted for part, wanted in zip(place, types, strict=False))
    if digest != _digest(question) or not fits:
        raise _refused(cursor)
    return place


def _digest(question: object) -> str:
    return hashlib.blake2b(repr(question).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _refused(cursor: str) -> MemoryBadRequestError:
    return MemoryBadRequestError(
        f"cursor {cursor[:40]!r} is not one of this listing: pass next_cursor unchanged, with the same conditions",
        code="CURSOR_INVALID",
    )
