"""Deleting turns, sessions, users and memories with everything derived from them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoranda.engine.deletion import DeletionService
from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.jobs.worker import Handlers, Worker
from memoranda.engine.links import LinkDraft
from memoranda.engine.memory_reads import MemoryListing
from memoranda.engine.purge import PurgeHandler, Purger
from memoranda.engine.records import IndexState, JobKind
from memoranda.engine.scope import Scope
from memoranda.sdk.errors import MemoryBadRequestError, MemoryNotFoundError
from memoranda.stores.sqlite import SqliteStore
from tests.engine.background_world import PROJECT, one_fact_per_turn
from tests.engine.memory.world import MemoryWorld


def learn(world: MemoryWorld, *contents: str, user: str = "ann", session: str = "s1") -> None:
    world.background.extractor.script = one_fact_per_turn
    world.background.learn(*contents, user=user, session=session)


def tables_of(world: MemoryWorld, user: str) -> dict[str, list[tuple[object, ...]]]:
    """Return every row that names a user."""
    tables = world.rows("turns", "sessions", "snapshots", "memories", "documents", "postings", "record_values", "jobs")
    return {name: [row for row in rows if user in row] for name, rows in tables.items()}


def test_deleting_a_user_leaves_nothing_of_that_user_and_everything_of_the_others(world: MemoryWorld) -> None:
    for user in ("alice", "bob"):
        learn(world, f"{user} likes tea", f"{user} likes jazz", user=user, session="shared-id")
        first = world.fact("lives in Rome", "home", user=user, metadata={"tag": "a"}, visibility="org").record
        world.fact("lives in Oslo", "home", user=user, metadata={"tag": "b"}, visibility="org")
        other = world.fact("has a dog", user=user).record
        world.links.add(LinkDraft(other.id, first.id, "supports"))
        world.profiles.put("user", user, f"{user} is a person")
    bob = tables_of(world, "bob")
    counts = world.deletion.delete_user("alice")
    assert (counts.turns, counts.memories, counts.snapshots, counts.links, counts.profiles, counts.history) == (
        2,
        4,
        1,
        1,
        1,
        1,
    )
    assert counts.postings > 0
    assert all(not rows for rows in tables_of(world, "alice").values())
    assert tables_of(world, "bob") == bob
    assert world.texts(MemoryListing(scope=Scope(user_id="bob"))) == [
        "bob likes tea",
        "bob likes jazz",
        "lives in Oslo",
        "has a dog",
    ]
    assert world.deletion.delete_user("bob").memories == 4
    assert world.leftovers() == {}


def test_a_deletion_without_a_scope_is_refused(world: MemoryWorld) -> None:
    world.fact("likes tea")
    for blank in ("", "  "):
        with pytest.raises(MemoryBadRequestError, match="user_id is blank"):
            world.deletion.delete_user(blank)
        with pytest.raises(MemoryBadRequestError, match="session_id is blank"):
            world.deletion.delete_session(blank)
    assert world.texts() == ["likes tea"]


def test_names_are_no_patterns_when_deleting(world: MemoryWorld) -> None:
    for user in ("ann", "Ann", "a_n", "a%"):
        learn(world, "hello there", user=user)
    world.deletion.delete_user("a%")
    world.deletion.delete_session("s%")
    world.deletion.delete_session("S1", user_id="ann")
    assert len(world.rows("turns")["turns"]) == 3


def test_deleting_a_session_keeps_what_was_written_directly_or_has_other_sources(world: MemoryWorld) -> None:
    learn(world, "drink: likes tea", "likes jazz", session="s1")
    world.clock.advance(timedelta(hours=1))
    learn(world, "drink: likes tea", session="s2")
    world.fact("written by hand", session_id="s1")
    counts = world.deletion.delete_session("s1", user_id="ann")
    assert (counts.turns, counts.memories, counts.snapshots) == (2, 1, 1)
    assert world.texts() == ["likes tea", "written by hand"]
    assert [len(rows) for rows in world.rows("sessions", "snapshots", "tombstones").values()] == [1, 1, 0]
    assert world.deletion.delete_session("s2").memories == 1
    assert world.texts() == ["written by hand"]


def test_a_session_id_of_two_users_is_deleted_for_the_named_one_or_for_both(world: MemoryWorld) -> None:
    for user in ("ann", "bob"):
        learn(world, f"{user} speaks", user=user)
    bob = tables_of(world, "bob")
    world.deletion.delete_session("s1", user_id="ann")
    assert tables_of(world, "bob") == bob
    learn(world, "ann again")
    assert world.deletion.delete_session("s1").turns == 2
    assert world.leftovers() == {}


def test_a_memory_goes_with_its_last_turn_and_a_snapshot_with_its_last_too(world: MemoryWorld) -> None:
    learn(world, "likes tea", "likes jazz")
    with world.background.read() as tx:
        first, second = tx.turns.page(Scope(), None, 10, world.clock.now())
    with pytest.raises(MemoryNotFoundError):
        world.deletion.delete_turn(first.id, user_id="bob")
    counts = world.deletion.delete_turn(first.id, user_id="ann")
    assert (counts.turns, counts.memories, counts.snapshots) == (1, 1, 0)
    assert world.texts() == ["likes jazz"]
    assert world.found("tea", source="stm") == set()
    counts = world.deletion.delete_turn(second.id)
    assert (counts.turns, counts.memories, counts.snapshots) == (1, 1, 1)
    with pytest.raises(MemoryNotFoundError):
        world.deletion.delete_turn(second.id)


def test_a_deleted_fact_stays_gone_through_every_job_and_the_other_stays(embedding_world: MemoryWorld) -> None:
    world = embedding_world
    learn(world, "My name is Pahwa", "I prefer Python over JavaScript")
    fact = next(view.record for view in world.memories.page(MemoryListing()).views if "Pahwa" in view.record.content)
    assert world.memories.delete(fact.id).vectors == 1
    world.clock.advance(timedelta(days=1))
    world.background.drain()
    assert world.found("Pahwa", superseded=True) == set()
    assert world.texts() == ["I prefer Python over JavaScript"]
    assert world.memories.history(fact.id) == []
    rows = world.rows("vectors", "postings", "documents", "memory_sources")
    assert all(fact.id not in row and fact.key not in row for table in rows.values() for row in table)


def test_later_writes_under_a_deleted_id_live(world: MemoryWorld) -> None:
    learn(world, "likes tea")
    world.fact("lives in Rome", "home")
    world.profiles.put("user", "ann", "old")
    world.deletion.delete_user("ann")
    learn(world, "likes rum")
    world.fact("lives in Oslo", "home")
    assert world.texts() == ["likes rum", "lives in Oslo"]
    assert world.profiles.get("user", "ann") is None


def finish_purges(world: MemoryWorld) -> None:
    """Let a worker of a later process find what a deletion left."""
    world.clock.advance(timedelta(hours=1))
    store, purger = world.background.store, Purger(world.background.writer, batch=2)
    handlers = Handlers({JobKind.PURGE: PurgeHandler(store, PROJECT, purger)})
    Worker(store, PROJECT, world.clock, handlers).run_until_idle()


class Interrupted(Exception):
    """The process dies here."""


class DyingStore:
    """A store whose user dies before the second change, as after a kill."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._changes = 0
        self.read = store.read
        self.describe = store.describe

    def write(self, project_id: str):  # type: ignore[no-untyped-def]
        self._changes += 1
        if self._changes > 1:
            raise Interrupted
        return self._store.write(project_id)


def dying(world: MemoryWorld, *, batch: int) -> DeletionService:
    """Return a service that dies after its first transaction, which removes one batch."""
    store = DyingStore(world.background.store)
    purger = Purger(world.background.writer, batch=batch)
    return DeletionService(store, PROJECT, purger=purger, clock=world.clock)  # type: ignore[arg-type]


@pytest.fixture
def interrupted(world: MemoryWorld) -> MemoryWorld:
    """A deletion of a user that died after its first batch of two turns."""
    learn(world, *(f"fact {number} of tea" for number in range(5)))
    world.fact("lives in Rome", "home")
    world.profiles.put("user", "ann", "likes tea")
    world.background.say("keyed", session="s2", idempotency_key="k")
    with pytest.raises(Interrupted):
        dying(world, batch=2).delete_user("ann")
    assert len(world.rows("turns")["turns"]) == 4
    return world


def test_a_deletion_that_was_cut_short_hides_all_of_it_at_once(interrupted: MemoryWorld) -> None:
    world = interrupted
    assert world.texts(MemoryListing(include_superseded=True)) == []
    assert world.found("tea", source="stm") == set()
    assert world.found("Rome") == set()
    assert world.profiles.get("user", "ann") is None
    with world.background.read() as tx:
        assert tx.turns.page(Scope(), None, 10, world.clock.now()) == []


def test_a_deletion_that_was_cut_short_is_finished_by_a_worker(interrupted: MemoryWorld) -> None:
    world = interrupted
    assert "purge" in world.background.jobs()
    finish_purges(world)
    assert world.leftovers() == {}
    assert "purge" not in world.background.jobs()


def test_what_is_written_while_a_deletion_is_unfinished_lives(interrupted: MemoryWorld) -> None:
    world = interrupted
    new = world.fact("lives in Oslo", "home").record
    world.profiles.put("user", "ann", "a new start")
    turn = world.background.say("keyed", session="s2", idempotency_key="k")[0]
    assert world.texts() == ["lives in Oslo"]
    finish_purges(world)
    assert world.texts() == ["lives in Oslo"]
    assert world.found("Oslo") == {new.key}
    profile = world.profiles.get("user", "ann")
    assert profile is not None
    assert profile.information == "a new start"
    assert [row[1] for row in world.rows("turns")["turns"]] == [turn.id]
    assert len(world.rows("sessions")["sessions"]) == 1
    assert world.rows("tombstones") == {"tombstones": []}


def test_a_large_deletion_reports_every_batch(world: MemoryWorld) -> None:
    learn(world, *(f"fact {number}" for number in range(7)))
    for number in range(5):
        world.fact(f"by hand {number}")
    counts = world.deletion_in_batches(2).delete_user("ann")
    assert (counts.turns, counts.memories, counts.snapshots) == (7, 12, 1)
    assert world.leftovers() == {}
    assert "purge" not in world.background.jobs()


def test_pending_jobs_and_failures_of_the_deleted_go_too(world: MemoryWorld) -> None:
    world.background.say("hello")
    world.background.say("hello", user="bob")
    counts = world.deletion.delete_user("ann")
    assert counts.jobs == 1
    assert world.background.jobs() == {"promote": 1}


def test_the_text_index_counts_nothing_after_everything_is_deleted(world: MemoryWorld) -> None:
    learn(world, "likes tea", "likes jazz")
    world.fact("lives in Rome", visibility="org")
    world.deletion.delete_user("ann")
    assert world.rows("partition_counts")["partition_counts"] == []


def test_a_session_deletion_that_was_cut_short_has_removed_what_was_derived_and_nothing_else(
    world: MemoryWorld,
) -> None:
    learn(world, *(f"fact {number} of tea" for number in range(5)))
    kept = world.fact("by hand", "label", session_id="s1").record
    with pytest.raises(Interrupted):
        dying(world, batch=2).delete_session("s1")
    assert world.texts() == ["by hand"]
    assert world.found("hand") == {kept.key}
    assert world.found("tea", source="stm") == set()
    assert world.rows("snapshots") == {"snapshots": []}
    assert world.fact("by hand", "label", session_id="s1").record.id == kept.id
    finish_purges(world)
    assert world.texts() == ["by hand"]
    assert world.rows("turns", "sessions", "tombstones") == {"turns": [], "sessions": [], "tombstones": []}


def test_an_episode_of_a_user_and_its_tags_are_removed_from_the_filter_values(world: MemoryWorld) -> None:
    draft = MemoryDraft("episodic", "met Bob", "ann", body={"title": "Lunch", "tags": ["work", "work"]})
    record = world.memories.save(draft).record
    assert world.found("lunch", source="episodic") == {record.key}
    assert len(world.rows("record_values")["record_values"]) == 1
    with world.background.read() as tx:
        assert tx.search.documents([record.key])[0].state is IndexState.CURRENT
    world.memories.delete(record.id)
    assert world.leftovers() == {}


def test_the_same_key_of_another_user_is_byte_for_byte_untouched(world: MemoryWorld) -> None:
    def put(user: str) -> str:
        body = {"tags": {"status": "open"}}
        return world.memories.save(
            MemoryDraft("ticket", "a doc", user, domain="docs", name="doc-1", body=body, upsert=True)
        ).record.id

    mine, theirs = put("a"), put("b")
    assert mine != theirs
    tables = ("memories", "documents", "postings", "record_values", "partition_counts")
    put("b")
    with world.background.read() as tx:
        kept = tx.memories.get([theirs])[0].key
    before = {name: [row for row in rows if "b" in row or kept in row] for name, rows in world.rows(*tables).items()}
    world.memories.delete(mine)
    after = {name: [row for row in rows if "b" in row or kept in row] for name, rows in world.rows(*tables).items()}
    assert after == before
    assert all(before.values())
