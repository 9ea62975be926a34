"""Facts that change: what held when follows from when it was said, in whatever order it was heard."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.sdk.memory import Memory
from memoranda.testing.clock import DEFAULT_START, ManualClock
from memoranda.testing.extractors import ScriptedExtractor
from memoranda.testing.memory_suite.base import MemoryRules, OpenMemory, user

CITIES = ("Lives in Oslo", "Lives in Bergen", "Lives in Tromsø")
DAYS = 12

# On which day what was said, in the order in which it is heard; at most one statement a day.
hearings = st.permutations(range(DAYS)).flatmap(
    lambda days: st.lists(st.sampled_from(CITIES), min_size=1, max_size=6).map(
        lambda said: list(zip(days, said, strict=False))
    )
)


def labelled(turns: Sequence[SourceTurn]) -> list[ExtractedItem]:
    """Take every turn for the one fact that has a name."""
    return [
        ExtractedItem(
            "semantic",
            turn.content,
            record_type="fact",
            label="home",
            event_time=turn.event_time,
            turn_ids=(turn.turn_id,),
        )
        for turn in turns
    ]


def held_on(said: Sequence[tuple[int, str]], day: int) -> list[str]:
    """Return what held on a day: what was said last until then."""
    until = sorted((when, what) for when, what in said if when <= day)
    return [until[-1][1]] if until else []


class TimelineRules(MemoryRules):
    """Supersession by event time."""

    @pytest.fixture
    def extractor(self) -> ScriptedExtractor:
        return ScriptedExtractor(labelled)

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock(DEFAULT_START + timedelta(days=100))

    @settings(
        max_examples=40,
        deadline=None,
        # The rules of a suite are run by a class for each front door and store.
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.too_slow,
            HealthCheck.differing_executors,
        ],
    )
    @given(said=hearings, at_once=st.booleans())
    def test_what_held_when_follows_from_event_times(
        self, open_memory: OpenMemory, options: dict[str, Any], said: list[tuple[int, str]], at_once: bool
    ) -> None:
        with open_memory(**options) as memory:
            alice = user(memory, f"alice {said} {at_once}")
            for day, what in said:
                alice.record_turn(role="user", content=what, timestamp=DEFAULT_START + timedelta(days=day))
                if not at_once:
                    memory.wait_until_idle()
            memory.wait_until_idle()
            self._check(alice, said)

    def _check(self, alice: Memory, said: list[tuple[int, str]]) -> None:
        last = held_on(said, DAYS)
        for day in range(-1, DAYS):
            moment = DEFAULT_START + timedelta(days=day, hours=1)
            listed = [item.content for item in alice.list_memories(as_of=moment).items]
            named = alice.get_semantic("home", as_of=moment)
            assert listed == held_on(said, day), day
            assert ([named["content"]] if named else []) == held_on(said, day), day
        assert [item.content for item in alice.list_memories().items] == last
        assert [chunk.content for chunk in alice.search_semantic("lives", mode="text")] == last
        every = {chunk.content for chunk in alice.search_semantic("lives", mode="text", include_superseded=True)}
        assert every == {what for _, what in said}

    def test_deleting_what_superseded_does_not_bring_back_the_old(self, memory: Memory, alice: Memory) -> None:
        for day, what in enumerate(CITIES[:2]):
            alice.record_turn(role="user", content=what, timestamp=DEFAULT_START + timedelta(days=day))
            memory.wait_until_idle()
        (current,) = alice.list_memories().items
        alice.delete_memory(current.id)
        assert alice.list_memories().items == []
        (old,) = alice.list_memories(include_superseded=True).items
        assert (old.content, old.status) == (CITIES[0], "superseded")

    def test_history_tells_the_whole_story(self, memory: Memory, alice: Memory) -> None:
        for day, what in enumerate(CITIES):
            alice.record_turn(role="user", content=what, timestamp=DEFAULT_START + timedelta(days=day))
            memory.wait_until_idle()
        (current,) = alice.list_memories().items
        assert [state.content for state in alice.history(current.id)] == list(CITIES)
        old = [item for item in alice.list_memories(include_superseded=True).items if item.status == "superseded"]
        assert all(item.superseded_by for item in old)
