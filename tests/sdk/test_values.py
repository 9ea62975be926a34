"""Times, lifetimes and vectors: what is accepted, in which form it goes on, and what a refusal says."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, strategies

from memoranda.sdk._values import MAX_TTL_DAYS, parse_time, parse_ttl_days, parse_vector, require_json

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

TIMES: dict[str, Any] = {
    "aware": NOON,
    "other zone": NOON.astimezone(timezone(timedelta(hours=5, minutes=30))),
    "naive": NOON.replace(tzinfo=None),
    "Z": "2026-03-01T12:00:00Z",
    "offset": "2026-03-01T13:00:00+01:00",
    "naive text": "2026-03-01T12:00:00",
    "space": " 2026-03-01 12:00 ",
    "nine digits": "2026-03-01T12:00:00.000000000Z",
    "one digit": "2026-03-01T12:00:00.0Z",
}


@pytest.mark.parametrize("value", TIMES.values(), ids=TIMES)
def test_times_come_out_in_utc(value: Any) -> None:
    assert parse_time(value) == NOON
    assert parse_time(value).tzinfo is UTC


def test_a_day_starts_at_midnight_and_fractions_are_cut_to_microseconds() -> None:
    assert parse_time("2026-03-01") == datetime(2026, 3, 1, tzinfo=UTC)
    assert parse_time("2026-03-01T12:00:00.123456789Z").microsecond == 123456


@pytest.mark.parametrize(
    "value", ["", "soon", "2026-13-01", 1772366400, 1.5, True, date(2026, 3, 1), "0001-01-01T00:00:00+10:00"], ids=repr
)
def test_times_that_are_none_are_refused_with_value_and_name(value: Any) -> None:
    with pytest.raises(ValueError, match="as_of") as raised:
        parse_time(value, "as_of")
    assert repr(value) in str(raised.value)


YEARS_2_TO_9998 = (datetime(2, 1, 1), datetime(9998, 1, 1))  # noqa: DTZ001 - the bounds of any zone's wall clock


@given(strategies.datetimes(*YEARS_2_TO_9998, timezones=strategies.timezones()))
def test_any_time_survives_its_text(moment: datetime) -> None:
    assert parse_time(moment.isoformat()) == parse_time(moment) == moment.astimezone(UTC)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), MAX_TTL_DAYS + 1, True, "7"], ids=repr)
def test_lifetimes_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="ttl_days must be"):
        parse_ttl_days(value)


@pytest.mark.parametrize("value", [1, 0.001, MAX_TTL_DAYS])
def test_lifetimes_are_floats(value: float) -> None:
    assert parse_ttl_days(value) == value
    assert type(parse_ttl_days(value)) is float


@pytest.mark.parametrize("value", [[], "abc", b"abc", 5, [1, None], [1.0, float("nan")], [float("inf")]], ids=repr)
def test_vectors_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="query_embedding"):
        parse_vector(value, "query_embedding")


def test_vectors_become_lists_of_floats() -> None:
    assert parse_vector((1, 2.5), "embedding") == [1.0, 2.5]


def test_json_check_names_the_argument() -> None:
    require_json(metadata=None, steps=[{"a": 1}])
    with pytest.raises(TypeError, match=r"^steps: "):
        require_json(metadata={}, steps=[object()])
    cycle: dict[str, object] = {}
    cycle["self"] = cycle
    with pytest.raises(ValueError, match=r"^metadata: "):
        require_json(metadata=cycle)
