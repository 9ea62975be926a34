"""Plain values from callers, checked and brought into one form: times, lifetimes, vectors, JSON, page sizes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

MAX_TTL_DAYS = 1_000_000
MAX_PAGE = 1000
MAX_WAIT = 20.0

_TIME_REMEDY = "pass a datetime or an ISO 8601 string such as '2026-03-01T09:30:00+01:00' (without zone: UTC)"
# `fromisoformat` wants exactly 3 or 6 fractional digits on some versions; other writers give 1 to 9.
_FRACTION = re.compile(r"(?<=:\d\d)[.,](\d+)")


def parse_time(value: object, name: str = "timestamp") -> datetime:
    """Return `value` (a datetime or an ISO 8601 string) as an aware datetime in UTC; a naive one is UTC.

    Raises ValueError naming the value and the remedy.
    """
    if isinstance(value, str):
        moment = _parse_iso(value, name)
    elif isinstance(value, datetime):
        moment = value
    else:
        raise ValueError(f"{name} must be a time, got {value!r}; {_TIME_REMEDY}")
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{name} is outside the years 1 to 9999 in UTC, got {value!r}") from error


def _parse_iso(text: str, name: str) -> datetime:
    normal = _FRACTION.sub(lambda match: "." + match[1][:6].ljust(6, "0"), text.strip())
    try:
        return datetime.fromisoformat(normal)
    except ValueError as error:
        raise ValueError(f"{name} is not a time: {text!r}; {_TIME_REMEDY}") from error


def parse_ttl_days(value: object, name: str = "ttl_days") -> float:
    """Return a lifetime in days as a float; ValueError unless it is a number above 0 and at most `MAX_TTL_DAYS`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number of days, got {value!r}")
    if not 0 < value <= MAX_TTL_DAYS:
        raise ValueError(f"{name} must be above 0 and at most {MAX_TTL_DAYS}, got {value!r}; leave it out for no limit")
    return float(value)


def parse_vector(value: Sequence[float], name: str) -> list[float]:
    """Return a caller's vector as a list of floats; ValueError unless it is a non-empty sequence of finite numbers."""
    if isinstance(value, str | bytes):
        raise ValueError(f"{name} must be a sequence of numbers, got {type(value).__name__}")
    try:
        vector = list(map(float, value))
    except TypeError as error:
        raise ValueError(f"{name} must be a sequence of numbers, got {type(value).__name__}") from error
    if not vector:
        raise ValueError(f"{name} must not be empty; leave it out to let the engine embed the text")
    if not all(map(math.isfinite, vector)):
        position, number = next((place, number) for place, number in enumerate(vector) if not math.isfinite(number))
        raise ValueError(f"{name}[{position}] must be a finite number, got {number!r}")
    return vector


def require_json(**values: object) -> None:
    """Raise TypeError (not encodable) or ValueError (NaN, Infinity, a cycle) unless every value can be sent as JSON."""
    for name, value in values.items():
        if not value:
            continue
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from error


def require_page_size(limit: int) -> None:
    """Raise ValueError unless `limit` is an int from 1 to `MAX_PAGE`."""
    if type(limit) is not int or not 1 <= limit <= MAX_PAGE:
        raise ValueError(f"limit must be an integer from 1 to {MAX_PAGE}, got {limit!r}; page with cursor=")


def require_wait(wait: float) -> None:
    """Raise ValueError unless `wait` is a number of seconds from 0 to `MAX_WAIT`."""
    if isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 <= wait <= MAX_WAIT:
        raise ValueError(f"wait must be 0 to {MAX_WAIT:g} seconds, got {wait!r}; ask again with next_cursor")


def given(**values: Any) -> dict[str, Any]:
    """Return the values that were set, neither None nor False: an older runtime never sees what it cannot know."""
    return {name: value for name, value in values.items() if value is not None and value is not False}
