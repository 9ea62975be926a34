"""The metadata filters of the thread API, read into the engine's filter tree.

Keys combine with AND. A value is exact JSON equality, a dictionary leads into a nested object, and a dictionary of
operators (``$array_contains``, ``$array_contains_any``, ``$not``) stands in place of a value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from memoranda.engine.filters import MAX_CONDITIONS, MAX_DEPTH, And, Filter, FilterError, Not, Or
from memoranda.engine.json_filters import JsonEquals, JsonHolds, JsonScalar, NoMetadata
from memoranda.engine.text import clean_text
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.records import AGENT_MEMORY_KEY

MetadataFilter: TypeAlias = Mapping[str, object]

ARRAY_CONTAINS: Final = "$array_contains"
ARRAY_CONTAINS_ANY: Final = "$array_contains_any"
NOT: Final = "$not"
OPERATORS: Final = (ARRAY_CONTAINS, ARRAY_CONTAINS_ANY, NOT)


def search_filter(raw: MetadataFilter | NotSet | None) -> Filter | None:
    """Return the filter of a search; omitted and ``None`` both mean no filter. Raises ``ValueError``."""
    return None if raw is NOT_SET or raw is None else parse_metadata_filter(raw)


def list_filter(raw: MetadataFilter | NotSet | None) -> Filter | None:
    """Return the filter of a listing; ``None`` asks for records without metadata. Raises ``ValueError``."""
    if raw is None:
        return NoMetadata()
    return None if raw is NOT_SET else parse_metadata_filter(raw)


def parse_metadata_filter(raw: MetadataFilter) -> Filter:
    """Build the tree of a filter; the empty filter takes everything.

    Raises ``FilterError``, a ``ValueError``, for what is no filter, an unknown operator, operators mixed with keys, an
    operand of the wrong kind, a value that is not JSON and a filter that is too large. All name the place.
    """
    if not isinstance(raw, Mapping):
        raise FilterError("FILTER_SHAPE", f"metadata_filter is of type {type(raw).__name__}; give a dictionary or None")
    return _Reader().members((), raw)


class _Reader:
    """One filter being read; counts its conditions."""

    def __init__(self) -> None:
        self._conditions = 0

    def members(self, path: tuple[str, ...], raw: Mapping[Any, object]) -> Filter:
        """Read the keys of an object, at the top or nested."""
        return _all_of([self._at((*path, self._key(path, key)), value) for key, value in raw.items()])

    def _key(self, path: tuple[str, ...], key: object) -> str:
        if not isinstance(key, str):
            raise FilterError("FILTER_SHAPE", f"the filter has the key {key!r} in {_shown(path)}; keys are strings")
        if key.startswith("$") and key != AGENT_MEMORY_KEY:
            known = ", ".join(OPERATORS)
            raise FilterError(
                "FILTER_OPERATOR_UNKNOWN",
                f"{key!r} in {_shown(path)} is no operator that fits there; a field takes {known}",
            )
        return clean_text(key)

    def _at(self, path: tuple[str, ...], condition: object) -> Filter:
        """Read what is asked of one field."""
        if len(path) > MAX_DEPTH:
            raise FilterError("FILTER_TOO_LARGE", f"the filter is nested deeper than {MAX_DEPTH} levels; flatten it")
        if not isinstance(condition, Mapping) or not condition:
            return JsonEquals(path, self._json(path, condition, 0))
        operators = [key for key in condition if key in OPERATORS]
        if not operators:
            return self.members(path, condition)
        if len(operators) < len(condition):
            others = sorted(str(key) for key in condition if key not in OPERATORS)
            raise FilterError("FILTER_SHAPE", f"{_shown(path)} mixes operators with {others}; use either")
        return _all_of([self._operator(path, str(key), value) for key, value in condition.items()])

    def _operator(self, path: tuple[str, ...], operator: str, operand: object) -> Filter:
        if operator == NOT:
            self._count()
            return Not(self._at(path, operand))
        if operator == ARRAY_CONTAINS and not isinstance(operand, list | tuple):
            return JsonHolds(path, self._scalar(path, operator, operand))
        if not isinstance(operand, list | tuple) or not operand:
            raise FilterError("FILTER_VALUE_TYPE", f"{operator} at {_shown(path)} takes a list of at least one value")
        held = tuple(JsonHolds(path, self._scalar(path, operator, value)) for value in operand)
        return Or(held) if operator == ARRAY_CONTAINS_ANY else And(held)

    def _scalar(self, path: tuple[str, ...], operator: str, value: object) -> JsonScalar:
        found = self._json(path, value, 0)
        if found is None or isinstance(found, str | int | float | bool):
            return found
        raise FilterError(
            "FILTER_VALUE_TYPE",
            f"{operator} at {_shown(path)} compares strings, numbers, booleans and None, not {value!r:.80}",
        )

    def _json(self, path: tuple[str, ...], value: object, depth: int) -> object:
        """Return a value as it would be stored; each of its parts counts as a condition."""
        self._count()
        if depth > MAX_DEPTH:
            raise FilterError(
                "FILTER_TOO_LARGE", f"the value at {_shown(path)} is nested deeper than {MAX_DEPTH} levels"
            )
        if isinstance(value, str):
            return clean_text(value)
        if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if isinstance(value, list | tuple):
            return [self._json(path, item, depth + 1) for item in value]
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {clean_text(key): self._json(path, item, depth + 1) for key, item in value.items()}
        raise FilterError("FILTER_VALUE_TYPE", f"the value {value!r:.80} at {_shown(path)} is not JSON")

    def _count(self) -> None:
        self._conditions += 1
        if self._conditions > MAX_CONDITIONS:
            raise FilterError("FILTER_TOO_LARGE", f"the filter has more than {MAX_CONDITIONS} values; split it")


def _all_of(children: list[Filter]) -> Filter:
    return children[0] if len(children) == 1 else And(tuple(children))


def _shown(path: tuple[str, ...]) -> str:
    return repr(".".join(path)) if path else "the filter"
