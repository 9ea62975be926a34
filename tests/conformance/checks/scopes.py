"""Who reads what: each field that is given narrows, and none that is left out does; a project is a wall."""

from __future__ import annotations

from typing import Any

from tests.conformance.world import World, check, equal, fails, holds


def labels(chunks: Any, mine: set[str]) -> set[str]:
    """Return the labels found that are this check's own; others of the project are nobody's business here."""
    return {chunk.metadata.get("label") for chunk in chunks} & mine


def fill(world: World, memory: Any) -> set[str]:
    """Save one memory for each of two users and two visibilities; return the labels."""
    names = set()
    for who in ("ada", "bob"):
        for visibility in ("private", "org"):
            label = world.id(f"{who}-{visibility}")
            memory.save_semantic(
                text=f"About the pelican {world.id('p')}: {label}",
                label=label,
                user_id=world.id(who),
                visibility=visibility,
            )
            names.add(label)
    return names


@check("search_semantic", "scopes")
def scopes(world: World) -> None:
    with world.connect() as memory:
        mine = fill(world, memory)
        query, ada, bob = f"pelican {world.id('p')}", world.id("ada"), world.id("bob")
        cases = {
            (ada, None): {"ada-private", "ada-org"},
            (ada, "org"): {"ada-org"},
            (bob, "private"): {"bob-private"},
            (None, "org"): {"ada-org", "bob-org"},
            (None, "private"): {"ada-private", "bob-private"},
            (None, None): {"ada-private", "ada-org", "bob-private", "bob-org"},
            (" ", ""): {"ada-private", "ada-org", "bob-private", "bob-org"},
        }
        for (user, visibility), expected in cases.items():
            found = labels(memory.search_semantic(query, user_id=user, visibility=visibility, top_k=200), mine)
            equal(found, {world.id(name) for name in expected}, f"user {user!r}, visibility {visibility!r}")


@check("build_context", "scopes")
def context_scopes(world: World) -> None:
    with world.connect() as memory:
        mine = fill(world, memory)
        session = world.bind(memory, "ada")
        query = f"pelican {world.id('p')}"
        cases = [
            (session, None, {"ada-private", "ada-org"}),
            (session, "org", {"ada-org"}),
            (memory, "org", {"ada-org", "bob-org"}),
        ]
        for handle, visibility, expected in cases:
            context = handle.build_context(query, visibility=visibility, include_memories=True)
            equal(labels(context.selected_memories, mine), {world.id(name) for name in expected}, str(visibility))
            sources = handle.build_context_from_sources(
                query, [world.spec("semantic", "text", top_k=200)], visibility=visibility, include_memories=True
            )
            equal(labels(sources.selected_memories, mine), {world.id(name) for name in expected}, str(visibility))


@check("bind", "none-does-not-widen")
def none_does_not_widen(world: World) -> None:
    with world.connect() as memory:
        mine = fill(world, memory)
        ada = world.bind(memory, "ada")
        for blank in (None, "", "  "):
            found = labels(ada.search_semantic(f"pelican {world.id('p')}", user_id=blank, top_k=200), mine)
            equal(found, {world.id("ada-private"), world.id("ada-org")}, repr(blank))
        shared = labels(ada.search_semantic("pelican", visibility="org", top_k=200), mine)
        equal(shared, {world.id("ada-org")}, "a bound user and a visibility are both conditions")


@check("bind", "replaces")
def bind_replaces(world: World) -> None:
    with world.connect() as memory:
        first = world.bind(memory, "ada", "monday", "planner")
        second = world.bind(first, "bob")
        second.save_semantic(text="a gull", label=world.id("gull"))
        (chunk,) = second.search_semantic("gull")
        equal((chunk.metadata["user_id"], chunk.metadata["agent_id"]), (world.id("bob"), None))
        equal(first.search_semantic("gull"), [])


@check("bind", "closing")
def closing(world: World) -> None:
    memory = world.connect()
    world.bind(memory, "ada").close()
    memory.close()
    fails(RuntimeError, lambda: memory.search_semantic("x"))


@check("save_semantic", "needs-a-user")
def needs_user(world: World) -> None:
    wrong = world.errors.MemoryIdentityError
    with world.connect() as memory:
        fails(wrong, lambda: memory.save_semantic(text="t", label="l"), "user_id")
        fails(wrong, lambda: memory.save_episode(title="t", content="c"), "user_id", "session_id")
        fails(wrong, lambda: memory.save_taxonomic(domain="d", term="t", definition="x"), "user_id")
        fails(wrong, lambda: memory.save_procedure(procedure="p", description="d", content="c"), "user_id")


@check("save_semantic", "shared-is-kept")
def shared(world: World) -> None:
    with world.bound() as memory:
        memory.save_semantic(text="an albatross", label="bird", visibility="shared")
        equal(memory.get_semantic("bird", visibility="shared")["visibility"], "shared")
        equal(len(memory.search_semantic("albatross")), 1)


@check("record_turn", "session-is-its-user's")
def sessions(world: World) -> None:
    with world.connect() as memory:
        ada, bob = world.bind(memory, "ada", "monday"), world.bind(memory, "bob", "monday")
        equal(ada.record_turn(role="user", content="heron of ada").turn_seq, 1)
        equal(bob.record_turn(role="user", content="heron of bob").turn_seq, 1)
        equal([chunk.content for chunk in world.turns(bob, "heron")], ["heron of bob"])


@check("search_semantic", "project-is-a-wall")
def wall(world: World) -> None:
    word = world.id("puffin")
    with world.connect() as memory, world.elsewhere() as other:
        memory.save_semantic(text=f"A {word}.", label=word, user_id=world.id("ada"), visibility="org")
        equal(labels(other.search_semantic(word, top_k=200), {word}), set())
        equal(other.get_semantic(word), None)
        holds(word not in str(other.build_context(word, visibility="org").formatted_context), "seen from elsewhere")
        equal(other.list_domains().count(word), 0)
