"""Which units fit a token budget: whole ones only, best first, and never a token more than allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from memoranda.engine.context.selection import Unit


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """``default_max_tokens`` applies when a caller gives none; ``reserve`` of it is left for the rest of the prompt."""

    default_max_tokens: int = 8192
    reserve: int = 500


_Rendering = TypeVar("_Rendering")


@dataclass(frozen=True, slots=True)
class Measured(Generic[_Rendering]):
    """A rendering and its tokens, everything around the units included."""

    rendering: _Rendering
    tokens: int


@dataclass(frozen=True, slots=True)
class Fitted(Generic[_Rendering]):
    """What was kept and what was not, both in rank order, and what was kept as rendered."""

    kept: tuple[Unit, ...]
    dropped: tuple[Unit, ...]
    measured: Measured[_Rendering]


def fit(
    units: Sequence[Unit],
    available: int,
    cost: Callable[[Unit], int],
    measure: Callable[[Sequence[Unit]], Measured[_Rendering]],
) -> Fitted[_Rendering]:
    """Keep the best units whose rendering takes at most ``available`` tokens.

    ``cost`` estimates a unit alone; ``measure`` renders and has the last word. Nothing rendered takes no tokens.
    """
    kept = list(range(len(units))) if available > 0 else []
    measured = measure([units[position] for position in kept])
    costs: list[int] = []
    if measured.tokens > available and kept:
        costs = [cost(unit) for unit in units]
        kept = _greedy(costs, available)
        measured = measure([units[position] for position in kept])
    while kept and measured.tokens > available:
        excess = measured.tokens - available
        while kept and excess > 0:
            excess -= max(1, costs[kept.pop()])
        measured = measure([units[position] for position in kept])
    chosen = set(kept)
    dropped = tuple(unit for position, unit in enumerate(units) if position not in chosen)
    return Fitted(tuple(units[position] for position in kept), dropped, measured)


def _greedy(costs: Sequence[int], available: int) -> list[int]:
    """The positions of the units that fit one after the other; one too large is passed over."""
    kept: list[int] = []
    for position, cost in enumerate(costs):
        if cost <= available:
            kept.append(position)
            available -= cost
    return kept
