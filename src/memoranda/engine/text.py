"""Text and JSON from callers, made storable: the one place where they are cleaned and checked."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

from memoranda.engine.records import JsonValue
from memoranda.sdk.errors import MemoryBadRequestError

MAX_JSON_BYTES: Final = 1_000_000
MAX_JSON_DEPTH: Final = 32

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SPACE: Final = re.compile(r"\s+")
_END_MARKS: Final = " .!?。！？…"


def clean_text(text: str) -> str:
    """Return text that every database stores: NUL removed, lone surrogates as U+FFFD, surrogate pairs joined."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def normal_statement(text: str) -> str:
    """Return the form in which two writings of one statement are equal: case, spaces and end marks do not matter."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", folded).strip(_END_MARKS)


def require_text(name: str, value: object) -> str:
    """Return a text as it is; ``MemoryBadRequestError`` for any other type."""
    if not isinstance(value, str):
        raise MemoryBadRequestError(f"{name} is {value!r:.60}; it must be a string", code="INVALID_REQUEST")
    return value


def require_count(name: str, value: object) -> int:
    """Return a whole number as it is; ``MemoryBadRequestError`` for any other type."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise MemoryBadRequestError(f"{name} is {value!r:.60}; it must be a whole number", code="INVALID_REQUEST")
    return value


def require_storable_id(name: str, value: str) -> str:
    """Return an id as it is; ids are compared byte for byte, so that one with NUL or a surrogate is refused."""
    if require_text(name, value) != clean_text(value):
        raise MemoryBadRequestError(
            f"{name} {value!r} holds a NUL or an unpaired surrogate; pass an id of valid Unicode text",
            code="INVALID_ID",
        )
    return value


def clean_object(name: str, value: object) -> dict[str, JsonValue]:
    """Return a JSON object as plain dicts and lists with storable strings.

    Raises ``MemoryBadRequestError`` naming the place for anything that is not JSON, deeper than ``MAX_JSON_DEPTH`` or
    larger than ``MAX_JSON_BYTES``.
    """
    if not isinstance(value, Mapping):
        raise _refused(f"{name} must be a JSON object, got {type(value).__name__}")
    cleaned = _clean_mapping(name, value, 1)
    size = len(json.dumps(cleaned, ensure_ascii=False).encode("utf-8"))
    if size > MAX_JSON_BYTES:
        raise _refused(f"{name} is {size} bytes of JSON, the limit is {MAX_JSON_BYTES}; store a reference instead")
    return cleaned


def _refused(message: str) -> MemoryBadRequestError:
    return MemoryBadRequestError(message, code="INVALID_JSON")


def _clean_mapping(place: str, value: Mapping[object, object], depth: int) -> dict[str, JsonValue]:
    cleaned: dict[str, JsonValue] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise _refused(f"{place} has the key {key!r}; JSON keys are strings")
        cleaned[clean_text(key)] = _clean_value(f"{place}.{key}", item, depth)
    return cleaned


def _clean_value(place: str, value: object, depth: int) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int | float):
        return _finite(place, value)
    if depth >= MAX_JSON_DEPTH and isinstance(value, Mapping | list | tuple):
        raise _refused(f"{place[:80]} is nested deeper than {MAX_JSON_DEPTH} levels; flatten it")
    if isinstance(value, Mapping):
        return _clean_mapping(place, value, depth + 1)
    if isinstance(value, list | tuple):
        return _clean_items(place, value, depth + 1)
    raise _refused(f"{place} is a {type(value).__name__}; JSON has strings, numbers, booleans, null, lists and objects")


def _clean_items(place: str, items: Sequence[object], depth: int) -> list[JsonValue]:
    return [_clean_value(f"{place}[{number}]", item, depth) for number, item in enumerate(items)]


def _finite(place: str, value: int | float) -> int | float:
    if isinstance(value, float) and not math.isfinite(value):
        raise _refused(f"{place} is {value!r}; JSON numbers are finite")
    return value
