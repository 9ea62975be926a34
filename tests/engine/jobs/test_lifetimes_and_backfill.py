"""What has expired is removed with all that belongs to it; keys declared later become filterable."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from memoranda.engine.config_model import MetadataKey, ProjectConfig
from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.filters import parse_filter
from memoranda.engine.jobs.queue import backfill_job
from memoranda.engine.ports import LegQuery, Narrowing
from memoranda.engine.records import SEMANTIC, STM, IndexState
from memoranda.engine.scope import Scope
from tests.engine.background_world import World, one_fact_per_turn
from tests.engine.jobs.conftest import MakeWorld


def save(world: World, content: str, **fields: object) -> str:
    draft = replace(MemoryDraft(kind="semantic", content=content, user_id="ann"), **fields)  # type: ignore[arg-type]
    with world.write() as tx:
        return world.writer.save(tx, draft).record.id


def text_rows(world: World, term: str, source: str) -> tuple[int, int]:
    """Return (postings of the term, records counted) of a source."""
    query = LegQuery(Scope(user_id="ann"), source, (IndexState.CURRENT, IndexState.SUPERSEDED), world.clock.now())
    with world.read() as tx:
        found = tx.search.text(query, [term])
    return len(found.keys), found.records


def test_expired_records_go_with_postings_and_counts_and_others_stay(world: World) -> None:
    turns = [*world.say("apple", ttl_days=1), *world.say("apple"), *world.say("apple", ttl_days=3)]
    ids = [save(world, "apple", ttl_days=1), save(world, "apple")]
    assert text_rows(world, "appl", STM) == (3, 3)
    world.clock.advance(timedelta(days=1))
    world.drain(promote=False)
    assert (text_rows(world, "appl", STM), text_rows(world, "appl", SEMANTIC)) == ((2, 2), (1, 1))
    with world.read() as tx:
        assert [turn.id for turn in tx.turns.get([turn.id for turn in turns])] == [turns[1].id, turns[2].id]
        assert [record.id for record in tx.memories.get(ids)] == [ids[1]]
    world.clock.advance(timedelta(days=2, hours=1))
    world.drain(promote=False)
    assert text_rows(world, "appl", STM) == (1, 1)


def test_expiry_job_stays_as_long_as_something_has_a_lifetime(world: World) -> None:
    save(world, "apple", ttl_days=1)
    save(world, "pear", ttl_days=2)
    world.clock.advance(timedelta(days=1))
    world.drain(promote=False)
    assert ([record.content for record in world.memories()], world.jobs()) == (["pear"], {"expire": 1})
    world.clock.advance(timedelta(days=1))
    world.drain(promote=False)
    assert (world.memories(), world.jobs()) == ([], {"expire": 1})
    world.clock.advance(timedelta(days=30))  # what the change feed told has its time, too
    world.drain(promote=False)
    assert world.jobs() == {}


def test_memory_goes_with_the_last_turn_it_was_extracted_from(world: World) -> None:
    world.extractor.script = one_fact_per_turn
    world.say("Lives in Oslo", ttl_days=5)
    world.say("Likes tea", ttl_days=5)
    world.drain()
    world.learn("Likes tea", session="s2")
    world.clock.advance(timedelta(days=6))
    world.drain(promote=False)
    assert [record.content for record in world.memories()] == ["Likes tea"]


def test_expired_turn_is_not_extracted(world: World) -> None:
    world.extractor.script = one_fact_per_turn
    world.say("Lives in Oslo", ttl_days=1)
    world.background.promote()
    world.clock.advance(timedelta(days=2))
    world.drain()
    assert (world.extractor.calls, world.memories()) == ([], [])


def test_more_than_a_batch_expires_in_one_job(world: World) -> None:
    world.say(*["apple"] * 450, ttl_days=1)
    world.clock.advance(timedelta(days=1))
    world.drain(promote=False)
    assert text_rows(world, "appl", STM) == (0, 0)


def test_key_declared_later_is_filled_in_by_a_job(make_world: MakeWorld) -> None:
    world = make_world()
    [wanted] = world.say("apple pie", metadata={"topic": "food"})
    world.say("apple phone", metadata={"topic": "tech"})
    save(world, "apple tart", metadata={"topic": "food"})
    world.config = ProjectConfig(metadata_partition_key=(MetadataKey("topic", "string"),))
    world.__post_init__()
    with world.write() as tx:
        for source in (STM, SEMANTIC):
            tx.jobs.enqueue(backfill_job(source, now=world.clock.now()))
    world.drain(promote=False)
    where = parse_filter({"metadata.topic": "food"}, world.config.filter_keys)
    for source, expected in ((STM, {wanted.key}), (SEMANTIC, None)):
        query = LegQuery(Scope(user_id="ann"), source, (IndexState.CURRENT,), world.clock.now(), Narrowing(where=where))
        with world.read() as tx:
            found = tx.search.text(query, ["appl"])
        kept = {key for key, candidate in zip(found.keys, found.candidates, strict=True) if candidate}
        assert len(kept) == 1
        assert expected is None or kept == expected
