"""What is extracted is settled by event time: repeats, supersession with intervals, additions."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.engine.records import IndexState, MemoryRecord, MemoryStatus
from tests.engine.background_world import World, one_fact_per_turn

JAN, MAR, MAY, JUL = (datetime(2024, month, 1, tzinfo=UTC) for month in (1, 3, 5, 7))


@pytest.fixture(autouse=True)
def facts_in_turns(world: World) -> None:
    world.extractor.script = one_fact_per_turn


def intervals(records: Sequence[MemoryRecord]) -> list[tuple[str, datetime, datetime | None]]:
    return [(record.content, record.valid_from, record.valid_to) for record in records]


def test_same_sentence_in_six_sessions_is_one_memory_with_six_occurrences(world: World) -> None:
    for number in range(5):
        world.learn("Works at DGIA", session=f"s{number}")
    world.learn("works at  DGIA.", session="s6")
    [record] = world.memories()
    assert (record.content, record.occurrences) == ("Works at DGIA", 6)
    with world.read() as tx:
        assert len(tx.sources.turns_of(record.id)) == 6
        assert len(tx.sources.snapshots_of(record.id)) == 6


@pytest.mark.parametrize("text", ["我喜欢喝榛子拿铁", "서울에서 김치를 먹었다", "It is what it is", "C++ > C"])
def test_repeats_are_recognised_in_any_script(world: World, text: str) -> None:
    world.learn(text)
    world.learn(text)
    assert [record.occurrences for record in world.memories()] == [2]


@pytest.mark.parametrize("other", ["Works at DGIA now", "Works at DGIB", "Never works at DGIA"])
def test_nearly_the_same_sentence_is_another_memory(world: World, other: str) -> None:
    world.learn("Works at DGIA")
    world.learn(other)
    assert [record.occurrences for record in world.memories()] == [1, 1]


def test_repeats_of_another_user_are_theirs(world: World) -> None:
    world.learn("Works at DGIA", user="ann")
    world.learn("Works at DGIA", user="Ann")
    assert [record.occurrences for user in ("ann", "Ann") for record in world.memories(user=user)] == [1, 1]


def test_same_event_on_two_days_is_two_episodes_and_on_one_day_one(world: World) -> None:
    def episodes(turns: Sequence[SourceTurn]) -> list[ExtractedItem]:
        return [ExtractedItem(kind="episodic", content=turn.content, turn_ids=(turn.turn_id,)) for turn in turns]

    world.extractor.script = episodes
    for moment in (JAN, JAN + timedelta(hours=3), MAR):
        world.learn("Went running", at=moment)
    assert [(record.event_time, record.occurrences) for record in world.memories()] == [(JAN, 2), (MAR, 1)]


@pytest.mark.parametrize("order", list(itertools.permutations(((JAN, "Oslo"), (MAR, "Rome"), (MAY, "Oslo")))))
def test_there_and_back_is_three_intervals_in_every_order_of_arrival(
    world: World, order: Sequence[tuple[datetime, str]]
) -> None:
    for number, (moment, city) in enumerate(order):
        world.learn(f"home: Lives in {city}", at=moment, session=f"s{number}")
    records = world.memories()
    assert intervals(records) == [
        ("Lives in Oslo", JAN, MAR),
        ("Lives in Rome", MAR, MAY),
        ("Lives in Oslo", MAY, None),
    ]
    assert [record.status for record in records] == [
        MemoryStatus.SUPERSEDED,
        MemoryStatus.SUPERSEDED,
        MemoryStatus.CURRENT,
    ]


@pytest.mark.parametrize(
    "order", list(itertools.permutations(((JAN, "Oslo"), (MAR, "Rome"), (MAY, "Bonn"), (JUL, "Lima"))))
)
def test_moves_are_told_in_any_order_and_form_one_history(world: World, order: Sequence[tuple[datetime, str]]) -> None:
    for number, (moment, city) in enumerate(order):
        world.learn(f"home: Lives in {city}", at=moment, session=f"s{number}")
    records = world.memories()
    assert intervals(records) == [
        ("Lives in Oslo", JAN, MAR),
        ("Lives in Rome", MAR, MAY),
        ("Lives in Bonn", MAY, JUL),
        ("Lives in Lima", JUL, None),
    ]
    with world.read() as tx:
        links = tx.links.of([record.id for record in records])
        states = [row.state for row in tx.search.documents([record.key for record in records])]
    follows = {(link.source_id, link.target_id) for link in links if link.relation == "supersedes"}
    assert follows >= {(after.id, before.id) for before, after in itertools.pairwise(records)}
    assert states.count(IndexState.CURRENT) == 1


def test_fact_stated_earlier_than_known_holds_since_then(world: World) -> None:
    world.learn("home: Lives in Oslo", at=JAN, session="a")
    world.learn("home: Lives in Rome", at=MAY, session="b")
    world.learn("home: Lives in Rome", at=MAR, session="c")
    records = world.memories()
    assert intervals(records) == [("Lives in Oslo", JAN, MAR), ("Lives in Rome", MAR, None)]
    assert records[-1].occurrences == 2


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(st.sampled_from(["Oslo", "Rome", "Bonn"]), min_size=1, max_size=7), data=st.data())
def test_history_depends_on_when_things_were_so_and_not_on_when_they_were_said(
    world: World, said: list[str], data: st.DataObject
) -> None:
    user = uuid.uuid4().hex
    told = data.draw(st.permutations([(JAN + timedelta(days=day), city) for day, city in enumerate(said)]))
    for number, (moment, city) in enumerate(told):
        world.learn(f"home: Lives in {city}", at=moment, session=f"s{number}", user=user)
    starts = [(day, city) for day, city in enumerate(said) if day == 0 or said[day - 1] != city]
    ends = [JAN + timedelta(days=day) for day, _ in starts[1:]]
    expected = [
        (f"Lives in {city}", JAN + timedelta(days=day), end)
        for (day, city), end in zip(starts, [*ends, None], strict=True)
    ]
    assert intervals(world.memories(user=user)) == expected
    assert [record.content for record in world.current(user=user)] == [f"Lives in {said[-1]}"]


def test_label_belongs_to_its_user_and_bytes(world: World) -> None:
    world.learn("home: Lives in Oslo", user="ann")
    world.learn("home: Lives in Rome", user="bob")
    world.learn("Home: Lives in Bonn", user="ann")
    assert len(world.current()) == 2
    assert len(world.current(user="bob")) == 1


def direct(world: World, content: str, at: datetime) -> MemoryRecord:
    draft = MemoryDraft(kind="semantic", content=content, user_id="ann", name="home", event_time=at, upsert=True)
    with world.write() as tx:
        return world.writer.save(tx, draft).record


def test_direct_save_is_superseded_by_newer_speech(world: World) -> None:
    saved = direct(world, "Lives in Oslo", JAN)
    world.learn("home: Lives in Rome", at=MAR)
    assert intervals(world.memories()) == [("Lives in Oslo", JAN, MAR), ("Lives in Rome", MAR, None)]
    assert world.memories()[0].id == saved.id


@pytest.mark.parametrize("moment", [JAN, MAR])
def test_direct_save_is_not_replaced_by_speech_of_then_or_before(world: World, moment: datetime) -> None:
    direct(world, "Lives in Oslo", MAR)
    world.learn("home: Lives in Rome", at=moment)
    [current] = world.current()
    assert current.content == "Lives in Oslo"
    assert ("Lives in Rome", moment, MAR) in intervals(world.memories())


def test_extracted_record_is_private_to_its_user_and_says_where_it_is_from(world: World) -> None:
    [turn] = world.say("home: Lives in Oslo")
    world.drain()
    [record], [snapshot] = world.memories(), world.snapshots()
    assert (record.visibility, record.user_id, record.session_id, record.agent_id) == ("private", "ann", "", "helper")
    assert record.origin == "extracted"
    assert dict(record.provenance) == {"extractor": "scripted/1", "snapshot_id": snapshot.id}
    with world.read() as tx:
        assert list(tx.sources.turns_of(record.id)) == [turn.id]


def test_what_nobody_owns_is_visible_in_the_project(world: World) -> None:
    world.learn("The office is in Oslo", user="")
    assert [record.visibility for record in world.memories(user="")] == ["org"]


def test_extractor_names_what_it_supersedes_and_repeats(world: World) -> None:
    world.learn("Lives in Oslo", at=JAN)
    [oslo] = world.memories()

    def moved(turns: Sequence[SourceTurn]) -> list[ExtractedItem]:
        return [ExtractedItem(kind="semantic", content=turns[0].content, supersedes=(oslo.id,))]

    def repeated(turns: Sequence[SourceTurn]) -> list[ExtractedItem]:
        return [ExtractedItem(kind="semantic", content=turns[0].content, repeats=(rome.id,))]

    world.extractor.script = moved
    world.learn("Has moved to Rome", at=MAR)
    assert intervals(world.memories()) == [("Lives in Oslo", JAN, MAR), ("Has moved to Rome", MAR, None)]
    [rome] = world.current()
    world.extractor.script = repeated
    world.learn("Is a Roman now", at=MAY)
    assert [record.occurrences for record in world.current()] == [2]


def test_extractor_cannot_refer_to_memories_of_another_user(world: World) -> None:
    world.learn("Lives in Oslo", user="bob")
    [bobs] = world.memories(user="bob")
    world.extractor.script = lambda turns: [
        ExtractedItem(kind="semantic", content="Lives in Rome", supersedes=(bobs.id,), repeats=(bobs.id,))
    ]
    world.learn("anything")
    assert [(record.status, record.occurrences) for record in world.memories(user="bob")] == [(MemoryStatus.CURRENT, 1)]
    assert [record.content for record in world.current()] == ["Lives in Rome"]


def test_newest_statement_takes_over_from_all_that_it_supersedes(world: World) -> None:
    world.learn("home: Lives in Oslo", "Rents a flat in Oslo", at=JAN)
    unlabelled = next(record for record in world.memories() if not record.name)
    world.extractor.script = lambda turns: [
        ExtractedItem(kind="semantic", content="Lives in Rome", label="home", supersedes=(unlabelled.id,))
    ]
    world.learn("moved", at=MAR)
    assert [record.content for record in world.current()] == ["Lives in Rome"]


def test_refined_memory_gives_way_to_the_more_precise_one(world: World) -> None:
    world.learn("Has a dog", at=JAN)
    [vague] = world.memories()
    world.extractor.script = lambda turns: [
        ExtractedItem(kind="semantic", content="Has a beagle named Rex", refines=(vague.id,))
    ]
    world.learn("anything", at=MAR)
    [precise] = world.current()
    with world.read() as tx:
        [link] = tx.links.of([precise.id])
    assert (link.relation, link.source_id, link.target_id) == ("refines", precise.id, vague.id)


@pytest.mark.parametrize(
    ("kind", "body", "key"),
    [
        ("taxonomic", {"domain": "ops", "term": "SLA", "definition": "d1"}, ("ops", "SLA")),
        (
            "procedural",
            {"procedure": "restore a backup", "steps": [{"n": 1, "text": "stop"}]},
            ("", "restore a backup"),
        ),
    ],
)
def test_terms_and_procedures_have_their_natural_key(
    world: World, kind: str, body: dict[str, object], key: tuple[str, str]
) -> None:
    world.extractor.script = lambda turns: [ExtractedItem(kind=kind, content=turns[0].content, body=body)]
    world.learn("first", at=JAN)
    body = {**body, "definition": "d2"}
    world.learn("second", at=MAR)
    records = world.memories(kind=kind)
    assert [(record.domain, record.name) for record in records] == [key, key]
    assert [record.status for record in records] == [MemoryStatus.SUPERSEDED, MemoryStatus.CURRENT]
