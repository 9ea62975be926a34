"""What a model says of known memories: what each verdict does, and where it counts for nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.extraction.items import ExtractedItem
from memoranda.engine.extraction.reconcile import Reconciler
from memoranda.engine.extraction.verdicts import standing_verdicts
from memoranda.engine.records import MemoryRecord, MemoryStatus
from tests.engine.background_world import World
from tests.engine.extraction.model_world import Asked, ScriptedModel, contents, fact, open_model_world, reply

JAN, MAR, MAY, JUL = (datetime(2024, month, 1, tzinfo=UTC) for month in (1, 3, 5, 7))
Interval = tuple[str, datetime, datetime | None]


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def world(tmp_path: Path, model: ScriptedModel) -> Iterator[World]:
    with open_model_world(tmp_path / "verdicts.db", model) as opened:
        yield opened


class Teller:
    """Tells one fact a session, with verdicts on known memories that are named by their text."""

    def __init__(self, world: World, model: ScriptedModel) -> None:
        self.world = world
        self.model = model
        self.sessions = itertools.count()

    def tell(self, text: str, at: datetime, *, user: str = "ann", label: str | None = None, **verdicts: str) -> None:
        def script(asked: Asked) -> object:
            numbers = {name: [asked.memory(known)] for name, known in verdicts.items()}
            return reply(semantic=[fact(text, 1, label=label, **numbers)])

        self.model.script = script
        # The words of what it speaks of, so that it is found; the model alone knows what they mean.
        self.world.learn(" ".join((text, *verdicts.values())), at=at, user=user, session=f"s{next(self.sessions)}")
        assert self.world.background.failures() == []


@pytest.fixture
def teller(world: World, model: ScriptedModel) -> Teller:
    return Teller(world, model)


def intervals(records: Sequence[MemoryRecord]) -> list[Interval]:
    return [(record.content, record.valid_from, record.valid_to) for record in records]


def relations(world: World) -> list[tuple[str, str, str]]:
    """Return every link as (content, relation, content)."""
    records = {record.id: record.content for record in world.memories()}
    with world.read() as tx:
        links = tx.links.of(sorted(records))
    return sorted((records[link.source_id], link.relation, records[link.target_id]) for link in links)


def test_superseding_ends_what_was_and_links_to_it(world: World, teller: Teller) -> None:
    teller.tell("Lives in Oslo", JAN)
    teller.tell("Lives in Rome", MAR, supersedes="Lives in Oslo")
    assert intervals(world.memories()) == [("Lives in Oslo", JAN, MAR), ("Lives in Rome", MAR, None)]
    assert relations(world) == [("Lives in Rome", "supersedes", "Lives in Oslo")]


def test_there_and_back_by_verdicts_is_three_intervals(world: World, teller: Teller) -> None:
    teller.tell("Lives in Oslo", JAN)
    teller.tell("Lives in Rome", MAR, supersedes="Lives in Oslo")
    teller.tell("Lives in Oslo", MAY, supersedes="Lives in Rome")
    assert intervals(world.memories()) == [
        ("Lives in Oslo", JAN, MAR),
        ("Lives in Rome", MAR, MAY),
        ("Lives in Oslo", MAY, None),
    ]


def test_what_is_told_late_is_placed_by_its_time_and_not_by_its_arrival(world: World, teller: Teller) -> None:
    teller.tell("Lives in Oslo", JAN)
    teller.tell("Lives in Lima", JUL, supersedes="Lives in Oslo")
    teller.tell("Lives in Rome", MAR, supersedes="Lives in Lima")
    assert intervals(world.memories()) == [
        ("Lives in Oslo", JAN, MAR),
        ("Lives in Rome", MAR, JUL),
        ("Lives in Lima", JUL, None),
    ]
    assert contents(world) == ["Lives in Lima"]


def test_there_and_back_told_out_of_order_is_three_intervals(world: World, teller: Teller) -> None:
    teller.tell("Lives in Oslo", JAN)
    teller.tell("Resides in Oslo", MAY, repeats="Lives in Oslo")
    teller.tell("Lives in Rome", MAR, supersedes="Lives in Oslo")
    assert intervals(world.memories()) == [
        ("Lives in Oslo", JAN, MAR),
        ("Lives in Rome", MAR, MAY),
        ("Lives in Oslo", MAY, None),
    ]


def test_label_and_verdict_agree_or_both_are_served(world: World, teller: Teller) -> None:
    teller.tell("Lives in Oslo", JAN, label="home")
    teller.tell("Rents a flat in Oslo", JAN)
    teller.tell("Lives in Rome", MAR, label="home", supersedes="Rents a flat in Oslo")
    assert contents(world) == ["Lives in Rome"]
    assert relations(world) == [
        ("Lives in Rome", "supersedes", "Lives in Oslo"),
        ("Lives in Rome", "supersedes", "Rents a flat in Oslo"),
    ]


def test_fact_of_another_label_that_took_over_is_not_undone_by_older_news(world: World, teller: Teller) -> None:
    teller.tell("Lives in Oslo", JAN, label="home")
    teller.tell("Lives in Lima", JUL, label="residence", supersedes="Lives in Oslo")
    teller.tell("Lives in Rome", MAR, label="home")
    assert intervals(world.memories()) == [
        ("Lives in Oslo", JAN, MAR),
        ("Lives in Rome", MAR, JUL),
        ("Lives in Lima", JUL, None),
    ]


def test_same_fact_in_other_words_from_six_sessions_is_one_memory(world: World, teller: Teller) -> None:
    teller.tell("Works at DGIA", JAN)
    for number, words in enumerate(("Has a job at DGIA", "DGIA employs her", "Works for DGIA", "At DGIA", "DGIA!"), 1):
        teller.tell(words, JAN + timedelta(days=number), repeats="Works at DGIA")
    [record] = world.memories()
    assert (record.content, record.occurrences, record.valid_from) == ("Works at DGIA", 6, JAN)
    with world.read() as tx:
        assert len(tx.sources.turns_of(record.id)) == 6
        assert len(tx.sources.snapshots_of(record.id)) == 6


def test_repeat_about_an_earlier_time_lets_the_memory_begin_then(world: World, teller: Teller) -> None:
    teller.tell("Lives in Oslo", JAN)
    teller.tell("Lives in Rome", MAY, supersedes="Lives in Oslo")
    teller.tell("Had moved to Rome already", MAR, repeats="Lives in Rome")
    assert intervals(world.memories()) == [("Lives in Oslo", JAN, MAR), ("Lives in Rome", MAR, None)]
    assert world.current()[0].occurrences == 2


def test_refining_keeps_the_more_precise_one(world: World, teller: Teller) -> None:
    teller.tell("Has a dog", JAN)
    teller.tell("Has a beagle named Rex", MAR, refines="Has a dog")
    assert intervals(world.memories()) == [("Has a dog", JAN, MAR), ("Has a beagle named Rex", MAR, None)]
    assert relations(world) == [("Has a beagle named Rex", "refines", "Has a dog")]


def test_contradiction_is_linked_and_both_stay(world: World, teller: Teller) -> None:
    teller.tell("Is allergic to nuts", JAN)
    teller.tell("Eats nuts every day", MAR, contradicts="Is allergic to nuts")
    assert contents(world) == ["Eats nuts every day", "Is allergic to nuts"]
    assert relations(world) == [("Eats nuts every day", "contradicts", "Is allergic to nuts")]


def test_contradiction_under_one_label_leaves_both(world: World, teller: Teller) -> None:
    teller.tell("Is allergic to nuts", JAN, label="allergy")
    teller.tell("Has no allergies", MAR, label="allergy", contradicts="Is allergic to nuts")
    assert contents(world) == ["Has no allergies", "Is allergic to nuts"]
    teller.tell("Is allergic to cats", MAY, label="allergy")
    assert contents(world) == ["Has no allergies", "Is allergic to cats"]


def test_several_can_be_superseded_by_one(world: World, teller: Teller, model: ScriptedModel) -> None:
    teller.tell("Lives in Oslo", JAN)
    teller.tell("Works in Oslo", MAR)
    model.script = lambda asked: reply(semantic=[fact("Left Oslo for good", 1, supersedes=[*asked.memories])])
    world.learn("I left Oslo: lives, works", at=MAY, session="z")
    assert intervals(world.memories()) == [
        ("Lives in Oslo", JAN, MAY),
        ("Works in Oslo", MAR, MAY),
        ("Left Oslo for good", MAY, None),
    ]


def test_old_news_ends_only_what_is_older(world: World, teller: Teller, model: ScriptedModel) -> None:
    teller.tell("Works in Rome", JUL)
    teller.tell("Lives in Oslo", JAN)
    model.script = lambda asked: reply(semantic=[fact("Likes Oslo", 1, supersedes=[asked.memory("Lives in Oslo")])])
    world.learn("Lives in Oslo, works in Rome", at=MAR, session="z")
    assert contents(world) == ["Likes Oslo", "Works in Rome"]


def test_old_news_under_a_label_ends_what_is_older_and_nothing_newer(world: World, teller: Teller) -> None:
    teller.tell("Lives in Oslo", JAN, label="home")
    teller.tell("Works in Rome", JUL)
    teller.tell("Lives in Bonn", MAR, label="home", supersedes="Works in Rome")
    assert contents(world) == ["Lives in Bonn", "Works in Rome"]


def test_what_is_over_by_now_still_ended_what_it_superseded(world: World, teller: Teller) -> None:
    teller.tell("Rents a flat in Oslo", JAN)
    teller.tell("Lives in Lima", JUL, label="home")
    teller.tell("Lives in Rome", MAR, label="home", supersedes="Rents a flat in Oslo")
    assert intervals(world.memories()) == [
        ("Rents a flat in Oslo", JAN, MAR),
        ("Lives in Rome", MAR, JUL),
        ("Lives in Lima", JUL, None),
    ]


def test_what_is_over_by_now_refines_nothing(world: World, teller: Teller) -> None:
    teller.tell("Has a home abroad", JAN)
    teller.tell("Lives in Lima", JUL, label="home")
    teller.tell("Lives in Rome", MAR, label="home", refines="Has a home abroad")
    assert contents(world) == ["Has a home abroad", "Lives in Lima"]


# --- where a verdict counts for nothing


def while_asking(world: World, model: ScriptedModel, change: object, **verdicts: str) -> None:
    """Let something happen between the question and the commit."""

    def script(asked: Asked) -> object:
        numbers = {name: [asked.memory(known)] for name, known in verdicts.items()}
        change()  # type: ignore[operator]
        return reply(semantic=[fact("Lives in Rome", 1, **numbers)])

    model.script = script
    world.learn("Lives in Oslo or in Rome", at=MAR, session="late")
    assert world.background.failures() == []


@pytest.mark.parametrize("verdict", ["supersedes", "refines", "repeats", "contradicts"])
def test_memory_that_is_gone_by_then_leaves_the_item_to_the_rules(
    world: World, teller: Teller, model: ScriptedModel, verdict: str
) -> None:
    teller.tell("Lives in Oslo", JAN)
    [oslo] = world.memories()

    def delete() -> None:
        with world.write() as tx:
            world.writer.delete(tx, [oslo.id])

    while_asking(world, model, delete, **{verdict: "Lives in Oslo"})
    assert intervals(world.memories()) == [("Lives in Rome", MAR, None)]
    assert relations(world) == []


@pytest.mark.parametrize("verdict", ["supersedes", "refines", "repeats", "contradicts"])
def test_memory_that_was_superseded_meanwhile_leaves_the_item_to_the_rules(
    world: World, teller: Teller, model: ScriptedModel, verdict: str
) -> None:
    teller.tell("Lives in Oslo", JAN)
    [oslo] = world.memories()

    def supersede() -> None:
        with world.write() as tx:
            draft = MemoryDraft("semantic", "Lives in Bonn", user_id="ann", event_time=JAN + timedelta(days=9))
            world.writer.supersede(tx, oslo, draft)

    while_asking(world, model, supersede, **{verdict: "Lives in Oslo"})
    assert contents(world) == ["Lives in Bonn", "Lives in Rome"]
    assert relations(world) == [("Lives in Bonn", "supersedes", "Lives in Oslo")]
    assert world.memories(MemoryStatus.SUPERSEDED)[0].occurrences == 1


@pytest.mark.parametrize("verdict", ["supersedes", "refines", "repeats", "contradicts"])
def test_memory_of_another_user_is_out_of_reach(world: World, teller: Teller, verdict: str) -> None:
    """Whatever id an extractor names, it reaches nobody else's memory."""
    teller.tell("Lives in Oslo", JAN, user="bob")
    teller.tell("Lives in Bonn", JAN)
    [bobs] = world.memories(user="bob")
    [anns] = world.memories()
    draft = MemoryDraft("semantic", "Lives in Rome", user_id="ann", event_time=MAR)
    item = ExtractedItem("semantic", draft.content, **{verdict: (bobs.id, anns.id)})  # type: ignore[arg-type]
    with world.write() as tx:
        standing = standing_verdicts(tx, item, draft, world.clock.now())
        Reconciler(world.writer, world.analyser, world.clock).reconcile(tx, item, draft)
    assert getattr(standing, verdict) == (anns,)
    assert world.memories(user="bob") == [bobs]
    with world.read() as tx:
        assert list(tx.links.of([bobs.id])) == []


def test_private_talk_does_not_retire_what_others_see(world: World, model: ScriptedModel) -> None:
    shared = MemoryDraft("semantic", "The office is in Oslo", user_id="ann", visibility="org", event_time=JAN)
    with world.write() as tx:
        world.writer.save(tx, shared)
    model.script = lambda asked: reply(
        semantic=[fact("The office is in Rome", 1, supersedes=[asked.memory("The office is in Oslo")])]
    )
    world.learn("The office moved from Oslo to Rome", at=MAR)
    assert contents(world) == ["The office is in Oslo", "The office is in Rome"]


def test_verdict_on_another_kind_does_not_retire_it(world: World, teller: Teller, model: ScriptedModel) -> None:
    teller.tell("Lives in Oslo", JAN)
    model.script = lambda asked: reply(
        episodic=[{"text": "Moved to Rome", "turns": [1], "supersedes": [1], "contradicts": [1]}]
    )
    world.learn("Moved from where she lives, Oslo, to Rome", at=MAR, session="z")
    assert contents(world) == ["Lives in Oslo", "Moved to Rome"]
    assert relations(world) == [("Moved to Rome", "contradicts", "Lives in Oslo")]


def test_two_items_that_supersede_one_memory_are_both_kept(world: World, teller: Teller, model: ScriptedModel) -> None:
    teller.tell("Lives in Oslo with Bob", JAN)
    model.script = lambda asked: reply(
        semantic=[fact("Lives in Rome", 1, supersedes=[1]), fact("Lives alone", 1, supersedes=[1])]
    )
    world.learn("Left Oslo and Bob", at=MAR, session="z")
    assert contents(world) == ["Lives alone", "Lives in Rome"]
