"""Conditions on metadata as it is stored, for keys that no project declares.

Equality is that of JSON: ``1`` and ``1.0`` are one number, ``true`` is no number, lists are equal in order and length,
objects in any order. A path leads through objects only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from memoranda.engine.records import JsonValue

JsonScalar: TypeAlias = str | int | float | bool | None

OURS: Final = "$agent_memory"
"""The key of metadata that front doors keep for themselves."""

_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class JsonEquals:
    """There is a value at the path and it equals this one."""

    path: tuple[str, ...]
    value: JsonValue


@dataclass(frozen=True, slots=True)
class JsonHolds:
    """There is a list at the path and this scalar is among its items."""

    path: tuple[str, ...]
    value: JsonScalar


@dataclass(frozen=True, slots=True)
class NoMetadata:
    """The record has no metadata but what is ours."""


JsonFilter: TypeAlias = JsonEquals | JsonHolds | NoMetadata


def json_matches(node: JsonFilter, metadata: Mapping[str, object]) -> bool:
    """Whether metadata satisfies a condition."""
    match node:
        case JsonEquals(path, wanted):
            return json_equal(_value_at(metadata, path), wanted)
        case JsonHolds(path, wanted):
            found = _value_at(metadata, path)
            return isinstance(found, list | tuple) and any(json_equal(item, wanted) for item in found)
        case NoMetadata():
            return not (metadata.keys() - {OURS})


def json_equal(one: object, other: object) -> bool:
    """Whether two values are the same JSON."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(json_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(json_equal, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _value_at(metadata: Mapping[str, object], path: tuple[str, ...]) -> object:
    found: object = metadata
    for key in path:
        if not isinstance(found, Mapping) or key not in found:
            return _ABSENT
        found = found[key]
    return found
