"""What is wrong with the fields of a request, in words: which field, why, and the value where it is no secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_MAX_TOLD: Final = 20
_MAX_SHOWN: Final = 40
_CHOICES: Final = ("literal_error", "enum", "int_parsing", "float_parsing", "bool_parsing")
_SECRET: Final = ("secret", "password", "authorization", "access_token")

_WORDS: Final[Mapping[str, str]] = {
    "missing": "is required",
    "extra_forbidden": "is not a field of this request",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "list_type": "must be a list",
    "less_than_equal": "must be at most {le}",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be above {gt}",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "too_long": "must have at most {max_length} items",
    "too_short": "must have at least {min_length} items",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "union_tag_not_found": "needs the field {discriminator}",
    "union_tag_invalid": "has the {discriminator} {tag!r}, which is none of {expected_tags}",
}


def problems_of(errors: Sequence[Any]) -> dict[str, str]:
    """Return the fields that a validation refused and what is wrong with each, in the order of the request."""
    found: dict[str, str] = {}
    for error in errors[:_MAX_TOLD]:
        found.setdefault(place_of(error["loc"]), _reason(error))
    return found


def told(problems: Mapping[str, str]) -> str:
    """Return problems as one line."""
    return "; ".join(f"{place}: {reason}" for place, reason in problems.items()) or "the request cannot be read"


def place_of(location: Sequence[str | int]) -> str:
    """Return a place in a request as a path: ``body.turns[3].role``."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part[:_MAX_SHOWN]}" for part in location]
    return "".join(parts).lstrip(".")


def _reason(error: Mapping[str, Any]) -> str:
    words = _WORDS.get(error["type"])
    context = error.get("ctx", {})
    reason = words.format_map(context) if words is not None else str(error["msg"]).removeprefix("Value error, ")
    return reason + _shown(error)


def _shown(error: Mapping[str, Any]) -> str:
    """Return the value in brackets where it is short and plain; a text may be content and is shown for choices only."""
    value, kind = error.get("input"), error["type"]
    secret = any(word in str(part).lower() for part in error["loc"] for word in _SECRET)
    chosen = isinstance(value, str) and kind in _CHOICES
    if secret or kind == "missing" or not (chosen or isinstance(value, int | float)):
        return ""
    text = repr(value) if isinstance(value, str) else str(value)
    return f" (got {text})" if len(text) <= _MAX_SHOWN else ""
