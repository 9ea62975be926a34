"""Searches and contexts about the past: what held then, and what had been said by then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda import ContextResponse, Memory, MemoryRequestContext, MemorySource, SourceSpec
from tests.engine.extraction.model_world import Asked, ScriptedModel, fact, reply

ANN = MemoryRequestContext(user_id="ann", session_id="s1")
HISTORY = (("2024-01-05", "Oslo"), ("2024-03-05", "Rome"), ("2024-05-05", "Oslo"))


def home_of_turn(asked: Asked) -> object:
    return reply(
        semantic=[
            fact(f"Anna's home is {text.split()[-1]}", number, label="home") for number, text in asked.turns.items()
        ]
    )


@pytest.fixture(params=[None, "default"], ids=["text", "hybrid"])
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    model = ScriptedModel(home_of_turn)
    with Memory.open(tmp_path / "past.db", llm=model, embedder=request.param, worker=False) as opened:
        bound = opened.bind(ANN)
        for day, city in HISTORY:
            bound.record_turn(role="user", content=f"Anna's home is now {city}", timestamp=f"{day}T12:00:00Z")
            bound.wait_until_idle()
        yield bound


def cities(found: object) -> list[str]:
    return sorted(chunk.content.split()[-1] for chunk in found)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2024-01-01T00:00:00Z", []),
        ("2024-01-05T12:00:00Z", ["Oslo"]),
        ("2024-02-01T00:00:00Z", ["Oslo"]),
        ("2024-04-01T00:00:00Z", ["Rome"]),
        ("2024-06-01T00:00:00Z", ["Oslo"]),
    ],
)
def test_search_finds_what_held_at_a_time(memory: Memory, moment: str, expected: list[str]) -> None:
    assert cities(memory.search_semantic("Anna's home", as_of=moment)) == expected
    assert cities(memory.search("Anna's home", sources="semantic", as_of=moment)) == expected


def test_without_a_moment_search_finds_what_holds_now(memory: Memory) -> None:
    assert cities(memory.search_semantic("Anna's home")) == ["Oslo"]
    assert cities(memory.search_semantic("Anna's home", include_superseded=True)) == ["Oslo", "Oslo", "Rome"]


def used(response: ContextResponse) -> list[tuple[str, str]]:
    return sorted((str(chunk.source), chunk.content.split()[-1]) for chunk in response.selected_memories or [])


def test_context_has_what_held_and_what_was_said_by_then(memory: Memory) -> None:
    april = memory.build_context(
        "Anna's home", enabled_sources={"stm", "semantic"}, as_of="2024-04-01T00:00:00Z", include_memories=True
    )
    assert used(april) == [("semantic", "Rome"), ("stm", "Oslo"), ("stm", "Rome")]
    assert "now Oslo" in str(april.formatted_context)
    sources = [SourceSpec(source=MemorySource.STM), SourceSpec(source=MemorySource.SEMANTIC)]
    january = memory.build_context_from_sources(
        "Anna's home", sources, as_of="2024-01-06T00:00:00Z", include_memories=True
    )
    assert used(january) == [("semantic", "Oslo"), ("stm", "Oslo")]


def test_past_of_another_user_stays_theirs(memory: Memory) -> None:
    bob = memory.bind(MemoryRequestContext(user_id="bob"))
    assert bob.search_semantic("Anna's home", as_of="2024-04-01T00:00:00Z") == []


@pytest.mark.parametrize("kind", ["episodic", "taxonomic", "procedural"])
def test_every_kind_can_be_searched_at_a_time(tmp_path: Path, kind: str) -> None:
    moments = {"timestamp": "2024-03-01T00:00:00Z", "user_id": "ann"}
    with Memory.open(tmp_path / "kinds.db", embedder=None, worker=False) as memory:
        memory.save_episode(title="Trip", content="A trip to the harbour", session_id="s", **moments)  # type: ignore[arg-type]
        memory.save_taxonomic(domain="port", term="berth", definition="A place in the harbour", **moments)  # type: ignore[arg-type]
        memory.save_procedure(procedure="moor", description="In the harbour", content="Tie up", **moments)  # type: ignore[arg-type]
        before, after = (
            memory.search("harbour", sources=kind, user_id="ann", as_of=moment)
            for moment in ("2024-02-01", "2024-04-01")
        )
        assert (len(before), len(after)) == (0, 1)
