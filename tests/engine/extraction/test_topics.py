"""A topic that is over becomes a snapshot, told by the vectors of turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

import numpy as np
import pytest

from memoranda.engine.config_model import BackgroundExtractionConfig, ExtractionConfig, ProjectConfig, SnapshotConfig
from memoranda.engine.extraction.topics import PlacedVector, topic_shifts, unit_vector
from memoranda.engine.records import RecordVectors, VectorPiece
from tests.engine.background_world import World, one_fact_per_turn
from tests.engine.extraction.conftest import MakeWorld

BOATS, TEA = (1.0, 0.0, 0.1), (0.0, 1.0, 0.1)


def placed(topics: str, *, start: int = 1) -> list[PlacedVector]:
    """Return one vector a letter: b for boats, t for tea, m for both; a dot has none."""
    vectors = {"b": BOATS, "t": TEA, "m": (1.0, 1.0, 0.1)}
    units = [(number, np.array(vectors[each])) for number, each in enumerate(topics, start) if each != "."]
    return [PlacedVector(number, vector / np.linalg.norm(vector)) for number, vector in units]


@pytest.mark.parametrize(
    ("topics", "shifts"),
    [
        ("bbbb", []),
        ("bbbtt", [4]),
        ("bbbttt", [4]),
        ("bbbttttbb", [4, 8]),
        ("bbbtb", []),
        ("bbbtbtb", []),
        ("bbtt", []),
        ("bbb.t.t", [5]),
        ("bbbmm", []),
        ("....", []),
        ("", []),
        ("bbbttbb", [4]),
        ("bbbtttbb", [4, 7]),
    ],
)
def test_topic_is_left_by_two_turns_in_a_row_once_it_has_three(topics: str, shifts: list[int]) -> None:
    assert topic_shifts(placed(topics), 0.35) == shifts


def test_threshold_decides_how_far_away_is_away() -> None:
    assert topic_shifts(placed("bbbmm"), 0.1) == [4]
    assert topic_shifts(placed("bbbtt"), 1.0) == []


def test_turn_of_several_pieces_counts_as_their_mean() -> None:
    pieces = tuple(VectorPiece(np.array(values, np.int8).tobytes(), 0.01) for values in ([100, 0], [0, 100]))
    vector = unit_vector(RecordVectors(1, "m", pieces))
    assert vector == pytest.approx([0.5**0.5, 0.5**0.5])
    opposite = tuple(VectorPiece(np.array(values, np.int8).tobytes(), 0.01) for values in ([100, 0], [-100, 0]))
    assert unit_vector(RecordVectors(1, "m", opposite)) is None


# --- as a trigger


def config(**snapshot: object) -> ProjectConfig:
    fields: dict[str, object] = {"topic_shift_enabled": True, **snapshot}
    return ProjectConfig(background_extraction=BackgroundExtractionConfig(SnapshotConfig(**fields)))  # type: ignore[arg-type]


def by_topic(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, *[0.1] * 7] if "boat" in text else [0.1, 1.0, *[0.1] * 6] for text in texts]


@pytest.fixture
def topic_world(make_world: MakeWorld) -> Callable[..., World]:
    def make(settings: ProjectConfig) -> World:
        world = make_world(settings, embeds=True)
        assert world.embedder is not None
        world.embedder.answer = by_topic
        world.extractor.script = one_fact_per_turn
        return world

    return make


def tell(world: World, *contents: str) -> None:
    for content in contents:
        world.say(content)
        world.drain(promote=False)


def runs(world: World) -> list[tuple[int, int, str]]:
    return [(each.first_seq, each.last_seq, each.reason) for each in world.snapshots()]


def test_topic_that_is_over_is_extracted_while_the_next_goes_on(topic_world: Callable[..., World]) -> None:
    world = topic_world(config())
    tell(world, "boat 1", "boat 2", "boat 3", "tea 1")
    assert runs(world) == []
    tell(world, "tea 2")
    assert runs(world) == [(1, 3, "topic_shift")]
    assert [record.content for record in world.memories()] == ["boat 1", "boat 2", "boat 3"]
    world.clock.advance(timedelta(minutes=3))
    world.drain(promote=False)
    assert runs(world) == [(1, 3, "topic_shift"), (4, 5, "idle")]


def test_turns_recorded_together_are_cut_at_every_shift(topic_world: Callable[..., World]) -> None:
    world = topic_world(config())
    topics = ("boat", "tea", "boat")
    world.say(*(f"{topic} {number}" for topic in topics for number in range(4)))
    world.drain(promote=False)
    assert runs(world) == [(1, 4, "topic_shift"), (5, 8, "topic_shift")]


def test_long_topic_is_still_cut_at_max_messages(topic_world: Callable[..., World]) -> None:
    world = topic_world(config(max_messages=5))
    world.say(*(f"boat {number}" for number in range(7)), "tea 1", "tea 2")
    world.drain(promote=False)
    turns = [number for first, last, _ in runs(world) for number in range(first, last + 1)]
    assert turns == list(range(1, turns[-1] + 1))
    assert all(last - first < 5 for first, last, _ in runs(world))


@pytest.mark.parametrize(
    "settings",
    [
        config(topic_shift_enabled=False),
        config(topic_shift_threshold=1.0),
        ProjectConfig(
            background_extraction=BackgroundExtractionConfig(SnapshotConfig(topic_shift_enabled=True)),
            extraction=ExtractionConfig(enabled=()),
        ),
    ],
    ids=["off", "far", "nothing to extract"],
)
def test_without_topic_shift_turns_wait_as_before(topic_world: Callable[..., World], settings: ProjectConfig) -> None:
    world = topic_world(settings)
    tell(world, "boat 1", "boat 2", "boat 3", "tea 1", "tea 2", "tea 3")
    assert runs(world) == []


def test_without_an_embedder_topics_are_not_told_apart(make_world: MakeWorld) -> None:
    world = make_world(config())
    tell(world, "boat 1", "boat 2", "boat 3", "tea 1", "tea 2", "tea 3")
    assert runs(world) == []
