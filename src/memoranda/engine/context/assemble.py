"""Context assembly: search, drop what is said twice, fit the budget, render."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memoranda.engine.context.budget import BudgetSettings, Fitted, Measured, fit
from memoranda.engine.context.render import Formatted, Style, render, text_of
from memoranda.engine.context.selection import Unit, arrange, units_of
from memoranda.engine.context.tool_calls import call_text
from memoranda.engine.context.wording import wording
from memoranda.engine.records import Turn
from memoranda.engine.retrieval.companions import is_tool_turn
from memoranda.engine.retrieval.duplicates import DuplicateSettings, Statement, find_duplicates
from memoranda.engine.retrieval.hits import Hit, Outcome
from memoranda.engine.retrieval.plan import SearchRequest
from memoranda.engine.retrieval.search import Searcher

BUDGET = "budget"
DUPLICATE = "duplicate"

# What a rendered record takes besides its text: date or time, role, list mark, element or message.
_UNIT_OVERHEAD = 20


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A search and the form of its answer. ``max_tokens`` is gross: a reserve is taken off; None takes the default."""

    search: SearchRequest
    max_tokens: int | None = None
    style: Style = Style.OPENAI


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """How contexts are assembled."""

    budget: BudgetSettings = BudgetSettings()  # noqa: RUF009 - frozen
    duplicates: DuplicateSettings = DuplicateSettings()  # noqa: RUF009 - frozen


@dataclass(frozen=True, slots=True)
class Dropped:
    """A hit that was left out: ``budget``, or ``duplicate`` of the hit with the id ``duplicate_of``."""

    hit: Hit
    reason: str
    duplicate_of: str = ""


@dataclass(frozen=True, slots=True)
class AssembledContext:
    """A context and what it is made of.

    ``hits`` are those in it, best first; ``dropped`` those left out, best first; ``truncated`` says that the budget was
    the cause for some. ``token_count`` counts the formatted context; ``timings`` are seconds a stage.
    """

    formatted: Formatted
    token_count: int
    memory_counts: Mapping[str, int]
    timings: Mapping[str, float]
    strategy: str
    outcomes: Sequence[Outcome]
    hits: Sequence[Hit]
    dropped: Sequence[Dropped]
    rerank_error: str | None = None

    @property
    def truncated(self) -> bool:
        return any(item.reason == BUDGET for item in self.dropped)


class ContextAssembler:
    """Builds contexts from one project's memory. ``count_tokens`` is the measure of the budget."""

    def __init__(
        self, searcher: Searcher, count_tokens: Callable[[str], int], settings: ContextSettings | None = None
    ) -> None:
        self._searcher = searcher
        self._count = count_tokens
        self._settings = settings or ContextSettings()

    def build(self, request: ContextRequest) -> AssembledContext:
        """Search and assemble; raises what the search raises. The same store and query give the same bytes."""
        result = self._searcher.search(replace(request.search, companions=True))
        started = time.perf_counter()
        unique, repeated = self._without_duplicates(result.hits)
        fitted = self._fit(units_of(unique, result.companions), request)
        hits = [hit for unit in fitted.kept for hit in unit.hits]
        over = [Dropped(hit, BUDGET) for unit in fitted.dropped for hit in unit.hits]
        place = {hit.id: position for position, hit in enumerate(result.hits)}
        return AssembledContext(
            formatted=fitted.measured.rendering,
            token_count=fitted.measured.tokens,
            memory_counts=dict(Counter(hit.source for hit in hits)),
            timings={**result.timings, "assemble": time.perf_counter() - started},
            strategy=result.strategy,
            outcomes=result.outcomes,
            hits=hits,
            dropped=sorted([*repeated, *over], key=lambda item: place.get(item.hit.id, len(place))),
            rerank_error=result.rerank_error,
        )

    def _without_duplicates(self, hits: Sequence[Hit]) -> tuple[list[Hit], list[Dropped]]:
        said = [(hit, _said(hit)) for hit in hits if not _in_exchange(hit)]
        compared = [hit for hit, text in said if text]
        statements = [Statement(text, hit.state.value) for hit, text in said if text]
        found = find_duplicates(statements, self._searcher.analyser, self._settings.duplicates)
        repeated = [Dropped(compared[lower], DUPLICATE, compared[higher].id) for lower, higher in found.items()]
        gone = {id(item.hit) for item in repeated}
        return [hit for hit in hits if id(hit) not in gone], repeated

    def _fit(self, units: Sequence[Unit], request: ContextRequest) -> Fitted[Formatted]:
        budget = self._settings.budget
        gross = budget.default_max_tokens if request.max_tokens is None else request.max_tokens

        def measure(chosen: Sequence[Unit]) -> Measured[Formatted]:
            formatted = render(arrange(chosen), request.style)
            return Measured(formatted, self._count(text_of(formatted)))

        return fit(units, gross - budget.reserve, self._cost, measure)

    def _cost(self, unit: Unit) -> int:
        return sum(_UNIT_OVERHEAD + self._count(_all_text(hit)) for hit in unit.hits)


def _in_exchange(hit: Hit) -> bool:
    return isinstance(hit.record, Turn) and is_tool_turn(hit.record)


def _said(hit: Hit) -> str:
    return hit.record.content or "" if isinstance(hit.record, Turn) else wording(hit.record)


def _all_text(hit: Hit) -> str:
    calls = hit.record.tool_calls or () if isinstance(hit.record, Turn) else ()
    return " ".join([_said(hit), *map(call_text, calls)])
