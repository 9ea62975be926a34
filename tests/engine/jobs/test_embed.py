"""Vectors for turns and memories: batches, refusals, blank and long text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest

from memoranda.engine.config_model import (
    BackgroundExtractionConfig,
    ProjectConfig,
    ShortTermConfig,
    SnapshotConfig,
)
from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.embedding import EmbeddingService
from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.engine.ports import LegQuery
from memoranda.engine.records import SEMANTIC, STM, IndexState, Turn, VectorState
from memoranda.engine.scope import Scope
from memoranda.sdk.errors import MemoryBadRequestError
from tests.engine.background_world import ScriptedEmbedder, World, count_words, one_fact_per_turn
from tests.engine.jobs.conftest import MakeWorld

Vectors = Sequence[Sequence[float]]


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    return make_world(embeds=True)


def embedder_of(world: World) -> ScriptedEmbedder:
    assert world.embedder is not None
    return world.embedder


def vector_states(world: World, turns: Sequence[Turn]) -> list[VectorState]:
    with world.read() as tx:
        return [row.vector_state for row in tx.search.documents([turn.key for turn in turns])]


def best(world: World, text: str, source: str = STM) -> list[int]:
    vector = EmbeddingService(embedder_of(world), count_words).embed_query(text)
    query = LegQuery(Scope(user_id="ann"), source, (IndexState.CURRENT,), world.clock.now())
    with world.read() as tx:
        return [found.key for found in tx.search.vectors(query, ScriptedEmbedder.model_id, vector, 1)]


def test_turns_are_embedded_by_a_job_and_found_by_their_vector(world: World) -> None:
    turns = world.say("one", "two", "three")
    assert embedder_of(world).calls == []
    world.drain(promote=False)
    assert embedder_of(world).calls == [["one", "two", "three"]]
    assert vector_states(world, turns) == [VectorState.PRESENT] * 3
    assert [best(world, turn.content or "") for turn in turns] == [[turn.key] for turn in turns]


def test_one_embed_job_waits_however_many_turns_arrive(world: World) -> None:
    for number in range(5):
        world.say(f"turn {number}")
    assert world.jobs()["embed"] == 1


def test_extracted_memories_are_embedded(world: World) -> None:
    world.extractor.script = one_fact_per_turn
    world.learn("Lives in Oslo")
    [record] = world.memories()
    assert best(world, "Lives in Oslo", SEMANTIC) == [record.key]
    assert "embed" not in world.jobs()


@pytest.mark.parametrize("blank", ["", "  \n\t ", None])
def test_blank_turns_are_never_embedded(world: World, blank: str | None) -> None:
    turns = world.say(blank)
    world.drain()
    assert embedder_of(world).calls == []
    assert vector_states(world, turns) == [VectorState.NONE]


def test_long_text_is_split_and_every_part_finds_the_record(world: World) -> None:
    words = [f"word{number}" for number in range(120)]
    [turn] = world.say(" ".join(words))
    world.say("short")
    world.drain(promote=False)
    pieces = [text for text in embedder_of(world).texts if text.startswith("word")]
    assert len(pieces) == 3
    assert all(count_words(piece) <= 50 for piece in pieces)
    assert "".join(pieces) == " ".join(words)
    assert [best(world, piece) for piece in pieces] == [[turn.key]] * 3


def test_outage_of_the_embedder_is_retried_and_the_text_is_there_meanwhile(world: World) -> None:
    healthy = embedder_of(world).answer

    def down(texts: Sequence[str]) -> Vectors:
        raise TimeoutError("no answer")

    embedder_of(world).answer = down
    turns = world.say("one")
    world.drain(promote=False)
    assert vector_states(world, turns) == [VectorState.PENDING]
    embedder_of(world).answer = healthy
    world.drain(promote=False)
    assert vector_states(world, turns) == [VectorState.PENDING]
    world.clock.advance(timedelta(seconds=2))
    world.drain(promote=False)
    assert vector_states(world, turns) == [VectorState.PRESENT]
    assert world.background.failures() == []


def refusing(world: World, bad: str, answer: Vectors | Exception) -> None:
    """Let the embedder answer any batch that has the bad text wrongly."""
    good = embedder_of(world).vector

    def scripted(texts: Sequence[str]) -> Vectors:
        if bad not in texts:
            return [good(text) for text in texts]
        if isinstance(answer, Exception):
            raise answer
        return [answer[0] if text == bad else good(text) for text in texts] if answer else []

    embedder_of(world).answer = scripted


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([[1.0] * 7], "has the shape (7,), expected 8 numbers"),
        ([[math.nan] * 8], "has numbers that are not finite"),
        ([[math.inf] * 8], "has numbers that are not finite"),
        ([[1e300] * 8], "has numbers that are not finite"),
        ([[0.0] * 8], "is zero in every dimension"),
        ([["x"] * 8], "is not a sequence of numbers"),
        ([], "the embedder returned 0 vectors for 1 texts"),
        (ValueError("too long"), "ValueError: too long"),
    ],
    ids=["short", "nan", "infinite", "too large", "zero", "text", "none", "refused"],
)
def test_bad_item_is_isolated_without_a_retry_storm(world: World, answer: Vectors | Exception, reason: str) -> None:
    refusing(world, "bad", answer)
    turns = world.say("one", "two", "bad", "three", "four")
    world.drain(promote=False)
    world.clock.advance(timedelta(days=1))
    world.drain(promote=False)
    present, refused = VectorState.PRESENT, VectorState.REFUSED
    assert vector_states(world, turns) == [present, present, refused, present, present]
    assert embedder_of(world).texts.count("bad") <= 4
    [failure] = world.background.failures()
    assert (failure.failure_class, failure.payload["keys"]) == ("content", [turns[2].key])
    assert reason in failure.reason
    with world.read() as tx:
        assert [turn.content for turn in tx.turns.get([turns[2].id])] == ["bad"]


def test_refused_item_can_be_retried_when_the_embedder_takes_it(world: World) -> None:
    refusing(world, "bad", ValueError("too long"))
    turns = world.say("good", "bad")
    world.drain(promote=False)
    refusing(world, "nothing", ())
    assert world.background.retry_failures() == 1
    world.drain(promote=False)
    assert vector_states(world, turns) == [VectorState.PRESENT] * 2
    assert world.background.failures() == []


def test_retry_of_a_refused_item_that_is_gone_does_nothing(world: World) -> None:
    refusing(world, "bad", ValueError("too long"))
    [turn] = world.say("bad")
    world.drain(promote=False)
    with world.write() as tx:
        tx.index.remove([turn.key])
        tx.turns.delete([turn.id])
    assert (world.background.retry_failures(), world.background.failures()) == (0, [])
    assert "embed" not in world.jobs()


def test_memory_that_changes_while_it_is_embedded_gets_the_vector_of_its_new_text(world: World) -> None:
    def save(content: str) -> int:
        draft = MemoryDraft(kind="semantic", content=content, user_id="ann", name="home", upsert=True)
        with world.write() as tx:
            return world.writer.save(tx, draft).record.key

    key, good = save("Lives in Oslo"), embedder_of(world).vector

    def changing(texts: Sequence[str]) -> Vectors:
        if any("Oslo" in text for text in texts):
            save("Lives in Rome")
        return [good(text) for text in texts]

    embedder_of(world).answer = changing
    world.drain(promote=False)
    assert embedder_of(world).texts == ["home\nLives in Oslo", "home\nLives in Rome"]
    assert best(world, "home\nLives in Rome", SEMANTIC) == [key]


def test_embed_on_write_off_leaves_turns_without_vectors(make_world: MakeWorld) -> None:
    world = make_world(ProjectConfig(short_term=ShortTermConfig(embed_on_write=False)), embeds=True)
    turns = world.say("one")
    world.drain()
    assert (vector_states(world, turns), embedder_of(world).calls) == ([VectorState.NONE], [])


def test_turns_can_be_embedded_ahead_of_their_promotion_only(make_world: MakeWorld) -> None:
    snapshot = SnapshotConfig(embed_stm_before_promotion=True)
    config = ProjectConfig(
        short_term=ShortTermConfig(embed_on_write=False), background_extraction=BackgroundExtractionConfig(snapshot)
    )
    world = make_world(config, embeds=True)
    turns = world.say("one")
    world.drain(promote=False)
    assert embedder_of(world).calls == []
    extracted_with: list[int] = []

    def script(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        extracted_with.append(len(embedder_of(world).calls))
        return ()

    world.extractor.script = script
    world.drain()
    assert vector_states(world, turns) == [VectorState.PRESENT]
    assert extracted_with == [1]


def test_jobs_of_another_embedder_are_left_alone(world: World) -> None:
    world.say("one")
    embedder_of(world).model_id = "another"
    stranger = world.new_background()
    stranger.wait_until_idle(promote=False, timeout=60)
    assert world.jobs()["embed"] == 1
    embedder_of(world).model_id = ScriptedEmbedder.model_id
    world.drain(promote=False)
    assert "embed" not in world.jobs()


def test_stored_bytes_restore_the_normalised_vector() -> None:
    embedder = ScriptedEmbedder()
    service = EmbeddingService(embedder, count_words)
    [stored] = service.vectors_for({7: "text"}).vectors
    exact = np.array(embedder.vector("text")) / np.linalg.norm(embedder.vector("text"))
    [piece] = stored.pieces
    restored = np.frombuffer(piece.data, dtype=np.int8) * piece.scale
    assert (stored.key, stored.model) == (7, embedder.model_id)
    assert np.abs(restored - exact).max() <= piece.scale / 2 + 1e-7
    assert service.embed_query("text") == pytest.approx(exact.tolist())


def test_vectors_of_a_caller_are_checked() -> None:
    service = EmbeddingService(ScriptedEmbedder(), count_words)
    given = service.given(3, [2.0] + [0.0] * 7)
    [piece] = given.pieces
    assert piece.data == bytes([127] + [0] * 7)
    assert piece.scale == pytest.approx(1 / 127)
    assert service.given_query([0.0, 3.0] + [0.0] * 6) == [0.0, 1.0] + [0.0] * 6
    for bad in ([1.0] * 9, [math.nan] * 8, [0.0] * 8, []):
        with pytest.raises(MemoryBadRequestError, match="embedding"):
            service.given(3, bad)
        with pytest.raises(MemoryBadRequestError, match="embedding"):
            service.given_query(bad)


def test_query_that_cannot_be_embedded_is_a_bad_request() -> None:
    embedder = ScriptedEmbedder()
    embedder.answer = lambda texts: [[1.0]]
    with pytest.raises(MemoryBadRequestError, match="shape"):
        EmbeddingService(embedder, count_words).embed_query("x")
    with pytest.raises(MemoryBadRequestError, match="blank"):
        EmbeddingService(embedder, count_words).embed_query("  ")


def test_without_an_embedder_there_is_nothing_to_embed(make_world: MakeWorld) -> None:
    world = make_world()
    turns = world.say("one")
    world.drain(promote=False)
    assert vector_states(world, turns) == [VectorState.NONE]
    assert world.jobs() == {"promote": 1}
    service = EmbeddingService(None, count_words)
    assert (service.available, service.name) == (False, "")
    with pytest.raises(MemoryBadRequestError, match="no embedder"):
        service.embed_query("x")
