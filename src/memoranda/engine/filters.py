"""The metadata filter grammar as a small typed tree that a store turns into one query.

A filter runs over declared keys, addressed ``metadata.<name>``, and over ``agent_id``. A value that is not of the
declared type cannot be filtered and counts as absent, as ``null`` does; a list holds each of its items. A negation
(``$ne``, ``$nin``, ``$nor``) also takes the records that lack the key. Conditions on keys that nobody declared
(``json_filters``) are of the same tree, and made by other grammars than this one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, TypeAlias

from memoranda.engine.json_filters import JsonEquals, JsonFilter, JsonHolds, NoMetadata, json_matches

Scalar: TypeAlias = str | int | float | bool

AGENT_KEY: Final = "agent_id"
MAX_DEPTH: Final = 10
MAX_CONDITIONS: Final = 200
MAX_LIST: Final = 500

RESERVED_KEYS: Final = frozenset(
    {"org_id", "user_id", "project_id", "session_id", "visibility", "deleted", "is_latest", "has_embedding"}
)
_PREFIX: Final = "metadata."
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LOGICAL: Final = frozenset({"$and", "$or", "$nor"})
_LOWER: Final = frozenset({"$gt", "$gte"})
_BOUNDS: Final = frozenset({"$gt", "$gte", "$lt", "$lte"})
_ON_KEYS: Final = frozenset({"$eq", "$ne", "$in", "$nin", "$exists"}) | _BOUNDS


class FilterError(ValueError):
    """A filter that cannot be run; ``code`` names the reason for machines, the message the remedy."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ValueType(StrEnum):
    """The declared type of a key."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"


class Operator(StrEnum):
    """How a comparison reads its value: equal to it, among its items, or (value ignored) present at all."""

    EQUALS = "eq"
    IN = "in"
    EXISTS = "exists"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One condition on one key; ``value`` is a scalar for EQUALS, a tuple for IN, ``None`` for EXISTS."""

    key: str
    type: ValueType
    operator: Operator
    value: Scalar | tuple[Scalar, ...] | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a range; ``inclusive`` tells whether the value itself is within."""

    value: int | float
    inclusive: bool


@dataclass(frozen=True, slots=True)
class Range:
    """A number or date key between two bounds, of which at least one is given."""

    key: str
    type: ValueType
    low: Bound | None
    high: Bound | None


@dataclass(frozen=True, slots=True)
class And:
    """All children hold; without children, always."""

    children: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one child holds."""

    children: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The child does not hold, which includes records that lack its key."""

    child: Filter


Filter: TypeAlias = And | Or | Not | Comparison | Range | JsonFilter


def parse_filter(raw: Mapping[str, object], declared: Mapping[str, str]) -> Filter:
    """Check a filter against the declared keys (name to type) and build its tree; the empty filter takes everything.

    Raises ``FilterError`` naming the key, operator or value at fault and what is accepted.
    """
    return _Parser(declared).parse(raw)


def matches(node: Filter, metadata: Mapping[str, object], agent_id: str) -> bool:
    """Whether a record with this metadata and agent (blank: none) satisfies a filter."""
    match node:
        case And(children):
            return all(matches(child, metadata, agent_id) for child in children)
        case Or(children):
            return any(matches(child, metadata, agent_id) for child in children)
        case Not(child):
            return not matches(child, metadata, agent_id)
        case Comparison(key, value_type, operator, wanted):
            return _compares(operator, wanted, _values_at(metadata, agent_id, key, value_type))
        case Range(key, value_type, low, high):
            return any(_within(value, low, high) for value in _values_at(metadata, agent_id, key, value_type))
        case JsonEquals() | JsonHolds() | NoMetadata():
            return json_matches(node, metadata)


def keys_in(node: Filter) -> frozenset[str]:
    """The keys that a filter asks about, by their declared names."""
    match node:
        case And(children) | Or(children):
            return frozenset().union(*map(keys_in, children))
        case Not(child):
            return keys_in(child)
        case Comparison(key=key) | Range(key=key):
            return frozenset((key,))
        case JsonEquals() | JsonHolds() | NoMetadata():
            return frozenset()


def typed_value(value: object, value_type: str) -> Scalar | None:
    """The comparable form of one value, or ``None`` when it is not of the type.

    Strings as they are, numbers as floats, dates (``datetime`` or ISO 8601, without a zone taken as UTC) as whole
    microseconds since 1970. Raises ``ValueError`` for an unknown type.
    """
    match ValueType(value_type):
        case ValueType.STRING:
            return value if isinstance(value, str) and _is_encodable(value) else None
        case ValueType.BOOLEAN:
            return value if isinstance(value, bool) else None
        case ValueType.NUMBER:
            return _number(value)
        case ValueType.DATE:
            return _microseconds(value)


def typed_values(value: object, value_type: str) -> tuple[Scalar, ...]:
    """The distinct comparable values that a metadata value holds: each item of a list, at most one otherwise."""
    items = value if isinstance(value, list | tuple) else (value,)
    found = (typed_value(item, value_type) for item in items)
    return tuple(dict.fromkeys(item for item in found if item is not None))


def metadata_value(metadata: Mapping[str, object], name: str) -> object:
    """The value of a declared key, whether its dotted name is written flat or as one nested object; else ``None``."""
    if name in metadata:
        return metadata[name]
    group, _, rest = name.partition(".")
    nested = metadata.get(group) if rest else None
    return nested.get(rest) if isinstance(nested, Mapping) else None


class _Parser:
    """One filter being read; counts its conditions."""

    def __init__(self, declared: Mapping[str, str]) -> None:
        self._types = {_PREFIX + name: ValueType(kind) for name, kind in declared.items()}
        self._types[AGENT_KEY] = ValueType.STRING
        self._conditions = 0

    def parse(self, raw: object, depth: int = 1) -> Filter:
        if not isinstance(raw, Mapping):
            raise FilterError("FILTER_SHAPE", f"a filter is an object of keys and conditions, not {_shown(raw)}")
        if depth > MAX_DEPTH:
            raise FilterError("FILTER_TOO_LARGE", f"the filter is nested deeper than {MAX_DEPTH} levels; flatten it")
        return _all_of([self._entry(key, condition, depth) for key, condition in raw.items()])

    def _entry(self, key: object, condition: object, depth: int) -> Filter:
        if not isinstance(key, str):
            raise FilterError("FILTER_SHAPE", f"filter keys are strings, not {_shown(key)}")
        if key in _LOGICAL:
            return self._logical(key, condition, depth)
        if key.startswith("$"):
            raise _unknown_operator(key, _LOGICAL)
        value_type = self._type_of(key)
        return _all_of(list(self._conditions_on(key, value_type, condition)))

    def _logical(self, operator: str, operands: object, depth: int) -> Filter:
        if not isinstance(operands, list | tuple) or not operands:
            raise FilterError("FILTER_SHAPE", f"{operator} takes a list of at least one filter, not {_shown(operands)}")
        self._check_list(operator, len(operands))
        children = tuple(self.parse(operand, depth + 1) for operand in operands)
        if operator == "$and":
            return And(children)
        return Or(children) if operator == "$or" else Not(Or(children))

    def _type_of(self, key: str) -> ValueType:
        found = self._types.get(key)
        if found is not None:
            return found
        accepted = f"accepted paths: {', '.join(sorted(self._types))}"
        if key.removeprefix(_PREFIX) in RESERVED_KEYS:
            raise FilterError("FILTER_KEY_RESERVED", f"{_shown(key)} is reserved and cannot be filtered; {accepted}")
        raise FilterError("FILTER_KEY_UNDECLARED", f"{_shown(key)} is not a declared filter key; {accepted}")

    def _conditions_on(self, key: str, value_type: ValueType, condition: object) -> Iterator[Filter]:
        if not isinstance(condition, Mapping):
            yield self._equals(key, value_type, condition)
            return
        if not condition:
            raise FilterError("FILTER_SHAPE", f"{_shown(key)} has an empty condition; give a value or an operator")
        for operator in condition:
            if operator not in _ON_KEYS:
                raise _unknown_operator(operator, _ON_KEYS)
        bounds = {operator: value for operator, value in condition.items() if operator in _BOUNDS}
        if bounds:
            yield self._range(key, value_type, bounds)
        for operator, value in condition.items():
            if operator not in _BOUNDS:
                yield self._compare(key, value_type, operator, value)

    def _compare(self, key: str, value_type: ValueType, operator: str, value: object) -> Filter:
        if operator == "$exists":
            if not isinstance(value, bool):
                raise FilterError("FILTER_VALUE_TYPE", f"$exists takes true or false, not {_shown(value)}")
            present = self._count(Comparison(_name(key), value_type, Operator.EXISTS))
            return present if value else Not(present)
        if operator in ("$eq", "$ne"):
            equal = self._equals(key, value_type, value)
            return equal if operator == "$eq" else Not(equal)
        among = self._among(key, value_type, operator, value)
        return among if operator == "$in" else Not(among)

    def _equals(self, key: str, value_type: ValueType, value: object) -> Filter:
        if value is None:
            return Not(self._count(Comparison(_name(key), value_type, Operator.EXISTS)))
        wanted = _checked(key, value_type, value)
        return self._count(Comparison(_name(key), value_type, Operator.EQUALS, wanted))

    def _among(self, key: str, value_type: ValueType, operator: str, values: object) -> Filter:
        if not isinstance(values, list | tuple):
            raise FilterError("FILTER_VALUE_TYPE", f"{operator} takes a list of values, not {_shown(values)}")
        self._check_list(operator, len(values))
        wanted = dict.fromkeys(_checked(key, value_type, value) for value in values if value is not None)
        among: Filter = self._count(Comparison(_name(key), value_type, Operator.IN, tuple(wanted)))
        if None in values:
            among = Or((among, Not(Comparison(_name(key), value_type, Operator.EXISTS))))
        return among

    def _range(self, key: str, value_type: ValueType, bounds: Mapping[str, object]) -> Filter:
        """All bounds of a key as one range, so that they hold for the same value."""
        if value_type not in (ValueType.NUMBER, ValueType.DATE):
            names = ", ".join(sorted(bounds))
            raise FilterError(
                "FILTER_VALUE_TYPE", f"{names} need a number or date key; {_shown(key)} is declared {value_type.value}"
            )
        lows: list[Bound] = []
        highs: list[Bound] = []
        for operator, raw in bounds.items():
            value = _checked(key, value_type, raw)
            bound = Bound(value if isinstance(value, int | float) else 0, operator in ("$gte", "$lte"))
            (lows if operator in _LOWER else highs).append(bound)
        # Of two bounds on one side the tighter holds; at one value, the open one.
        low = max(lows, key=lambda bound: (bound.value, not bound.inclusive), default=None)
        high = min(highs, key=lambda bound: (bound.value, bound.inclusive), default=None)
        return self._count(Range(_name(key), value_type, low, high))

    def _count(self, condition: Filter) -> Filter:
        self._conditions += 1
        if self._conditions > MAX_CONDITIONS:
            raise FilterError("FILTER_TOO_LARGE", f"the filter has more than {MAX_CONDITIONS} conditions; split it")
        return condition

    @staticmethod
    def _check_list(operator: str, size: int) -> None:
        if size > MAX_LIST:
            raise FilterError("FILTER_TOO_LARGE", f"{operator} has {size} items; the limit is {MAX_LIST}")


def _checked(key: str, value_type: ValueType, value: object) -> Scalar:
    found = typed_value(value, value_type)
    if found is None:
        raise FilterError(
            "FILTER_VALUE_TYPE",
            f"{_shown(key)} is declared {value_type.value} and cannot be compared to {_shown(value)}",
        )
    return found


def _unknown_operator(operator: object, known: frozenset[str]) -> FilterError:
    return FilterError(
        "FILTER_OPERATOR_UNKNOWN", f"unknown filter operator {_shown(operator)}; use one of: {', '.join(sorted(known))}"
    )


def _name(key: str) -> str:
    return key.removeprefix(_PREFIX)


def _all_of(children: list[Filter]) -> Filter:
    return children[0] if len(children) == 1 else And(tuple(children))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _microseconds(value: object) -> int | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def _values_at(metadata: Mapping[str, object], agent_id: str, key: str, value_type: ValueType) -> tuple[Scalar, ...]:
    if key == AGENT_KEY:
        return (agent_id,) if agent_id else ()
    return typed_values(metadata_value(metadata, key), value_type)


def _compares(operator: Operator, wanted: Scalar | tuple[Scalar, ...] | None, values: tuple[Scalar, ...]) -> bool:
    if operator is Operator.EXISTS:
        return bool(values)
    if operator is Operator.IN and isinstance(wanted, tuple):
        return any(value in wanted for value in values)
    return wanted in values


def _within(value: Scalar, low: Bound | None, high: Bound | None) -> bool:
    if isinstance(value, str):
        return False
    above = low is None or value > low.value or (low.inclusive and value == low.value)
    below = high is None or value < high.value or (high.inclusive and value == high.value)
    return above and below
