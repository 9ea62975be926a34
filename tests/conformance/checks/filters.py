"""Metadata filters: declared keys by their index path, the operators, and what is refused."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.conformance.world import World, check, equal, fails

RECORDS: dict[str, dict[str, Any]] = {
    "one": {"tier": "gold", "x": 1, "flag": True, "seen": "2026-01-01T00:00:00Z"},
    "two": {"tier": "iron", "x": 2, "flag": False, "seen": "2026-02-01T00:00:00Z"},
    "three": {"tier": "Gold", "x": 3.5, "team.name": "blue", "Undeclared": "kept"},
}
CASES: list[tuple[dict[str, Any], set[str]]] = [
    ({"metadata.tier": "gold"}, {"one"}),
    ({"metadata.tier": {"$in": ["gold", "iron"]}}, {"one", "two"}),
    ({"metadata.tier": {"$nin": ["gold"]}}, {"two", "three"}),
    ({"metadata.tier": {"$ne": "gold"}}, {"two", "three"}),
    ({"metadata.x": 1}, {"one"}),
    ({"metadata.x": {"$gt": 1}}, {"two", "three"}),
    ({"metadata.x": {"$gte": 2, "$lt": 3.5}}, {"two"}),
    ({"metadata.x": {"$lte": 2}}, {"one", "two"}),
    ({"metadata.flag": True}, {"one"}),
    ({"metadata.flag": {"$exists": False}}, {"three"}),
    ({"metadata.flag": {"$exists": True}}, {"one", "two"}),
    ({"metadata.seen": {"$gte": "2026-01-15T00:00:00Z"}}, {"two"}),
    ({"metadata.team.name": "blue"}, {"three"}),
    ({"metadata.tier": "gold", "metadata.x": 2}, set()),
    ({"$and": [{"metadata.x": {"$gt": 1}}, {"metadata.tier": "iron"}]}, {"two"}),
    ({"$or": [{"metadata.tier": "gold"}, {"metadata.x": 3.5}]}, {"one", "three"}),
    ({"$nor": [{"metadata.tier": "gold"}, {"metadata.x": 3.5}]}, {"two"}),
]


@check("build_context_from_sources", "filters-on-every-source")
def every_source(world: World) -> None:
    with world.bound(agent="planner") as memory:
        for name, metadata in RECORDS.items():
            text = f"crane number {name}"
            memory.record_turn(role="user", content=text, metadata=metadata)
            memory.save_semantic(text=text, label=name, metadata=metadata)
            memory.save_episode(title=name, content=text, metadata=metadata)
            memory.save_taxonomic(domain=world.id("d"), term=name, definition=text, metadata=metadata)
            memory.save_procedure(procedure=name, description=text, content=text, metadata=metadata)
        for source in ("stm", "semantic", "episodic", "taxonomic", "procedural"):
            for condition, expected in CASES:
                equal(matches(world, memory, source, condition), expected, f"{source} {condition}")


def matches(world: World, memory: Any, source: str, condition: dict[str, Any]) -> set[str]:
    """Return which records a filter lets through."""
    context = memory.build_context_from_sources(
        "crane", [world.spec(source, metadata_filter=condition)], include_memories=True
    )
    return {name for name in RECORDS for chunk in context.selected_memories if chunk.content.endswith(f"number {name}")}


@check("build_context_from_sources", "filter-by-agent")
def by_agent(world: World) -> None:
    """``agent_id`` can be filtered without being declared."""
    with world.connect() as memory:
        for agent in ("planner", "critic"):
            world.bind(memory, "ada", "monday", agent).save_semantic(text=f"stork of {agent}", label=agent)
        context = world.bind(memory, "ada").build_context_from_sources(
            "stork", [world.spec("semantic", metadata_filter={"agent_id": world.id("critic")})], include_memories=True
        )
    equal([chunk.content for chunk in context.selected_memories], ["stork of critic"])


@check("build_context_from_sources", "refused-filters")
def refused(world: World) -> None:
    wrong = world.errors.MemoryBadRequestError
    cases: list[tuple[dict[str, Any], str]] = [
        ({"metadata.undeclared": 1}, "metadata.tier"),
        ({"tier": "gold"}, "metadata.tier"),
        ({"metadata.tier": {"$regex": "g"}}, "$regex"),
        ({"metadata.tier": {"$gt": "a"}}, "tier"),
        ({"user_id": world.id("bob")}, "user_id"),
        ({"visibility": "org"}, "visibility"),
        ({"metadata.x": "one"}, "metadata.x"),
    ]
    with world.bound() as memory:
        memory.save_semantic(text="a stork", label="s", metadata={"tier": "gold"})
        for condition, named in cases:
            for source in ("semantic", "stm"):
                fails(wrong, partial(matches, world, memory, source, condition), named)


@check("build_context", "filter")
def one_filter(world: World) -> None:
    with world.bound() as memory:
        for name, metadata in RECORDS.items():
            memory.save_semantic(text=f"crane number {name}", label=name, metadata=metadata)
        context = memory.build_context("crane", metadata_filter={"metadata.x": {"$gt": 1}}, include_memories=True)
        misspelt = fails(
            world.errors.MemoryBadRequestError,
            lambda: memory.build_context("crane", metadata_filter={"metadata.teir": "gold"}),
            "metadata.tier",
        )
    equal({chunk.metadata["label"] for chunk in context.selected_memories}, {"two", "three"})
    equal(misspelt.code, "FILTER_KEY_UNDECLARED")
