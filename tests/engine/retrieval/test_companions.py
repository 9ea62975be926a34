"""Tool exchanges: what belongs together, and what a search may bring in for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from memoranda.engine.filters import Comparison, Operator, ValueType
from memoranda.engine.records import Turn
from memoranda.engine.retrieval.companions import exchange_of, is_tool_turn
from memoranda.engine.retrieval.plan import SourcePlan
from memoranda.engine.rows import Narrowing
from memoranda.engine.scope import Scope
from tests.engine.context.builders import turn
from tests.engine.retrieval.world import SearchWorld

_CALL = {"id": "c1", "name": "lookup"}


def _numbers(exchange: Sequence[Turn]) -> list[int]:
    return [member.turn_seq for member in exchange]


def test_a_call_and_all_its_results_are_one_exchange_from_either_end() -> None:
    session = [
        turn(1, "question"),
        turn(2, None, role="assistant", calls=[{"id": "a"}, {"id": "b"}]),
        turn(3, "one", role="tool", result_of="b"),
        turn(4, "meanwhile"),
        turn(5, "two", role="tool", result_of="a"),
        turn(6, "three", role="tool", result_of="z"),
    ]
    for member in (session[1], session[2], session[4]):
        assert _numbers(exchange_of(member, session)) == [2, 3, 5]
    assert _numbers(exchange_of(session[5], session)) == [6]
    assert [is_tool_turn(each) for each in session] == [False, True, True, False, True, True]


def test_an_id_that_is_used_again_belongs_to_the_nearest_call_before() -> None:
    session = [
        turn(1, None, role="assistant", calls=[_CALL]),
        turn(2, "first", role="tool", result_of="c1"),
        turn(3, None, role="assistant", calls=[_CALL]),
        turn(4, "second", role="tool", result_of="c1"),
    ]
    assert _numbers(exchange_of(session[0], session)) == [1, 2]
    assert _numbers(exchange_of(session[3], session)) == [3, 4]


def _pairs(companions: Mapping[str, tuple[Turn, ...]]) -> set[tuple[str, ...]]:
    return {tuple(member.role for member in exchange) for exchange in companions.values()}


def test_a_found_result_brings_its_call_and_nothing_for_other_turns(text_world: SearchWorld) -> None:
    text_world.say(None, role="assistant", tool_calls=[_CALL])
    text_world.say("the tide is high", role="tool", tool_call_id="c1")
    text_world.say("thanks")
    assert _pairs(text_world.search("tide", "stm", companions=True).companions) == {("assistant", "tool")}
    assert text_world.search("tide", "stm").companions == {}


def test_an_expired_call_or_one_outside_the_scope_or_filter_is_not_brought_in(text_world: SearchWorld) -> None:
    text_world.say(None, role="assistant", tool_calls=[_CALL], ttl_days=1)
    text_world.say("the tide is high", role="tool", tool_call_id="c1", metadata={"tier": "gold"})
    gold = Narrowing(where=Comparison("tier", ValueType.STRING, Operator.EQUALS, "gold"))
    filtered = text_world.search("tide", SourcePlan("stm", narrowing=gold), companions=True)
    assert _pairs(filtered.companions) == {("tool",)}
    elsewhere = SourcePlan("stm", scope=Scope(user_id="ann", agent_id="helper"))
    assert _pairs(text_world.search("tide", elsewhere, companions=True).companions) == {("assistant", "tool")}
    text_world.background.clock.advance(timedelta(days=2))
    assert _pairs(text_world.search("tide", "stm", companions=True).companions) == {("tool",)}
