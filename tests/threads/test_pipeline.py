"""Reranking, pruning and budgets, and the configurations that ask for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.threads.apis import ILlm, IReranker, LlmPrompt, LlmResponse, RerankResponse, RerankResponseResult
from memoranda.threads.pipeline import (
    Pruning,
    max_results_of,
    prune,
    refinement_of,
    rerank,
    within_budgets,
)
from memoranda.threads.prompt_text import estimated_tokens
from memoranda.threads.record_text import SearchResultFormatConfig
from memoranda.threads.records import FactRecord
from memoranda.threads.results import SearchResult
from memoranda.threads.search_config import (
    MemorySearchConfig,
    PruningEvaluationMode,
    PruningMemorySearchConfig,
    TopKMemorySearchConfig,
    saved_search_config,
    search_config_of,
)

BARE = SearchResultFormatConfig(show_status=False, show_timestamp=False)


def results(count: int) -> list[SearchResult]:
    return [SearchResult(0.1, FactRecord(str(rank), f"fact {rank}"), format_config=BARE) for rank in range(count)]


def ranks(found: Sequence[SearchResult]) -> list[int]:
    return [int(result.id) for result in found]


class Judge(ILlm):
    """Discards what it is told to; keeps count of what it was asked."""

    def __init__(self, answer: Callable[[int], str]) -> None:
        self.answer = answer
        self.asked: list[int] = []

    def generate(
        self, prompt: LlmPrompt, *, response_json_schema: Mapping[str, object] | None = None, **kwargs: Any
    ) -> LlmResponse:
        assert response_json_schema is not None
        text = str(prompt)
        rank = int(text.partition("<record_id>")[2].partition("<")[0])
        self.asked.append(rank)
        return LlmResponse(self.answer(rank))

    async def generate_async(
        self, prompt: LlmPrompt, *, response_json_schema: Mapping[str, object] | None = None, **kwargs: Any
    ) -> LlmResponse:
        raise NotImplementedError


def keeps(*wanted: int) -> Judge:
    return Judge(lambda rank: '{"decision": "irrelevant"}' if rank in wanted else '{"decision": "discard"}')


class Order(IReranker):
    def __init__(self, *scores: tuple[int, float]) -> None:
        self.scores = scores
        self.documents: list[str] = []

    async def rerank_async(self, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        self.documents = list(documents)
        return RerankResponse([RerankResponseResult(index, score) for index, score in self.scores])


def test_reranking_sorts_by_score_and_keeps_ties_in_order() -> None:
    order = Order((2, 0.9), (0, 0.1), (1, 0.1))
    assert ranks(rerank(order, "q", results(3))) == [2, 0, 1]
    assert order.documents == ["fact 0", "fact 1", "fact 2"]


def test_what_is_beyond_the_candidates_stays_behind_them() -> None:
    assert ranks(rerank(Order((0, 0.1), (1, 0.2)), "q", results(4), max_candidates=2)) == [1, 0, 2, 3]
    assert rerank(Order(), "q", []) == []


@pytest.mark.parametrize(
    "scores",
    [
        ((0, 1.0),),
        ((0, 1.0), (0, 0.5)),
        ((0, 1.0), (1, 0.5), (2, 0.1)),
        ((0, 1.0), (1, math.nan)),
        ((0, 1.0), (5, 0.1)),
    ],
    ids=["missing", "twice", "unknown", "not finite", "out of range"],
)
def test_a_bad_answer_of_the_reranker_is_a_value_error(scores: tuple[tuple[int, float], ...]) -> None:
    with pytest.raises(ValueError, match="reranker"):
        rerank(Order(*scores), "q", results(2))


def test_exhaustive_pruning_judges_all_that_is_not_protected() -> None:
    judge = keeps(1, 5)
    pruning = Pruning(judge, PruningEvaluationMode.EXHAUSTIVE)
    assert ranks(prune(pruning, "q", results(10))) == [0, 1, 5]
    assert judge.asked == list(range(1, 10))


def test_protection_of_nothing_can_leave_nothing_and_of_all_asks_nobody() -> None:
    judge = keeps()
    assert prune(Pruning(judge, PruningEvaluationMode.EXHAUSTIVE, protected_fraction=0), "q", results(3)) == []
    judge.asked.clear()
    assert len(prune(Pruning(judge, protected_fraction=1), "q", results(3))) == 3
    assert judge.asked == []


@pytest.mark.parametrize("mode", [PruningEvaluationMode.FAST, PruningEvaluationMode.EXTENDED])
def test_probing_keeps_all_when_the_tail_is_worth_keeping(mode: PruningEvaluationMode) -> None:
    judge = keeps(*range(20))
    assert ranks(prune(Pruning(judge, mode), "q", results(20))) == list(range(20))
    assert len(judge.asked) <= 2


def test_fast_pruning_finds_about_the_place_with_few_calls() -> None:
    judge = keeps(*range(12))
    kept = ranks(prune(Pruning(judge), "q", results(40)))
    assert kept == list(range(len(kept)))
    assert 4 <= len(kept) <= 16
    assert len(judge.asked) <= 6


def test_extended_pruning_finds_the_place() -> None:
    assert ranks(prune(Pruning(keeps(*range(12)), PruningEvaluationMode.EXTENDED), "q", results(40))) == list(range(12))


def test_too_few_to_probe_are_all_kept() -> None:
    judge = keeps()
    assert len(prune(Pruning(judge), "q", results(2))) == 2
    assert judge.asked == []


@given(
    count=st.integers(0, 30),
    good=st.integers(0, 30),
    points=st.integers(1, 12),
    mode=st.sampled_from(PruningEvaluationMode),
    fraction=st.sampled_from((0.0, 0.1, 0.5, 1.0)),
)
def test_pruning_keeps_the_protected_and_order(
    count: int, good: int, points: int, mode: PruningEvaluationMode, fraction: float
) -> None:
    judge = keeps(*range(good))
    kept = ranks(prune(Pruning(judge, mode, points, fraction), "q", results(count)))
    assert kept == sorted(set(kept))
    assert set(range(math.ceil(fraction * count))) <= set(kept)
    assert len(judge.asked) == len(set(judge.asked))
    if mode is not PruningEvaluationMode.FAST and count >= 3:
        assert kept == list(range(min(count, max(good, math.ceil(fraction * count)))))


@pytest.mark.parametrize("answer", ["no", "[]", '{"decision": "drop"}', '{"verdict": "keep"}', "{"])
def test_an_unusable_verdict_fails_the_search(answer: str) -> None:
    with pytest.raises(ValueError, match="pruner"):
        prune(Pruning(Judge(lambda _: answer), PruningEvaluationMode.EXHAUSTIVE), "q", results(3))


def test_a_fenced_verdict_is_read() -> None:
    judge = Judge(lambda _: '```json\n{"decision": "discard"}\n```')
    assert ranks(prune(Pruning(judge, PruningEvaluationMode.EXHAUSTIVE), "q", results(3))) == [0]


def test_a_failing_pruner_fails_the_search_with_a_value_error() -> None:
    def fail(_: int) -> str:
        raise OSError("down")

    with pytest.raises(ValueError, match="OSError"):
        prune(Pruning(Judge(fail), PruningEvaluationMode.EXHAUSTIVE), "q", results(3))


def test_budgets_count_formatted_results_whole() -> None:
    found = results(4)
    one = estimated_tokens(found[0].formatted_content)
    assert ranks(within_budgets(found, 2 * one, None)) == [0, 1]
    assert within_budgets(found, one - 1, None) == []
    assert ranks(within_budgets(found, None, one + 1)) == [0, 1]
    assert ranks(within_budgets(found, None, one)) == [0]
    assert ranks(within_budgets(found, 2 * one, 4 * one)) == [0, 1]
    for off in (None, 0, -1):
        assert within_budgets(found, off, off) == found


def test_tokens_are_estimated_at_three_and_a_half_characters() -> None:
    assert [estimated_tokens("x" * length) for length in (0, 1, 3, 4, 7, 8)] == [0, 1, 1, 2, 2, 3]


def test_the_call_decides_before_the_configuration() -> None:
    config = TopKMemorySearchConfig(token_budget=5, soft_token_budget=6, max_results=7)
    assert refinement_of(config, token_budget=None).token_budget is None
    assert refinement_of(config).soft_token_budget == 6
    assert [max_results_of(config), max_results_of(config, 3), max_results_of(config, None)] == [7, 3, 7]
    assert max_results_of(MemorySearchConfig()) == 10
    for wrong in (0, -1, True, "3"):
        with pytest.raises(ValueError, match="max_results"):
            max_results_of(config, wrong)  # type: ignore[arg-type]


def test_the_steps_follow_one_another() -> None:
    judge = keeps(0, 2)
    config = PruningMemorySearchConfig(
        reranker=Order((0, 0.1), (1, 0.5), (2, 0.9)),
        evaluation_mode=PruningEvaluationMode.EXHAUSTIVE,
        protected_fraction=0,
        pruner=judge,
    )
    assert ranks(refinement_of(config).apply("q", results(3))) == [2, 0]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"num_probe_points": 0}, ValueError),
        ({"reranker_max_candidates": 0}, ValueError),
        ({"protected_fraction": 1.1}, ValueError),
        ({"protected_fraction": "x"}, ValueError),
        ({"evaluation_mode": "fast"}, TypeError),
        pytest.param({"reranker": object()}, TypeError, id="no reranker"),
        pytest.param({"pruner": object()}, TypeError, id="no pruner"),
        ({"token_budget": "5"}, ValueError),
        ({"num_probe_points": 3, "evaluation_mode": PruningEvaluationMode.EXHAUSTIVE}, ValueError),
    ],
    ids=str,
)
def test_a_configuration_is_checked_when_it_is_made(fields: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        PruningMemorySearchConfig(**{"pruner": keeps(), **fields})


def test_what_is_saved_has_no_objects_and_pruning_needs_a_pruner_again() -> None:
    pruning = PruningMemorySearchConfig(
        token_budget=5, reranker=Order(), evaluation_mode=PruningEvaluationMode.EXTENDED, pruner=keeps()
    )
    assert pruning.payload() == {"type": "pruning", "token_budget": 5, "evaluation_mode": "extended"}
    with pytest.raises(ValueError, match="pruner_llm"):
        saved_search_config(pruning.payload())
    judge = keeps()
    assert saved_search_config(pruning.payload(), judge) == PruningMemorySearchConfig(
        token_budget=5, evaluation_mode=PruningEvaluationMode.EXTENDED, pruner=judge
    )
    top = TopKMemorySearchConfig(max_results=3, reranker=Order())
    assert saved_search_config(top.payload()) == TopKMemorySearchConfig(max_results=3)


def test_a_client_takes_a_configuration_or_a_pruner() -> None:
    judge = keeps()
    assert search_config_of(None) == TopKMemorySearchConfig()
    assert search_config_of(None, judge) == PruningMemorySearchConfig(pruner=judge)
    with pytest.raises(ValueError, match="pruner_llm"):
        search_config_of(TopKMemorySearchConfig(), judge)
    with pytest.raises(TypeError, match="MemorySearchConfig"):
        search_config_of({"max_results": 3})
