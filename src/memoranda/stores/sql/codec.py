"""How values cross to the database: times as integer microseconds since the epoch in UTC, JSON as compact text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_decode = json.JSONDecoder().raw_decode
# Made once: `json.dumps` makes an encoder each time it is given options.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def to_micros(moment: datetime) -> int:
    """Return an aware time as microseconds since the epoch; exact, unlike a float timestamp."""
    return (moment - EPOCH) // _MICROSECOND


def optional_micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


# Most records say the same time four times: a look-up costs a quarter of adding.
@lru_cache(maxsize=4096)
def from_micros(value: int) -> datetime:
    return EPOCH + timedelta(0, 0, value)


def optional_time(value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


def to_json(value: Mapping[str, object] | Sequence[object]) -> str:
    """Encode JSON compactly, key order kept, non-ASCII as it is; NaN and infinity are refused (ValueError)."""
    return _encode(value)


def optional_json(value: Mapping[str, object] | Sequence[object] | None) -> str | None:
    return None if value is None else to_json(value)


def object_from(text: str | None) -> dict[str, object] | None:
    """Decode a JSON object column; an empty one, which most are, without the decoder."""
    if text is None or text == "{}":
        return None if text is None else {}
    value, _ = _decode(text)
    if not isinstance(value, dict):
        raise TypeError(f"a JSON object was stored as {type(value).__name__}")
    return value


def objects_from(text: str | None) -> list[dict[str, object]] | None:
    """Decode a JSON column that holds a list of objects."""
    if text is None:
        return None
    value = json.loads(text)
    if not isinstance(value, list):
        raise TypeError(f"a JSON list was stored as {type(value).__name__}")
    return value
