"""What happens to results between the store and the caller: rerank, then prune, then budgets.

Each step is a function of the results, in rank order, and gives back some of them; none asks the store for more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from memoranda.threads.apis import ILlm, RerankResponse
from memoranda.threads.not_set import NOT_SET, NotSet, first_set
from memoranda.threads.prompt_text import estimated_tokens
from memoranda.threads.pruning_verdicts import is_discarded
from memoranda.threads.record_text import plain_text
from memoranda.threads.rerankers import checked_response
from memoranda.threads.results import SearchResult
from memoranda.threads.search_config import (
    DEFAULT_MAX_RESULTS,
    DEFAULT_PROBE_POINTS,
    DEFAULT_PROTECTED_FRACTION,
    MemorySearchConfig,
    PruningEvaluationMode,
    PruningMemorySearchConfig,
    TopKMemorySearchConfig,
    check_budget,
    check_positive,
)

_LEAST_TO_PROBE: Final = 3

Results = Sequence[SearchResult]
Judge = Callable[[SearchResult], bool]
"""Whether a result is to be discarded."""


class Reranks(Protocol):
    """The part of a reranker that is used."""

    def rerank(self, query: str, documents: Sequence[str]) -> RerankResponse: ...


@dataclass(frozen=True, slots=True)
class Pruning:
    """How to prune: who judges, and which results."""

    pruner: ILlm
    mode: PruningEvaluationMode = PruningEvaluationMode.FAST
    probe_points: int = DEFAULT_PROBE_POINTS
    protected_fraction: float = DEFAULT_PROTECTED_FRACTION


@dataclass(frozen=True, slots=True)
class Refinement:
    """The decided steps; ``None`` leaves one out. Budgets are in tokens, not positive ones are none."""

    reranker: Reranks | None = None
    reranker_max_candidates: int | None = None
    pruning: Pruning | None = None
    token_budget: int | None = None
    soft_token_budget: int | None = None

    def apply(self, query: str, results: Results) -> list[SearchResult]:
        """Return what is handed out.

        Raises what the reranker raises, and ``ValueError`` for an answer of it, or of the pruner, that cannot be used.
        """
        kept: Results = results
        if self.reranker is not None:
            kept = rerank(self.reranker, query, kept, max_candidates=self.reranker_max_candidates)
        if self.pruning is not None:
            kept = prune(self.pruning, query, kept)
        return within_budgets(kept, self.token_budget, self.soft_token_budget)


def refinement_of(
    config: MemorySearchConfig,
    *,
    token_budget: int | NotSet | None = NOT_SET,
    soft_token_budget: int | NotSet | None = NOT_SET,
) -> Refinement:
    """Return the steps of one search: the configuration's, with the budgets of the call where it gives them.

    Raises ``ValueError`` for a budget that is no integer.
    """
    check_budget("token_budget", token_budget)
    check_budget("soft_token_budget", soft_token_budget)
    hard = first_set(token_budget, config.token_budget, default=None)
    soft = first_set(soft_token_budget, config.soft_token_budget, default=None)
    if not isinstance(config, TopKMemorySearchConfig | PruningMemorySearchConfig):
        return Refinement(token_budget=hard, soft_token_budget=soft)
    return Refinement(
        reranker=first_set(config.reranker, default=None),
        reranker_max_candidates=first_set(config.reranker_max_candidates, default=None),
        pruning=_pruning_of(config) if isinstance(config, PruningMemorySearchConfig) else None,
        token_budget=hard,
        soft_token_budget=soft,
    )


def max_results_of(config: MemorySearchConfig, asked: int | NotSet | None = NOT_SET) -> int:
    """Return how many results to ask the store for: the call's number, the configuration's, or 10.

    ``None`` is the default. Raises ``ValueError`` for a number below 1.
    """
    check_positive("max_results", asked, optional=True)
    configured = config.max_results if isinstance(config, TopKMemorySearchConfig) else NOT_SET
    return first_set(asked, default=None) or first_set(configured, default=None) or DEFAULT_MAX_RESULTS


def rerank(reranker: Reranks, query: str, results: Results, *, max_candidates: int | None = None) -> list[SearchResult]:
    """Return the results by falling relevance; those behind ``max_candidates`` stay behind, in their order.

    Of equally relevant results the one that ranked first stays first. Raises ``ValueError`` unless the reranker answers
    for each document once, with a finite score.
    """
    asked = list(results[:max_candidates])
    if not asked:
        return list(results)
    answer = reranker.rerank(query, [plain_text(result.content) for result in asked])
    order = [item.index for item in checked_response(answer, len(asked))]
    return [*(asked[index] for index in order), *results[len(asked) :]]


def prune(pruning: Pruning, query: str, results: Results) -> list[SearchResult]:
    """Return the results without those that the pruner would discard; the first, protected ones always stay.

    Raises ``ValueError`` when the pruner fails or its answer cannot be read.
    """
    protected = math.ceil(pruning.protected_fraction * len(results))
    if protected >= len(results):
        return list(results)

    def judge(result: SearchResult) -> bool:
        return is_discarded(pruning.pruner, query, result)

    if pruning.mode is PruningEvaluationMode.EXHAUSTIVE:
        return [result for rank, result in enumerate(results) if rank < protected or not judge(result)]
    if len(results) < _LEAST_TO_PROBE:
        return list(results)
    return _Probing(results, protected, judge).kept(
        pruning.probe_points, exact=pruning.mode is PruningEvaluationMode.EXTENDED
    )


def within_budgets(results: Results, token_budget: int | None, soft_token_budget: int | None) -> list[SearchResult]:
    """Return whole results in rank order that fit: none beyond the hard budget, none after the soft one is reached."""
    hard = token_budget if token_budget is not None and token_budget > 0 else math.inf
    soft = soft_token_budget if soft_token_budget is not None and soft_token_budget > 0 else math.inf
    kept: list[SearchResult] = []
    spent = 0
    for result in results if math.isfinite(min(hard, soft)) else ():
        cost = estimated_tokens(result.formatted_content)
        if spent + cost > hard or spent >= soft:
            return kept
        kept.append(result)
        spent += cost
    return list(results)


def _pruning_of(config: PruningMemorySearchConfig) -> Pruning:
    return Pruning(
        config.pruner,
        first_set(config.evaluation_mode, default=PruningEvaluationMode.FAST),
        first_set(config.num_probe_points, default=DEFAULT_PROBE_POINTS),
        first_set(config.protected_fraction, default=DEFAULT_PROTECTED_FRACTION),
    )


class _Probing:
    """Looks for the rank from which on everything is to be discarded, judging pairs of neighbours only.

    Takes for granted that what comes after two discarded neighbours is no better: this is what makes it approximate.
    """

    def __init__(self, results: Results, protected: int, judge: Judge) -> None:
        self._results = results
        self._protected = protected
        self._judge = judge
        self._discarded: dict[int, bool] = {}

    def kept(self, points: int, *, exact: bool) -> list[SearchResult]:
        cut = self._cut(self._ends(points), exact=exact)
        return [result for rank, result in enumerate(self._results[:cut]) if not self._discarded.get(rank, False)]

    def _ends(self, points: int) -> list[int]:
        """Return the last ranks of the pairs, spread evenly over what is not protected; the last is the tail."""
        open_ranks = len(self._results) - self._protected
        ends = {self._protected + math.ceil(open_ranks * point / points) - 1 for point in range(1, points + 1)}
        return sorted(ends)

    def _cut(self, ends: list[int], *, exact: bool) -> int:
        """Return the first rank of the first discarded pair; the number of results when the tail is worth keeping."""
        if not self._pair_is_discarded(ends[-1]):
            return len(self._results)
        low, high = 0, len(ends) - 1
        while low < high:
            middle = (low + high) // 2
            if self._pair_is_discarded(ends[middle]):
                high = middle
            else:
                low = middle + 1
        first = self._protected if low == 0 else ends[low - 1] + 1
        return self._bisected(first, ends[low]) if exact else self._start(ends[low])

    def _bisected(self, low: int, high: int) -> int:
        """Return the cut between two ranks, of which the pair that ends at the higher is discarded."""
        while low < high:
            middle = (low + high) // 2
            if self._pair_is_discarded(middle):
                high = middle
            else:
                low = middle + 1
        return self._start(high)

    def _start(self, end: int) -> int:
        return max(end - 1, self._protected)

    def _pair_is_discarded(self, end: int) -> bool:
        # Both are judged: where the pair stays, the worse of it can still go.
        verdicts = [self._is_discarded(rank) for rank in range(self._start(end), end + 1)]
        return all(verdicts)

    def _is_discarded(self, rank: int) -> bool:
        if rank not in self._discarded:
            self._discarded[rank] = self._judge(self._results[rank])
        return self._discarded[rank]
