"""When turns become snapshots, and how they are cut."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

from memoranda.engine.config_model import BackgroundExtractionConfig, ExtractionConfig, ProjectConfig, SnapshotConfig
from memoranda.engine.extraction.cutting import runs
from memoranda.engine.records import Session, SnapshotState
from memoranda.engine.scope import Scope
from memoranda.testing.clock import DEFAULT_START
from tests.engine.background_world import World, one_fact_per_turn
from tests.engine.extraction.conftest import MakeWorld


def snapshot_config(**fields: object) -> ProjectConfig:
    snapshot = replace(SnapshotConfig(max_messages=5), **fields)  # type: ignore[arg-type]
    return ProjectConfig(background_extraction=BackgroundExtractionConfig(snapshot))


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    return make_world(snapshot_config())


def cut(world: World) -> list[tuple[int, int, str]]:
    return [(snapshot.first_seq, snapshot.last_seq, snapshot.reason) for snapshot in world.snapshots()]


def test_session_is_left_alone_until_it_is_full_or_idle(world: World) -> None:
    world.say("a", "b", "c", "d")
    world.drain(promote=False)
    assert cut(world) == []
    world.clock.advance(timedelta(minutes=2, seconds=59))
    world.drain(promote=False)
    assert cut(world) == []


def test_full_session_is_promoted_at_once_and_the_rest_when_idle(world: World) -> None:
    world.say(*"abcdefg")
    world.drain(promote=False)
    assert cut(world) == [(1, 5, "max_messages")]
    world.clock.advance(timedelta(minutes=3))
    world.drain(promote=False)
    assert cut(world) == [(1, 5, "max_messages"), (6, 7, "idle")]
    assert world.jobs() == {"expire": 1}


def test_long_backlog_becomes_a_series_of_snapshots(world: World) -> None:
    world.say(*"abcdefghijklm")
    world.clock.advance(timedelta(minutes=3))
    world.drain(promote=False)
    assert [(first, last) for first, last, _ in cut(world)] == [(1, 5), (6, 10), (11, 13)]


def test_idleness_counts_from_the_last_arrival_and_not_from_event_times(world: World) -> None:
    world.say("old", at=DEFAULT_START - timedelta(days=900))
    world.clock.advance(timedelta(minutes=2))
    world.say("older", at=DEFAULT_START - timedelta(days=901))
    world.clock.advance(timedelta(minutes=2))
    world.drain(promote=False)
    assert cut(world) == []
    world.clock.advance(timedelta(minutes=1))
    world.drain(promote=False)
    assert cut(world) == [(1, 2, "idle")]


def test_request_promotes_what_its_scope_names(world: World) -> None:
    for user, session in (("ann", "s1"), ("ann", "s2"), ("bob", "s1")):
        world.say("hello", user=user, session=session)
    [promoted] = world.background.promote(Scope(user_id="ann", session_id="s1"))
    assert [promoted] == world.snapshots()
    assert cut(world) == [(1, 1, "requested")]
    assert len(world.background.promote()) == 2
    assert len(world.background.promote()) == 0


def test_turns_that_arrive_after_a_snapshot_make_the_next_one(world: World) -> None:
    world.learn("a", "b")
    world.learn("c")
    assert [(first, last) for first, last, _ in cut(world)] == [(1, 2), (3, 3)]


def test_turns_that_arrive_while_the_promote_job_runs_are_promoted_later(world: World) -> None:
    world.say(*"abcde")
    assert world.background.worker.run_once()
    world.say("f")
    world.clock.advance(timedelta(minutes=3))
    world.drain(promote=False)
    assert [(first, last) for first, last, _ in cut(world)] == [(1, 5), (6, 6)]


def test_one_promote_job_waits_however_many_turns_arrive(world: World) -> None:
    for letter in "abcd":
        world.say(letter)
    assert world.jobs() == {"promote": 1}


def set_policy(world: World, policy: dict[str, object] | None) -> None:
    # No front door of this version sets a policy yet; the column is there for those that will.
    with closing(sqlite3.connect(world.path)) as connection:
        connection.execute("UPDATE sessions SET extraction_policy = ?", [policy and json.dumps(policy)])
        connection.commit()


def test_session_whose_policy_is_off_is_passed_over_for_good(world: World) -> None:
    world.say("a")
    set_policy(world, {"mode": "off"})
    world.drain()
    world.say("b", session="s1")
    world.drain()
    assert "extract" not in world.jobs()
    set_policy(world, None)
    world.learn("c")
    assert cut(world) == [(3, 3, "requested")]


def test_switched_off_extraction_types_promote_nothing(make_world: MakeWorld) -> None:
    world = make_world(ProjectConfig(extraction=ExtractionConfig(enabled=())))
    world.learn("a")
    assert (cut(world), world.jobs(), world.extractor.calls) == ([], {}, [])


def test_snapshots_expire_and_their_memories_stay(make_world: MakeWorld) -> None:
    world = make_world(snapshot_config(ttl_days=10))
    world.extractor.script = one_fact_per_turn
    world.learn("Lives in Oslo")
    world.clock.advance(timedelta(days=10))
    world.drain(promote=False)
    assert world.snapshots() == []
    assert [record.content for record in world.current()] == ["Lives in Oslo"]
    assert world.jobs() == {"expire": 1}  # of the change feed, whose entries have a lifetime


def test_promoted_turns_are_deleted_once_extraction_succeeded(make_world: MakeWorld) -> None:
    world = make_world(snapshot_config(delete_promoted=True))
    world.extractor.script = one_fact_per_turn
    turns = world.say("Lives in Oslo", "Likes tea")
    world.background.promote()
    with world.read() as tx:
        assert len(tx.turns.get([turn.id for turn in turns])) == 2
    world.drain()
    with world.read() as tx:
        assert list(tx.turns.get([turn.id for turn in turns])) == []
        assert list(tx.search.documents([turn.key for turn in turns])) == []
    assert len(world.current()) == 2
    assert [snapshot.state for snapshot in world.snapshots()] == [SnapshotState.EXTRACTED]


def test_runs_cover_every_turn_once() -> None:
    session = Session(
        user_id="u",
        session_id="s",
        agent_id="",
        last_seq=23,
        promoted_seq=3,
        first_turn_at=DEFAULT_START,
        last_turn_at=DEFAULT_START,
        created_at=DEFAULT_START,
        updated_at=DEFAULT_START,
    )
    assert list(runs(session, 8, rest=False)) == [(4, 11), (12, 19)]
    assert list(runs(session, 8, rest=True)) == [(4, 11), (12, 19), (20, 23)]
    assert list(runs(replace(session, promoted_seq=23), 8, rest=True)) == []
