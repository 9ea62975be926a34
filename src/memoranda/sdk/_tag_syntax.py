"""The syntax of tags: `{"a": 1}`, `{"a.b": 1}` or `{"a": {"b": 1}}`, scalars only, at most two levels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from memoranda.sdk.errors import MemoryClientError


def require_tag_syntax(tags: Mapping[str, Any]) -> None:
    """Raise MemoryClientError naming the first tag that breaks the syntax. Declared names are the engine's concern."""
    if not isinstance(tags, Mapping):
        raise MemoryClientError(f"tags must be a mapping of names to values, got {type(tags).__name__}")
    for key, value in tags.items():
        path = str(key)
        if isinstance(value, Mapping):
            _require_group(path, value)
        else:
            _require_tag(path, value)


def _require_group(name: str, group: Mapping[Any, Any]) -> None:
    _require_path(name)
    if "." in name:
        raise _too_deep(name)
    if not group:
        raise MemoryClientError(f"tag group {name!r} must contain at least one key")
    for key, value in group.items():
        if not isinstance(key, str) or "." in key or isinstance(value, Mapping):
            raise _too_deep(name)
        _require_tag(f"{name}.{key}", value)


def _require_tag(path: str, value: object) -> None:
    _require_path(path)
    if isinstance(value, str):
        if not value.strip():
            raise MemoryClientError(f"tag {path!r} must have a non-empty string value")
    elif not isinstance(value, bool | int | float):
        raise MemoryClientError(f"tag {path!r} must be a non-empty string, number, or boolean")
    elif isinstance(value, float) and not math.isfinite(value):
        raise MemoryClientError(f"tag {path!r} must be a finite number")


def _require_path(path: str) -> None:
    segments = path.split(".")
    if not all(segments):
        raise MemoryClientError(f"tag {path!r} must have a non-empty path")
    if len(segments) > 2:
        raise _too_deep(path)


def _too_deep(path: str) -> MemoryClientError:
    return MemoryClientError(f"tag {path!r}: nesting is at most one level deep")
