"""Which units fit a token budget: whole ones only, best first, and never a token more than allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memoranda.engine.context.selection import Unit


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """``default_max_tokens`` applies when a caller gives none; ``reserve`` of it is left for the rest of the prompt."""

    default_max_tokens: int = 8192
    reserve: int = 500


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was kept and what was not, both in rank order, and the tokens of the whole rendering."""

    kept: tuple[Unit, ...]
    dropped: tuple[Unit, ...]
    tokens: int


def fit(
    units: Sequence[Unit], available: int, cost: Callable[[Unit], int], measure: Callable[[Sequence[Unit]], int]
) -> Fitted:
    """Keep the best units whose rendering takes at most ``available`` tokens.

    ``cost`` estimates a unit alone, ``measure`` counts a rendering with everything around it and has the last word.
    """
    if available <= 0:
        return Fitted((), tuple(units), 0)
    tokens = measure(units)
    if tokens <= available:
        return Fitted(tuple(units), (), tokens)
    costs = [cost(unit) for unit in units]
    kept = _greedy(costs, available)
    tokens = measure([units[position] for position in kept])
    while kept and tokens > available:
        excess = tokens - available
        while kept and excess > 0:
            excess -= max(1, costs[kept.pop()])
        tokens = measure([units[position] for position in kept])
    chosen = set(kept)
    dropped = tuple(unit for position, unit in enumerate(units) if position not in chosen)
    return Fitted(tuple(units[position] for position in kept), dropped, tokens)


def _greedy(costs: Sequence[int], available: int) -> list[int]:
    """The positions of the units that fit one after the other; one too large is passed over."""
    kept: list[int] = []
    for position, cost in enumerate(costs):
        if cost <= available:
            kept.append(position)
            available -= cost
    return kept
