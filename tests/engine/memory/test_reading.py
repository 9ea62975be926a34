"""Reading memories page by page, through time and by filters."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.engine.drafts import MemoryChanges, MemoryDraft
from memoranda.engine.filters import FilterError, matches, parse_filter
from memoranda.engine.memory_reads import MemoryListing, NaturalName
from memoranda.engine.memory_service import SaveRequest
from memoranda.engine.scope import Scope
from memoranda.sdk.errors import MemoryBadRequestError
from tests.engine.memory.conftest import CONFIG
from tests.engine.memory.world import MemoryWorld, day, open_memory_world

KEYS = CONFIG.filter_keys
WHOLE = {"ok": True, "n": 5, "tag": "a,b", "x": None, "o'brien": "it's"}


def test_pages_follow_each_other_and_stay_valid_across_writes(world: MemoryWorld) -> None:
    for number in range(5):
        world.fact(f"fact {number}")
    listing = MemoryListing(scope=Scope(user_id="ann"))
    first = world.memories.page(listing, limit=2)
    world.fact("written in between")
    second = world.memories.page(listing, limit=2, cursor=first.next_cursor)
    third = world.memories.page(listing, limit=2, cursor=second.next_cursor)
    contents = [view.record.content for page in (first, second, third) for view in page.views]
    assert contents == ["fact 4", "fact 3", "fact 2", "fact 1", "fact 0"]
    assert third.next_cursor is None


def test_a_cursor_of_another_listing_or_a_broken_one_is_refused(world: MemoryWorld) -> None:
    for number in range(3):
        world.fact(f"fact {number}")
    cursor = world.memories.page(MemoryListing(), limit=1).next_cursor
    assert cursor is not None
    for listing, given_cursor in (
        (MemoryListing(kind="semantic"), cursor),
        (MemoryListing(), cursor[:-2]),
        (MemoryListing(), "not a cursor"),
        (MemoryListing(), "é"),
    ):
        with pytest.raises(MemoryBadRequestError, match="cursor"):
            world.memories.page(listing, cursor=given_cursor)


def test_a_listing_as_of_a_time_shows_what_held_then(world: MemoryWorld) -> None:
    home = world.fact("lives in Rome", "home", event_time=day(2), visibility="org").record
    world.fact("lives in Oslo", "home", event_time=day(5), visibility="private")
    world.fact("has a dog", event_time=day(4))
    for moment, expected in (
        (day(1), []),
        (day(2), ["lives in Rome"]),
        (day(4), ["lives in Rome", "has a dog"]),
        (day(5), ["lives in Oslo", "has a dog"]),
    ):
        assert world.texts(MemoryListing(as_of=moment)) == expected
    assert world.texts(MemoryListing(as_of=day(3), scope=Scope(visibility="private"))) == []
    assert world.texts(MemoryListing(as_of=day(3), scope=Scope(visibility="org"))) == ["lives in Rome"]
    found = world.memories.get_by_natural_key(NaturalName("semantic", "", "home"), Scope(user_id="ann"), as_of=day(3))
    assert found is not None
    assert (found.record.id, found.record.content) == (home.id, "lives in Rome")
    assert world.memories.get(home.id, as_of=day(1)) is None


def test_a_superseded_record_is_read_in_its_own_time_alone(world: MemoryWorld) -> None:
    old = world.fact("lives in Rome", event_time=day(2)).record
    with world.background.write() as tx:
        draft = MemoryDraft("semantic", "lives in Oslo", "ann", event_time=day(5))
        new = world.background.writer.supersede(tx, old, draft).record
    assert world.texts(MemoryListing(as_of=day(4))) == ["lives in Rome"]
    assert world.texts(MemoryListing(as_of=day(6))) == ["lives in Oslo"]
    assert world.memories.get(old.id, as_of=day(6)) is None
    assert world.memories.get(new.id, as_of=day(4)) is None


def test_an_earlier_superseded_memory_is_added_behind_its_successor(world: MemoryWorld) -> None:
    new = world.fact("lives in Oslo", event_time=day(5)).record
    with world.background.write() as tx:
        draft = MemoryDraft("semantic", "lives in Rome", "ann", event_time=day(2))
        world.background.writer.insert_superseded(tx, draft, new)
    assert world.texts() == ["lives in Oslo"]
    assert world.texts(MemoryListing(as_of=day(3))) == ["lives in Rome"]
    assert [state.content for state in world.memories.history(new.id)] == ["lives in Rome", "lives in Oslo"]
    assert world.found("Rome") == set()


def test_an_update_moves_time_on_even_where_the_clock_went_back(world: MemoryWorld) -> None:
    record = world.fact("likes tea", "drink").record
    world.clock.advance(timedelta(days=-1))
    world.memories.update(record.id, MemoryChanges(content="likes rum"))
    world.fact("likes gin", "drink")
    states = world.memories.history(record.id)
    assert [state.content for state in states] == ["likes tea", "likes rum", "likes gin"]
    assert all(state.valid_to is None or state.valid_from <= state.valid_to for state in states)


@pytest.mark.parametrize(
    ("where", "number"),
    [
        ({"metadata.ok": True}, 1),
        ({"metadata.n": {"$gte": 3, "$lt": 5}}, 0),
        ({"metadata.n": {"$gte": 3, "$lte": 5}}, 1),
        ({"metadata.tag": "a,b"}, 1),
        ({"metadata.x": None}, 1),
        ({"metadata.tag": "a"}, 0),
        ({"metadata.tag": "a,b' OR '1'='1"}, 0),
    ],
)
def test_filters_on_declared_keys(world: MemoryWorld, where: dict[str, object], number: int) -> None:
    record = world.fact("likes tea", metadata=WHOLE).record
    listing = MemoryListing(where=parse_filter(where, KEYS))
    assert len(world.texts(listing)) == number
    view = world.memories.get(record.id)
    assert view is not None
    assert view.record.metadata == WHOLE


def test_an_unknown_operator_and_an_undeclared_key_are_named() -> None:
    for where in ({"metadata.n": {"$near": 1}}, {"metadata.o'brien": "it's"}):
        with pytest.raises(FilterError, match=r"\$near|o'brien"):
            parse_filter(where, KEYS)


_METADATA = st.fixed_dictionaries(
    {},
    optional={
        "ok": st.booleans() | st.none(),
        "n": st.integers(-2, 2) | st.floats(-2, 2) | st.just("2") | st.lists(st.integers(-2, 2), max_size=3),
        "tag": st.sampled_from(["a", "A", "a%", "'", ""]) | st.lists(st.sampled_from(["a", "b"]), max_size=2),
        "x": st.sampled_from(["a", None, 1]),
    },
)
_CONDITIONS = (
    st.fixed_dictionaries({"metadata.ok": st.booleans() | st.none()})
    | st.fixed_dictionaries({"metadata.ok": st.fixed_dictionaries({"$ne": st.booleans()})})
    | st.fixed_dictionaries(
        {
            "metadata.n": st.dictionaries(
                st.sampled_from(["$gt", "$gte", "$lt", "$lte", "$eq", "$ne"]),
                st.integers(-2, 2),
                min_size=1,
                max_size=3,
            )
        }
    )
    | st.fixed_dictionaries(
        {
            "metadata.tag": st.dictionaries(
                st.sampled_from(["$in", "$nin"]), st.lists(st.sampled_from(["a", "A", "'", ""]), max_size=2), min_size=1
            )
        }
    )
    | st.fixed_dictionaries({"metadata.x": st.fixed_dictionaries({"$exists": st.booleans()})})
    | st.fixed_dictionaries({"agent_id": st.sampled_from(["a1", "a2", None]) | st.just({"$ne": "a1"})})
)
_FILTERS = st.recursive(
    _CONDITIONS,
    lambda inner: st.dictionaries(
        st.sampled_from(["$and", "$or", "$nor"]), st.lists(inner, min_size=1, max_size=2), min_size=1, max_size=2
    ),
    max_leaves=4,
)


@given(
    records=st.lists(st.tuples(_METADATA, st.sampled_from(["", "a1", "a2"])), min_size=1, max_size=6),
    wheres=st.lists(_FILTERS, min_size=1, max_size=6),
)
def test_the_database_filters_as_the_evaluator_does(
    tmp_path_factory: pytest.TempPathFactory,
    records: list[tuple[dict[str, object], str]],
    wheres: list[dict[str, object]],
) -> None:
    with open_memory_world(tmp_path_factory.mktemp("filters") / "memory.db", config=CONFIG) as world:
        drafts = [
            MemoryDraft("semantic", str(number), "ann", agent_id=agent, metadata=metadata)
            for number, (metadata, agent) in enumerate(records)
        ]
        world.memories.save_many([SaveRequest(draft) for draft in drafts])
        for where in wheres:
            node = parse_filter(where, KEYS)
            expected = [str(at) for at, (metadata, agent) in enumerate(records) if matches(node, metadata, agent)]
            assert world.texts(MemoryListing(where=node)) == expected
