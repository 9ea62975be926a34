"""The limit of tries: refilled evenly, one key's apart from another's, bounded in memory."""

from __future__ import annotations

from memoranda.server.access.throttle import Throttle


class Seconds:
    """A clock to set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_tries_run_out_and_come_back() -> None:
    seconds = Seconds()
    throttle = Throttle(6, seconds=seconds)
    assert [throttle.spend("a") for _ in range(7)] == [0] * 6 + [10]
    assert (throttle.wait("a"), throttle.wait("b"), throttle.spend("b")) == (10, 0, 0)
    seconds.now = 4.0
    assert throttle.spend("a") == 6
    seconds.now = 10.0
    assert [throttle.spend("a"), throttle.spend("a")] == [0, 10]
    seconds.now = 1000.0
    assert [throttle.spend("a") for _ in range(7)] == [0] * 6 + [10]


def test_refused_tries_cost_nothing() -> None:
    seconds = Seconds()
    throttle = Throttle(1, seconds=seconds)
    assert [throttle.spend("a") for _ in range(50)] == [0] + [60] * 49
    seconds.now = 60.0
    assert throttle.spend("a") == 0


def test_of_many_keys_the_latest_used_are_remembered() -> None:
    throttle = Throttle(1, most_keys=3, seconds=Seconds())
    for key in "abacd":
        throttle.spend(key)
    assert [throttle.wait(key) > 0 for key in "abcd"] == [True, False, True, True]
