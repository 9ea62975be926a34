"""Extraction with a model, from turns to memories: what is stored, what fails, what it costs, exactly once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memoranda import Memory, MemoryRequestContext
from memoranda.engine.config_model import BackgroundExtractionConfig as Background
from memoranda.engine.config_model import ExtractionConfig, ProjectConfig, SnapshotConfig
from memoranda.engine.extraction.errors import ExtractionRefusedError, ExtractionTransientError
from memoranda.engine.records import SnapshotState
from tests.engine.background_world import World
from tests.engine.extraction.model_world import (
    Asked,
    ScriptedModel,
    contents,
    fact,
    facts_of_turns,
    open_model_world,
    reply,
)

ANN = MemoryRequestContext(user_id="ann", session_id="s")


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(facts_of_turns)


@pytest.fixture
def world(tmp_path: Path, model: ScriptedModel) -> Iterator[World]:
    with open_model_world(tmp_path / "model.db", model) as opened:
        yield opened


def states(world: World) -> list[SnapshotState]:
    return [snapshot.state for snapshot in world.snapshots()]


def test_snapshot_costs_one_call_and_gives_memories_with_their_turns(world: World, model: ScriptedModel) -> None:
    said = world.say("Lives in Oslo", "Likes tea")
    world.drain()
    assert len(model.calls) == 1
    [snapshot] = world.snapshots()
    assert (snapshot.state, snapshot.summary) == (SnapshotState.EXTRACTED, "what was said")
    assert snapshot.extractor == "model:scripted-model/1"
    records = world.memories()
    assert [record.content for record in records] == ["Lives in Oslo", "Likes tea"]
    with world.read() as tx:
        assert [list(tx.sources.turns_of(record.id)) for record in records] == [[turn.id] for turn in said]
    assert {record.provenance["extractor"] for record in records} == {"model:scripted-model/1"}


def test_twenty_snapshots_cost_twenty_calls(world: World, model: ScriptedModel) -> None:
    for number in range(20):
        world.learn(f"fact number {number}", session=f"s{number}")
    assert len(model.calls) == 20
    assert len(world.memories()) == 20


@pytest.mark.parametrize(
    "text",
    [
        'Here you go:\n```json\n{"facts":["x"]}\n```\nHope {this} helps',
        '{"facts":["x"]}',
    ],
)
def test_reply_in_prose_is_one_fact(world: World, model: ScriptedModel, text: str) -> None:
    model.script = lambda asked: text
    world.learn("anything")
    assert contents(world) == ["x"]


def test_control_characters_are_taken_out(world: World, model: ScriptedModel) -> None:
    model.script = lambda asked: '{"facts":["a\tb\x00c"]}'
    world.learn("anything")
    assert contents(world) == ["a bc"]


@pytest.mark.parametrize("text", ['```json\n{"facts":["x"', "", None, '{"facts":"x"}', '[ "x" ]'])
def test_unusable_reply_is_a_visible_failure_that_can_be_run_again(
    world: World, model: ScriptedModel, text: str | None
) -> None:
    model.script = lambda asked: text
    [turn] = world.say("anything")
    world.drain()
    assert (states(world), world.memories()) == ([SnapshotState.FAILED], [])
    [failure] = world.background.failures()
    assert (failure.failure_class, failure.raw_reply, failure.retryable) == ("content", text or "", True)
    assert "the model's reply cannot be used" in failure.reason
    with world.read() as tx:
        assert [found.id for found in tx.turns.get([turn.id])] == [turn.id]
    model.script = facts_of_turns
    assert world.background.retry_failures() == 1
    world.drain(promote=False)
    assert (states(world), contents(world)) == ([SnapshotState.EXTRACTED], ["anything"])
    assert world.background.failures() == []


@pytest.mark.parametrize("answer", [reply(), '{"facts": []}'])
def test_valid_empty_answer_is_complete_with_nothing(world: World, model: ScriptedModel, answer: object) -> None:
    model.script = lambda asked: answer
    world.learn("hm")
    assert (states(world), world.memories(), world.background.failures()) == ([SnapshotState.EMPTY], [], [])
    assert len(model.calls) == 1


def test_surrogates_become_storable_text(tmp_path: Path, model: ScriptedModel) -> None:
    model.script = lambda asked: r'{"facts":["likes \ud83d and \ud83d\ude00"]}'
    with Memory.open(tmp_path / "s.db", llm=model, embedder=None, worker=False) as memory:
        memory.bind(ANN).record_turn(role="user", content="I like \ud83d")
        memory.wait_until_idle()
        [found] = memory.search_semantic("likes", user_id="ann")
        assert found.content == "likes � and 😀"
        exported = [entry.model_dump_json() for entry in memory.list_memories(user_id="ann").items]
        assert "� and 😀" in json.loads(exported[0].encode("utf-8"))["content"]
        assert "\ud83d" not in model.calls[0].user


def test_outage_is_over_and_nothing_was_lost(world: World, model: ScriptedModel) -> None:
    error = ExtractionTransientError("timeout")
    model.answer(error, error, error, reply(semantic=[fact("Lives in Oslo", 1)]))
    world.learn("Lives in Oslo")
    for _ in range(3):
        assert (states(world), world.memories()) == ([SnapshotState.PENDING], [])
        world.clock.advance(timedelta(minutes=1))
        world.drain(promote=False)
    assert (states(world), contents(world), len(model.calls)) == ([SnapshotState.EXTRACTED], ["Lives in Oslo"], 4)


def test_refusal_is_kept_and_not_tried_again(world: World, model: ScriptedModel) -> None:
    model.script = lambda asked: ExtractionRefusedError("content filter")
    world.learn("anything")
    [failure] = world.background.failures()
    assert (failure.failure_class, failure.attempts, len(model.calls)) == ("content", 1, 1)


def test_bad_items_are_failures_of_their_own(world: World, model: ScriptedModel) -> None:
    model.script = lambda asked: reply(semantic=[fact("Lives in Oslo", 1), fact("Lives in Rome", 7), {"turns": [1]}])
    world.learn("anything")
    assert (contents(world), states(world)) == (["Lives in Oslo"], [SnapshotState.EXTRACTED])
    failures = world.background.failures()
    assert [(each.failure_class, each.retryable) for each in failures] == [("content", False)] * 2
    assert "Lives in Rome" in [json.loads(str(each.raw_reply)).get("text") for each in failures]
    assert {each.snapshot_id for each in failures} == {world.snapshots()[0].id}


def test_snapshot_of_which_nothing_could_be_stored_did_not_end_with_nothing(world: World, model: ScriptedModel) -> None:
    model.script = lambda asked: reply(semantic=[fact("?!", 1)])
    world.learn("anything")
    assert (states(world), world.memories()) == ([SnapshotState.FAILED], [])
    assert len(world.background.failures()) == 1


def test_time_of_a_fact_is_that_of_the_conversation_or_what_it_says(world: World, model: ScriptedModel) -> None:
    said = datetime(2019, 5, 4, 10, 30, tzinfo=UTC)
    model.script = lambda asked: reply(
        semantic=[fact("Moved to Oslo last month", 1), fact("Lives in Oslo", 1, event_time="2019-04")]
    )
    world.learn("I moved to Oslo last month", at=said)
    times = {record.content: record.event_time for record in world.memories()}
    assert times == {"Moved to Oslo last month": said, "Lives in Oslo": datetime(2019, 4, 1, tzinfo=UTC)}


def test_turns_that_carry_an_assembled_context_give_no_new_memory(tmp_path: Path, model: ScriptedModel) -> None:
    """The model takes every turn for a fact; the context that was put into the turns is none of them."""
    with Memory.open(tmp_path / "m.db", llm=model, embedder=None, worker=False) as memory:
        for city in ("Oslo", "Rome", "Lima"):
            memory.save_semantic(text=f"Anna once lived in {city}", label=city, user_id="ann")
        styles = ("openai", "claude", "jinja2")
        for number in range(20):
            context = memory.build_context("Anna lived", user_id="ann", format_style=styles[number % 3])
            text = context.formatted_context
            block = text if isinstance(text, str) else "\n".join(message["content"] for message in text)
            assert "Oslo" in block
            memory.bind(ANN).record_turn(role="user", content=block)
        memory.wait_until_idle()
        found = memory.list_memories(user_id="ann").items
        assert sorted(entry.content for entry in found) == [f"Anna once lived in {c}" for c in ("Lima", "Oslo", "Rome")]
        assert {entry.occurrences for entry in found} == {1}
    assert model.calls == []


def test_question_beside_a_context_is_read_without_it(world: World, model: ScriptedModel) -> None:
    world.learn("<memory_context>\nLives in Rome\n</memory_context>\nI moved to Bonn.")
    assert contents(world) == ["I moved to Bonn."]
    assert "Rome" not in model.calls[0].user


@pytest.mark.parametrize(
    "text", ["我喜欢喝榛子拿铁", "서울에서 살아요", "J'habite à Orléans", "東京に住んでいます", "أعيش في القاهرة"]
)
def test_language_is_kept_from_turn_to_search(world: World, model: ScriptedModel, text: str) -> None:
    world.learn(text)
    assert list(model.calls[0].turns.values()) == [text]
    assert contents(world) == [text]


def test_speakers_and_roles_reach_the_model(world: World, model: ScriptedModel) -> None:
    world.say("Hi", metadata={"speaker": "Mel"})
    world.say("rm -rf /", role="tool", tool_name="shell", tool_call_id="c1")
    world.drain()
    assert ', user "Mel":\n| Hi' in model.calls[0].user
    assert ", tool:\n| rm -rf /" in model.calls[0].user


def test_only_enabled_kinds_are_asked_for_and_stored(tmp_path: Path, model: ScriptedModel) -> None:
    config = ProjectConfig(extraction=ExtractionConfig(enabled=("preferences",)))
    model.script = lambda asked: reply(
        semantic=[fact("Likes tea", 1, record_type="preference"), fact("Lives in Oslo", 1)], episodic=[{"text": "Went"}]
    )
    with open_model_world(tmp_path / "p.db", model, config=config) as world:
        world.learn("anything")
        assert contents(world) == ["Likes tea"]
    schema = model.calls[0].schema
    assert schema is not None
    assert schema["required"] == ["summary", "semantic"]


def test_turns_of_a_failed_snapshot_are_not_deleted_after_promotion(tmp_path: Path, model: ScriptedModel) -> None:
    config = ProjectConfig(background_extraction=Background(snapshot=SnapshotConfig(delete_promoted=True)))
    with open_model_world(tmp_path / "d.db", model, config=config) as world:
        model.script = lambda asked: reply(semantic=[fact("?!", 1)])
        [kept] = world.say("anything")
        world.drain()
        model.script = facts_of_turns
        [gone] = world.say("Lives in Oslo")
        world.drain()
        with world.read() as tx:
            assert [turn.id for turn in tx.turns.get([kept.id, gone.id])] == [kept.id]


# --- known memories


def test_known_memories_of_the_user_are_shown_and_nobody_elses(world: World, model: ScriptedModel) -> None:
    world.learn("Lives in Oslo with a beagle", user="ann")
    world.learn("Lives in Rome with a poodle", user="bob")
    world.learn("Lives in Bonn with a pug", user="Ann")
    world.learn("Lives somewhere with a dog", user="ann", session="s2")
    assert list(model.calls[-1].memories.values()) == ["Lives in Oslo with a beagle"]


def test_known_memories_are_current_related_and_at_most_twenty(world: World, model: ScriptedModel) -> None:
    world.learn(*(f"Owns boat number {number}" for number in range(25)), "Speaks Dutch")
    world.learn("Sold a boat", session="s2")
    shown = model.calls[-1].memories
    assert len(shown) == 20
    assert all("boat" in text for text in shown.values())
    model.script = lambda asked: reply(semantic=[fact("Speaks Frisian", 1, supersedes=[asked.memory("Speaks Dutch")])])
    world.learn("I never spoke Dutch, it is Frisian", session="s3")
    model.script = facts_of_turns
    world.learn("Dutch?", session="s4")
    assert "Speaks Dutch" not in model.calls[-1].memories.values()


def test_known_memories_are_found_by_meaning_where_there_is_an_embedder(tmp_path: Path, model: ScriptedModel) -> None:
    with open_model_world(tmp_path / "e.db", model, embeds=True) as world:
        assert world.embedder is not None
        world.embedder.answer = lambda texts: [[1.0] * 8 for _ in texts]
        world.learn("Lives in Oslo")
        world.learn("Où habite-t-elle ?", session="s2")
        assert list(model.calls[-1].memories.values()) == ["Lives in Oslo"]


def test_embedder_that_fails_costs_the_meaning_only(tmp_path: Path, model: ScriptedModel) -> None:
    def down(texts: object) -> list[list[float]]:
        raise ConnectionError("down")

    with open_model_world(tmp_path / "f.db", model, embeds=True) as world:
        assert world.embedder is not None
        world.learn("Lives in Oslo")
        world.embedder.answer = down
        world.learn("Still lives in Oslo", session="s2")
        assert list(model.calls[-1].memories.values()) == ["Lives in Oslo"]
        assert len(world.memories()) == 2


# --- exactly once


def test_worker_that_dies_in_the_middle_of_a_call_leaves_everything_to_the_next(
    world: World, model: ScriptedModel
) -> None:
    """Its lease runs out; what it would have stored is not there, what the next one stores is there once."""
    deaths = 0

    def die(asked: Asked) -> object:
        nonlocal deaths
        deaths += 1
        raise SystemExit

    for number in range(5):
        model.script = die
        with pytest.raises(SystemExit):
            world.learn(f"fact number {number}", session=f"s{number}")
        model.script = facts_of_turns
        world.clock.advance(timedelta(minutes=1))
        world.drain(promote=False)
    assert deaths == 5
    assert [(record.content, record.occurrences) for record in world.memories()] == [
        (f"fact number {number}", 1) for number in range(5)
    ]
    assert world.background.failures() == []


def test_two_workers_on_one_snapshot_store_it_once(world: World, model: ScriptedModel) -> None:
    """The slow worker's lease runs out during its call, another does the job, and the slow one's commit is refused."""
    other = world.new_background()

    def slow(asked: Asked) -> object:
        if len(model.calls) == 1:
            world.clock.advance(timedelta(minutes=1))
            assert other.worker.run_once()
        return facts_of_turns(asked)

    model.script = slow
    world.learn("Lives in Oslo")
    assert len(model.calls) == 2
    assert [(record.content, record.occurrences) for record in world.memories()] == [("Lives in Oslo", 1)]


def test_job_and_provenance_name_the_extractor_through_the_facade(tmp_path: Path, model: ScriptedModel) -> None:
    model.script = lambda asked: "not JSON"
    with Memory.open(tmp_path / "n.db", llm=model, embedder=None, worker=False) as memory:
        memory.bind(ANN).record_turn(role="user", content="Lives in Oslo")
        memory.wait_until_idle()
        [failure] = memory.list_failures().items
        assert failure.raw_reply == "not JSON"
        model.script = facts_of_turns
        assert memory.retry_failures() == 1
        memory.wait_until_idle()
        [entry] = memory.list_memories(user_id="ann").items
        assert entry.provenance is not None
        assert entry.provenance["extractor"] == "model:scripted-model/1"


def test_what_waits_for_the_built_in_extractor_is_done_after_a_model_came(tmp_path: Path, model: ScriptedModel) -> None:
    path = tmp_path / "later.db"
    with Memory.open(path, embedder=None, worker=False) as memory:
        memory.bind(ANN).record_turn(role="user", content="I live in Oslo.")
        memory.promote()
    with Memory.open(path, llm=model, embedder=None, worker=False) as memory:
        memory.bind(ANN).record_turn(role="user", content="Likes tea")
        memory.wait_until_idle()
        found = {entry.content: entry.provenance for entry in memory.list_memories(user_id="ann").items}
    assert found["Likes tea"] is not None
    assert found["Likes tea"]["extractor"] == "model:scripted-model/1"
    assert {str((each or {})["extractor"]).partition("/")[0] for each in found.values()} == {
        "local",
        "model:scripted-model",
    }
