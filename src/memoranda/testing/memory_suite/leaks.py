"""Nothing of one user's private memory ever reaches another, whatever the two are called."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.sdk.errors import MemoryNotFoundError
from memoranda.sdk.memory import Memory
from memoranda.testing.clock import ManualClock
from memoranda.testing.memory_suite.base import NOTE, MemoryRules, OpenMemory, user
from memoranda.testing.memory_suite.reading import everything

NAMES = ("tea", "Tea")
_TIMING = re.compile(r"timing=\{.*?\}")
QUERY = "green tea with milk"

# A name, and what a careless comparison takes for it.
BASES = ("john-doe", "jöhn", "ali", "a", "用户", "o'neil", "x%y", "user/1")


def _confusable(base: str) -> list[str]:
    changed = [
        base.upper(),
        base.title(),
        base.replace("-", "_"),
        base.replace("-", " "),
        base.replace("-", "%"),
        f" {base}",
        f"{base} ",
        f"{base}\t",
        f"{base}%",
        f"{base}*",
        f"{base}/",
        f"{base}\u0000",
        f"{base}\u200b",
        base.replace("ö", "o\u0308"),
        base.replace("ö", "o"),
        f"{base}' OR '1'='1",
        f"{base}_",
        base[:-1] + "_",
        base + base,
    ]
    return [name for name in dict.fromkeys(changed) if name != base and name.strip() and "\0" not in name]


pairs = st.sampled_from(BASES).flatmap(
    lambda base: st.lists(st.sampled_from(_confusable(base)), min_size=1, max_size=2, unique=True).map(
        lambda others: (base, *others)
    )
)


@dataclass(slots=True)
class Owned:
    """What one user wrote: the mark in every private text of theirs, and the ids."""

    mark: str
    ids: list[str] = field(default_factory=list)


def write_all(handle: Memory, mark: str) -> Owned:
    """Write one private record of every sort, each with the mark in it, under names that every user uses."""
    owned, text = Owned(mark), f"green tea with milk {mark}"
    owned.ids += [handle.record_turn(role="user", content=text, metadata={"tag": mark}).id for _ in range(2)]
    for name in NAMES:
        first = handle.save_semantic(text=f"{text} before", label=name, metadata={"tag": mark})
        handle.save_semantic(text=text, label=name)
        owned.ids += [
            first.id,
            handle.save_episode(title=name, content=text, participants=[mark], tags=["red"]).id,
            handle.save_taxonomic(
                domain=name, term=name, definition=text, related_terms=[mark], visibility="private"
            ).id,
            handle.save_procedure(procedure=name, description=mark, content=text, tags=["red"]).id,
            handle.save(NOTE, text, tags={"place": "here"}, contextual_metadata={"mark": mark}).id,
            handle.save(NOTE, text, namespace=name, key=name).id,
        ]
    return owned


class LeakRules(MemoryRules):
    """Every read of every user, against who wrote what."""

    @settings(
        max_examples=12,
        deadline=None,
        # The rules of a suite are run by a class for each front door and store.
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.too_slow,
            HealthCheck.differing_executors,
        ],
    )
    @given(names=pairs)
    def test_no_read_shows_what_is_anothers(
        self, open_memory: OpenMemory, options: dict[str, Any], names: tuple[str, ...]
    ) -> None:
        project = "project of " + "|".join(names).encode("unicode_escape").decode()[:150]
        with open_memory(**{**options, "project_id": project}) as memory:
            owners = {name: write_all(user(memory, name), f"mark{number}x") for number, name in enumerate(names)}
            memory.wait_until_idle(promote=False)
            ids = tuple(record_id for owned in owners.values() for record_id in owned.ids)
            for name, owned in owners.items():
                shown = everything(user(memory, name), QUERY, NAMES, ids)
                others = [other.mark for other in owners.values() if other is not owned]
                for read, outcome in shown.items():
                    assert not [mark for mark in others if mark in outcome], (read, name)
                assert all(owned.mark in shown[read] for read in _found_by_all(shown)), name

    @pytest.fixture
    def owners(self, memory: Memory) -> dict[str, Owned]:
        names = ("alice", "Alice", "alice ", "al_ce")
        found = {name: write_all(user(memory, name), f"mark{number}x") for number, name in enumerate(names)}
        memory.wait_until_idle(promote=False)
        return found

    def test_no_change_by_id_reaches_anothers_record(self, memory: Memory, owners: dict[str, Owned]) -> None:
        for (_, owned), (name, _) in permutations(owners.items(), 2):
            thief = user(memory, name)
            for record_id in owned.ids:
                with pytest.raises(MemoryNotFoundError):
                    thief.update_memory(record_id, content="stolen")
                with pytest.raises(MemoryNotFoundError):
                    thief.delete_memory(record_id)
                with pytest.raises(MemoryNotFoundError):
                    thief.delete_turn(record_id)
        for name, owned in owners.items():
            assert user(memory, name).list_turns(limit=1000).items
            assert "stolen" not in repr(everything(user(memory, name), QUERY, NAMES, tuple(owned.ids)))

    def test_deleting_a_user_leaves_all_others_as_they_were(self, memory: Memory, owners: dict[str, Owned]) -> None:
        before = {name: self._all_of(memory, name, owned) for name, owned in owners.items()}
        report = memory.delete_user("alice")
        assert (report.turns, report.memories) == (2, len(owners["alice"].ids) - 2)
        memory.wait_until_idle(promote=False)
        after = {name: self._all_of(memory, name, owned) for name, owned in owners.items()}
        assert {name for name in owners if after[name] != before[name]} == {"alice"}
        assert not [read for read, outcome in after["alice"].items() if owners["alice"].mark in outcome]

    def test_deleting_a_session_leaves_that_of_others(self, memory: Memory, owners: dict[str, Owned]) -> None:
        memory.delete_session("s1", user_id="alice")
        turns = {name: len(user(memory, name).list_turns("s1").items) for name in owners}
        assert turns == {name: 0 if name == "alice" else 2 for name in owners}

    def test_a_user_may_come_back_after_deletion(self, memory: Memory, owners: dict[str, Owned]) -> None:
        memory.delete_user("alice")
        again = user(memory, "alice")
        assert again.record_turn(role="user", content="green tea, new").turn_seq == 1
        again.save_semantic(text="green tea, new", label="tea")
        assert [turn.content for turn in again.list_turns().items] == ["green tea, new"]
        assert [chunk.content for chunk in again.search_semantic("tea", mode="text")] == ["green tea, new"]

    def test_statistics_of_others_do_not_show_in_scores(self, memory: Memory, owners: dict[str, Owned]) -> None:
        before = user(memory, "alice").search_semantic("tea milk", mode="text", explain=True)
        for number in range(30):
            user(memory, "Alice").save_semantic(text=f"tea tea tea {number}", label=f"more {number}")
        assert user(memory, "alice").search_semantic("tea milk", mode="text", explain=True) == before

    def test_an_expired_private_record_shows_to_nobody(self, memory: Memory, clock: ManualClock) -> None:
        secret = user(memory, "alice").save_semantic(text="tea marked-secret", label="tea", ttl_days=1)
        clock.advance(timedelta(days=2))
        for name in ("alice", "bob"):
            shown = everything(user(memory, name), QUERY, NAMES, (secret.id,))
            assert not [read for read, outcome in shown.items() if "marked-secret" in outcome]

    def _all_of(self, memory: Memory, name: str, owned: Owned) -> dict[str, str]:
        shown = everything(user(memory, name), QUERY, NAMES, tuple(owned.ids))
        return {read: _TIMING.sub("", outcome) for read, outcome in shown.items()}


def _found_by_all(shown: dict[str, str]) -> list[str]:
    """Return the reads that show a user their own: without them the test would prove nothing."""
    always = ("search", "retrieve", "discover", "list_", "build_context", "get_semantic", "get_procedure")
    return [read for read in shown if read.startswith(always)]
