"""Turns through the facade, over an engine in this process."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memoranda import Memory, MemoryRequestContext
from memoranda.testing.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def chat(tmp_path: Path, clock: ManualClock) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False, clock=clock) as memory:
        yield memory.bind(MemoryRequestContext(user_id="ada", session_id="monday"))


def test_the_key_of_a_turn_that_has_expired_is_free_again(chat: Memory, clock: ManualClock) -> None:
    first = chat.record_turn(role="user", content="for a day", idempotency_key="k", ttl_days=1)
    clock.advance(timedelta(days=2))
    again = chat.record_turn(role="user", content="for a day", idempotency_key="k")
    assert (again.repeated, again.id != first.id) == (False, True)
    assert [turn.id for turn in chat.list_turns().items] == [again.id]


def test_other_content_may_take_the_key_of_a_turn_that_has_expired(chat: Memory, clock: ManualClock) -> None:
    chat.record_turn(role="user", content="for a day", idempotency_key="k", ttl_days=1)
    clock.advance(timedelta(days=2))
    chat.record_turn(role="user", content="for good", idempotency_key="k")
    assert [turn.content for turn in chat.list_turns().items] == ["for good"]
    chat.wait_until_idle()  # the expiry job finds nothing more to remove
    assert [turn.content for turn in chat.list_turns().items] == ["for good"]


def test_lifetimes_end_on_a_leap_day_too(chat: Memory, clock: ManualClock, caplog: pytest.LogCaptureFixture) -> None:
    clock.set(datetime(2028, 2, 29, 12, tzinfo=UTC))
    chat.record_turn(role="user", content="for an hour", ttl_days=1 / 24)
    clock.set(datetime(2028, 2, 29, 23, tzinfo=UTC))
    chat.wait_until_idle()
    assert (chat.status().turns, caplog.messages) == (0, [])
