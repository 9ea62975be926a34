"""``save_episode``, ``search_episodes``, ``list_episodes``."""

from __future__ import annotations

from tests.conformance.world import World, check, equal, has, holds, ids

DROPPED_BY_THE_ORIGINAL = {"citation_score": 1, "llm_confidence_score": 2, "combined_score": 3, "mine": "kept"}


@check("save_episode", "min")
def save_min(world: World) -> None:
    with world.bound(agent="planner") as memory:
        saved = memory.save_episode(title="Trip", content="Went to Sintra by train.")
        (entry,) = memory.list_episodes()
    equal((saved.title, saved.acknowledged), ("Trip", True))
    has(entry, id=saved.id, title="Trip", content="Went to Sintra by train.", visibility="private")
    has(entry, user_id=world.id("ada"), agent_id=world.id("planner"), session_id=world.id("monday"))


@check("save_episode", "max")
def save_max(world: World) -> None:
    with world.connect() as memory:
        saved = memory.save_episode(
            title="Audit",
            content="The audit of March.",
            user_id=world.id("bob"),
            summary="All was well.",
            session_id=world.id("march"),
            participants=["Bob", "Eve"],
            tags=["audit", "q1"],
            visibility="org",
            metadata={"a": 1},
            agent_id=world.id("clerk"),
        )
        (entry,) = memory.list_episodes(user_id=world.id("bob"))
        (chunk,) = memory.search_episodes("audit March", user_id=world.id("bob"))
    has(entry, id=saved.id, title="Audit", content="The audit of March.", participants=["Bob", "Eve"])
    has(entry, tags=["audit", "q1"], visibility="org", session_id=world.id("march"), metadata={"a": 1})
    has(chunk.metadata, title="Audit", summary="All was well.", participants=["Bob", "Eve"], tags=["audit", "q1"])
    equal(chunk.metadata["metadata"], {"a": 1})


@check("save_episode", "all-metadata-is-kept")
def scores_in_metadata(world: World) -> None:
    with world.bound() as memory:
        memory.save_episode(title="Scores", content="A talk about scores.", metadata=DROPPED_BY_THE_ORIGINAL)
        (chunk,) = memory.search_episodes("scores")
        (entry,) = memory.list_episodes()
    equal(chunk.metadata["metadata"], DROPPED_BY_THE_ORIGINAL)
    equal(entry["metadata"], DROPPED_BY_THE_ORIGINAL)


@check("save_episode", "metadata-empty")
def metadata_empty(world: World) -> None:
    with world.bound() as memory:
        memory.save_episode(title="Plain", content="A plain afternoon.", metadata={})
        (chunk,) = memory.search_episodes("afternoon")
    holds("metadata" not in chunk.metadata, "an empty dict gives no slot")


@check("search_episodes", "min")
def search_min(world: World) -> None:
    """A bound session is not inherited: episodes of every session are found."""
    with world.bound(session="monday") as memory:
        here = memory.save_episode(title="A", content="Dinner with Inês.")
        there = memory.save_episode(title="B", content="Dinner with Rui.", session_id=world.id("friday"))
        found = memory.search_episodes("dinner")
    equal(set(ids(found)), {here.id, there.id})
    equal({chunk.source for chunk in found}, {"episodic"})


@check("search_episodes", "max")
def search_max(world: World) -> None:
    with world.connect() as memory:
        for number in range(5):
            for session in ("one", "two"):
                memory.save_episode(
                    title=f"{number}",
                    content=f"Meeting {number} in {session}.",
                    user_id=world.id("bob"),
                    session_id=world.id(session),
                )
        found = memory.search_episodes("meeting", world.id("bob"), "private", world.id("two"), 3)
    equal(len(found), 3)
    equal({chunk.metadata["session_id"] for chunk in found}, {world.id("two")})


@check("list_episodes", "min")
def list_min(world: World) -> None:
    with world.bound(session="monday") as memory:
        equal(memory.list_episodes(), [])
        for number in range(22):
            memory.save_episode(title=f"{number}", content=f"Event {number}.", session_id=world.id(f"s{number % 2}"))
        entries = memory.list_episodes()
    equal(len(entries), 20, "the default limit")
    equal({entry["session_id"] for entry in entries}, {world.id("s0"), world.id("s1")}, "sessions")


@check("list_episodes", "max")
def list_max(world: World) -> None:
    with world.connect() as memory:
        for number in range(7):
            memory.save_episode(
                title=f"{number}",
                content=f"Event {number}.",
                user_id=world.id("bob"),
                session_id=world.id("two"),
                visibility="org",
            )
        memory.save_episode(title="p", content="x", user_id=world.id("bob"), session_id=world.id("two"))
        memory.save_episode(title="o", content="x", user_id=world.id("bob"), session_id=world.id("one"))
        entries = memory.list_episodes(world.id("bob"), "org", world.id("two"), 5)
        many = memory.list_episodes(world.id("bob"), limit=1000)
    equal(len(entries), 5)
    equal({(entry["visibility"], entry["session_id"]) for entry in entries}, {("org", world.id("two"))})
    equal(len(many), 9)
