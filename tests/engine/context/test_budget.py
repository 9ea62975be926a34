"""The budget is an upper bound, units are whole, and the best come first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from memoranda.engine.context.budget import Fitted, Measured, fit
from memoranda.engine.context.selection import Unit
from memoranda.engine.records import STM, Turn
from memoranda.engine.retrieval.hits import Hit

_TIME = datetime(2026, 5, 10, tzinfo=UTC)


def _unit(size: int, number: int = 1) -> Unit:
    turn = Turn(
        id=f"t{number}",
        key=number,
        user_id="ann",
        session_id="s",
        turn_seq=number,
        role="user",
        content="x" * size,
        created_at=_TIME,
        event_time=_TIME,
    )
    return Unit((Hit(STM, turn, 1.0),))


def _units(*sizes: int) -> list[Unit]:
    return [_unit(size, number) for number, size in enumerate(sizes, start=1)]


def _size(unit: Unit) -> int:
    return len(unit.hits[0].text)


def _fit(units: Sequence[Unit], available: int, *, wrapper: int = 0, misjudged: int = 0) -> Fitted[int]:
    """Fit units whose rendering is their size and a wrapper; ``misjudged`` is what an estimate leaves out."""

    def measure(chosen: Sequence[Unit]) -> Measured[int]:
        return Measured(len(chosen), sum(map(_size, chosen)) + wrapper if chosen else 0)

    return fit(units, available, lambda unit: max(0, _size(unit) - misjudged), measure)


def test_everything_is_kept_where_it_fits_exactly() -> None:
    units = _units(10, 20)
    assert _fit(units, 35, wrapper=5).kept == tuple(units)
    assert _fit(units, 34, wrapper=5).kept == (units[0],)


def test_one_that_is_too_large_is_passed_over_for_later_ones() -> None:
    units = _units(100, 10, 10)
    fitted = _fit(units, 20)
    assert fitted.kept == (units[1], units[2])
    assert fitted.dropped == (units[0],)


def test_no_budget_gives_nothing_and_drops_everything() -> None:
    units = _units(1, 1)
    for available in (0, -500):
        fitted = _fit(units, available)
        assert (fitted.kept, fitted.dropped, fitted.measured.tokens) == ((), tuple(units), 0)


@given(st.lists(st.integers(0, 60), max_size=12), st.integers(-10, 300), st.integers(0, 40), st.integers(0, 30))
def test_the_rendering_never_exceeds_the_budget_however_wrong_the_estimates(
    sizes: list[int], available: int, wrapper: int, misjudged: int
) -> None:
    units = _units(*sizes)
    fitted = _fit(units, available, wrapper=wrapper, misjudged=misjudged)
    assert fitted.measured.tokens <= max(0, available)
    assert fitted.measured.rendering == len(fitted.kept)
    assert sorted([*fitted.kept, *fitted.dropped], key=units.index) == units
    for part in (fitted.kept, fitted.dropped):
        assert list(part) == sorted(part, key=units.index)
