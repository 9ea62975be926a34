"""Tags of custom memories: one flat form of dotted paths to scalars, checked against the declared names."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from memoranda.engine.text import clean_text
from memoranda.sdk.errors import MemoryBadRequestError

MAX_TAGS: Final = 10
_INT64: Final = range(-(2**63), 2**63)

TagScalar = str | int | float | bool


def flat_tags(tags: Mapping[str, object], declared: Collection[str]) -> dict[str, TagScalar]:
    """Return tags as dotted path to value, whichever of the two forms they came in, in the order given.

    Raises ``MemoryBadRequestError`` naming the tag and the rule it breaks.
    """
    found: dict[str, TagScalar] = {}
    for path, value in _paths(tags):
        if path in found:
            raise _refused(f"tag {path!r} is given twice, dotted and nested; give it once")
        if path not in declared:
            known = ", ".join(sorted(declared)) or "none"
            raise _refused(f"tag {path!r} is not declared for this memory type; declared: {known}")
        found[path] = _scalar(path, value)
    if len(found) > MAX_TAGS:
        raise _refused(f"{len(found)} tags are given, at most {MAX_TAGS} are allowed")
    return found


def _paths(tags: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in tags.items():
        if isinstance(value, Mapping):
            yield from _group(key, value)
        else:
            yield _path(key), value


def _group(name: str, group: Mapping[object, object]) -> Iterator[tuple[str, object]]:
    if "." in _path(name):
        raise _too_deep(name)
    if not group:
        raise _refused(f"tag group {name!r} must contain at least one key")
    for key, value in group.items():
        if isinstance(key, str) and key.startswith("$"):
            raise _operator(name, key)
        if not isinstance(key, str) or "." in key or isinstance(value, Mapping):
            raise _too_deep(name)
        yield _path(f"{name}.{key}"), value


def _path(path: object) -> str:
    if not isinstance(path, str):
        raise _refused(f"tag {path!r} must have a string as its name")
    segments = path.split(".")
    if not all(segments):
        raise _refused(f"tag {path!r} must have a non-empty path")
    if len(segments) > 2:
        raise _too_deep(path)
    for segment in segments:
        if segment.startswith("$"):
            raise _operator(path, segment)
    return path


def _scalar(path: str, value: object) -> TagScalar:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not value.strip():
            raise _refused(f"tag {path!r} must have a non-empty string value")
        return clean_text(value)
    if isinstance(value, int):
        if value not in _INT64:
            raise _refused(f"tag {path!r} is {value}, outside the 64-bit integers; give it as a string")
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise _refused(f"tag {path!r} must be a non-empty string, a finite number or a boolean, got {value!r}")


def _operator(path: str, name: str) -> MemoryBadRequestError:
    return _refused(f"tag {path!r} has the operator {name!r}; tags are compared for equality only")


def _too_deep(path: str) -> MemoryBadRequestError:
    return _refused(f"tag {path!r}: nesting is at most one level deep")


def _refused(message: str) -> MemoryBadRequestError:
    return MemoryBadRequestError(message, code="INVALID_TAGS")
