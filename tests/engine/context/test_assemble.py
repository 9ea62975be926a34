"""Contexts from a real store: pairs of tool turns, budgets, duplicates, and what is told about them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from memoranda.engine.context.assemble import (
    BUDGET,
    DUPLICATE,
    AssembledContext,
    ContextAssembler,
    ContextRequest,
    ContextSettings,
)
from memoranda.engine.context.budget import BudgetSettings
from memoranda.engine.context.render import Style, text_of
from memoranda.engine.records import Turn
from memoranda.engine.retrieval.hits import Hit
from memoranda.engine.retrieval.plan import Mode, SearchRequest, SourcePlan
from memoranda.engine.scope import Scope
from memoranda.providers.tokens import estimate_tokens
from memoranda.sdk.errors import MemoryClientError
from tests.engine.retrieval.world import SearchWorld

_NO_RESERVE = ContextSettings(budget=BudgetSettings(reserve=0))


def _build(
    world: SearchWorld,
    query: str,
    *sources: str,
    max_tokens: int | None = None,
    style: Style = Style.OPENAI,
    settings: ContextSettings | None = _NO_RESERVE,
    **fields: object,
) -> AssembledContext:
    assembler = ContextAssembler(world.searcher(), estimate_tokens, settings)
    plans = [SourcePlan(source, Mode.TEXT) for source in sources or ("stm",)]
    request = SearchRequest(query, Scope(user_id="ann"), plans, **fields)  # type: ignore[arg-type]
    return assembler.build(ContextRequest(request, max_tokens, style))


def _roles(context: AssembledContext) -> list[object]:
    assert isinstance(context.formatted, list)
    return [message["role"] for message in context.formatted]


def _use_a_tool(world: SearchWorld, topic: str = "weather", call_id: str = "1", session: str = "s1") -> None:
    """Four turns: a question, a call, its long result, an answer."""
    world.say(f"what is the {topic}", session=session)
    call = {"id": call_id, "name": "lookup", "args": {"topic": topic}}
    world.say(None, role="assistant", tool_calls=[call], session=session)
    result = f"{topic}: " + "measured in detail " * 20
    world.say(result, role="tool", tool_call_id=call_id, tool_name="lookup", session=session)
    world.say(f"the {topic} is fine", role="assistant", session=session)


class TestToolExchanges:
    def test_a_found_result_brings_its_call(self, world: SearchWorld) -> None:
        _use_a_tool(world)
        context = _build(world, "measured in detail")
        roles = _roles(context)
        assert "tool" in roles
        assert roles[roles.index("tool") - 1] == "assistant"
        calls = [hit for hit in context.hits if isinstance(hit.record, Turn) and hit.record.tool_calls]
        assert len(calls) == 1
        assert context.memory_counts["stm"] == len(context.hits)

    @pytest.mark.parametrize("style", list(Style))
    @pytest.mark.parametrize("query", ["weather", "measured", "fine"])
    def test_at_every_budget_call_and_result_are_kept_or_dropped_together(
        self, world: SearchWorld, style: Style, query: str
    ) -> None:
        _use_a_tool(world)
        whole = _build(world, query, style=style).token_count
        seen = set()
        for budget in range(0, whole + 3, 3):
            context = _build(world, query, style=style, max_tokens=budget)
            assert context.token_count <= budget
            assert estimate_tokens(text_of(context.formatted)) == context.token_count
            kept = {hit.record.role for hit in context.hits if isinstance(hit.record, Turn) and _is_tool(hit)}
            assert kept in (set(), {"assistant", "tool"})
            dropped = {item.hit.id for item in context.dropped}
            assert not dropped.intersection(hit.id for hit in context.hits)
            assert context.truncated == bool(dropped)
            seen.add(frozenset(kept))
        assert len(seen) == 2

    def test_two_exchanges_with_one_id_stay_apart(self, world: SearchWorld) -> None:
        _use_a_tool(world, "weather", "1")
        _use_a_tool(world, "traffic", "1")
        context = _build(world, "traffic")
        text = text_of(context.formatted)
        call = text.index('\\"topic\\": \\"traffic\\"')
        assert call < text.index("traffic: measured")

    def test_results_are_no_duplicates_of_each_other(self, world: SearchWorld) -> None:
        for call_id in ("1", "2"):
            world.say(None, role="assistant", tool_calls=[{"id": call_id, "name": "ping"}])
            world.say("the server answers", role="tool", tool_call_id=call_id)
        context = _build(world, "server answers")
        assert _roles(context).count("tool") == 2
        assert context.dropped == []


def _is_tool(hit: Hit) -> bool:
    return isinstance(hit.record, Turn) and bool(hit.record.tool_calls or hit.record.tool_call_id)


class TestBudget:
    def test_what_does_not_fit_is_reported_best_first(self, world: SearchWorld) -> None:
        for number in range(12):
            world.say("tea " * (12 - number) + f"number {number} " + "filler words " * 10, session=f"s{number}")
        everything = _build(world, "tea")
        context = _build(world, "tea", max_tokens=everything.token_count // 2)
        assert context.truncated
        order = [hit.id for hit in everything.hits]
        assert [hit.id for hit in context.hits] == order[: len(context.hits)]
        assert [item.hit.id for item in context.dropped] == order[len(context.hits) :]
        assert {item.reason for item in context.dropped} == {BUDGET}

    @pytest.mark.parametrize("style", list(Style))
    @pytest.mark.parametrize("budget", [0, 1, 500])
    def test_a_budget_of_the_reserve_or_less_gives_an_empty_context(
        self, world: SearchWorld, style: Style, budget: int
    ) -> None:
        world.say("tea please")
        context = _build(world, "tea", max_tokens=budget, style=style, settings=None)
        assert context.formatted == ([] if style is Style.OPENAI else "")
        assert (context.token_count, context.truncated, len(context.dropped)) == (0, True, 1)

    def test_the_reserve_is_taken_off_and_the_default_is_there(self, world: SearchWorld) -> None:
        for number in range(60):
            world.memory.fact(f"tea {number} " + "and many other words about it " * 30)
        context = _build(world, "tea", "semantic", settings=None, style=Style.JINJA2)
        assert 6000 < context.token_count <= 8192 - 500
        assert context.truncated
        small = _build(world, "tea", "semantic", settings=None, style=Style.JINJA2, max_tokens=1500)
        assert 500 < small.token_count <= 1000

    def test_nothing_found_is_nothing_and_not_truncated(self, world: SearchWorld) -> None:
        context = _build(world, "tea")
        assert (context.formatted, context.token_count, context.truncated) == ([], 0, False)


class TestDuplicates:
    def test_what_a_turn_and_a_memory_both_say_is_told_once(self, world: SearchWorld) -> None:
        world.say("Maria moved to Oslo in May to join the design team")
        kept = world.memory.fact("Maria moved to Oslo in May to join the design team.")
        context = _build(world, "Maria moved Oslo", "semantic", "stm", style=Style.CLAUDE)
        (dropped,) = context.dropped
        assert (dropped.reason, dropped.duplicate_of) == (DUPLICATE, kept.record.id)
        assert not context.truncated
        assert text_of(context.formatted).count("Oslo") == 1

    def test_short_facts_that_differ_are_both_told(self, world: SearchWorld) -> None:
        world.memory.fact("likes tea")
        world.memory.fact("likes green tea")
        assert len(_build(world, "tea", "semantic").hits) == 2


class TestTelling:
    @pytest.mark.parametrize("style", list(Style))
    def test_the_same_store_and_query_give_the_same_bytes(self, world: SearchWorld, style: Style) -> None:
        for number in range(20):
            world.say(f"tea {number % 5} with milk", session=f"s{number % 3}")
            world.memory.fact(f"tea fact {number}")
        first = _build(world, "tea milk", "semantic", "stm", style=style, max_tokens=300)
        world.background.clock.advance(seconds=90)
        again = _build(world, "tea milk", "semantic", "stm", style=style, max_tokens=300)
        assert json.dumps(again.formatted) == json.dumps(first.formatted)
        assert again.dropped == first.dropped

    def test_a_time_late_in_the_day_is_told_with_its_offset(self, world: SearchWorld) -> None:
        world.background.say("tea please", at=datetime(2026, 5, 10, 23, 55, tzinfo=UTC))
        for style in Style:
            assert "2026-05-10T23:55+00:00" in text_of(_build(world, "tea", style=style).formatted)

    def test_counts_timings_strategy_and_outcomes_are_told(self, world: SearchWorld) -> None:
        world.say("tea please")
        world.memory.fact("likes tea")
        context = _build(world, "tea", "stm", "semantic", "episodic")
        assert context.memory_counts == {"stm": 1, "semantic": 1}
        assert {"embed", "search", "assemble"} <= set(context.timings)
        assert all(seconds >= 0 for seconds in context.timings.values())
        assert context.strategy == "text"
        assert [outcome.count for outcome in context.outcomes] == [1, 1, 0]

    def test_a_blank_query_is_refused(self, world: SearchWorld) -> None:
        with pytest.raises(MemoryClientError, match="empty query"):
            _build(world, "  ")
