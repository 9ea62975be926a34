"""Times as callers and models write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoranda.threads.times import moment_of


@pytest.mark.parametrize("text", ["2026-05-01T12:00:00", " 2026-05-01T12:00:00Z ", "2026-05-01T14:00:00+02:00"])
def test_a_time_is_in_utc(text: str) -> None:
    assert moment_of(text) == datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("text", [None, "", "tomorrow", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_words_that_say_no_time_that_can_be_kept_are_none(text: str | None) -> None:
    assert moment_of(text) is None
