"""``save`` and ``retrieve`` of a declared custom type."""

from __future__ import annotations

from functools import partial

from tests.conformance.world import FLAT_TAGS, TAGS, TYPE, World, check, equal, fails, holds, ids


@check("save", "min")
def save_min(world: World) -> None:
    text = world.id("printer on fire")
    with world.connect() as memory:
        saved = memory.save(TYPE, text)
        found = memory.retrieve(TYPE, text, top_k=100)
    equal((saved.type, saved.tags), (TYPE, {}))
    holds(saved.id and saved.has_embedding in (True, False), "id and has_embedding are told")
    mine = [item for item in found.results if item.id == saved.id]
    equal([(item.content, item.type, item.tags) for item in mine], [(text, TYPE, {})])


@check("save", "max")
def save_max(world: World) -> None:
    text = world.id("screen flickers")
    with world.connect() as memory:
        saved = memory.save(TYPE, text, tags=TAGS, contextual_metadata={"k": [1, {"deep": None}]})
        found = memory.retrieve(TYPE, text, top_k=100)
    equal((saved.type, saved.tags), (TYPE, FLAT_TAGS))
    (mine,) = [item for item in found.results if item.id == saved.id]
    equal((mine.content, mine.tags, mine.contextual_metadata), (text, FLAT_TAGS, {"k": [1, {"deep": None}]}))


@check("save", "both-tag-forms-are-one")
def tag_forms(world: World) -> None:
    place = world.id("Porto")
    with world.connect() as memory:
        dotted = memory.save(TYPE, "keyboard one", tags={"profile.loc": place})
        nested = memory.save(TYPE, "keyboard two", tags={"profile": {"loc": place}})
        by_dotted = memory.retrieve(TYPE, "keyboard", tags={"profile.loc": place})
        by_nested = memory.retrieve(TYPE, "keyboard", tags={"profile": {"loc": place}})
    equal(dotted.tags, nested.tags)
    equal(set(ids(by_dotted.results)), {dotted.id, nested.id})
    equal(set(ids(by_nested.results)), {dotted.id, nested.id})


@check("save", "refused-tags")
def refused_tags(world: World) -> None:
    bad = world.errors.MemoryBadRequestError
    with world.connect() as memory:
        fails(bad, lambda: memory.save(TYPE, "x", tags={"undeclared": 1}), "undeclared", status=400)
        fails(bad, lambda: memory.save(TYPE, "x", tags={"profile": {"loc": "a"}, "profile.loc": "b"}), status=400)
        fails(bad, lambda: memory.save(TYPE, "x", tags={"queue": 2**70}), "queue", status=400)
        fails(bad, lambda: memory.save(TYPE, "x", tags={"queue": {"$gt": 1}}), "$gt", status=400)
        fails(bad, lambda: memory.retrieve(TYPE, "x", tags={"undeclared": 1}), "undeclared", status=400)


@check("retrieve", "min")
def retrieve_min(world: World) -> None:
    queue = world.id("q")
    with world.connect() as memory:
        for number in range(12):
            memory.save(TYPE, f"mouse {number}", tags={"queue": queue})
        found = memory.retrieve(TYPE, "mouse", tags={"queue": queue})
    equal((found.count, len(found.results)), (10, 10), "the default top_k")


@check("retrieve", "max")
def retrieve_max(world: World) -> None:
    queue = world.id("q")
    with world.connect() as memory:
        wanted = {memory.save(TYPE, f"cable {n}", tags={"queue": queue, "a.b": 1, "ok": True}).id for n in range(3)}
        memory.save(TYPE, "cable other", tags={"queue": queue, "a.b": 2, "ok": True})
        memory.save(TYPE, "cable false", tags={"queue": queue, "a.b": 1, "ok": False})
        found = memory.retrieve(TYPE, "cable", tags={"queue": queue, "a": {"b": 1}, "ok": True}, top_k=100)
        few = memory.retrieve(TYPE, "cable", tags={"queue": queue}, top_k=2)
    equal(set(ids(found.results)), wanted)
    equal((found.count, few.count), (3, 2))


@check("retrieve", "top_k-bounds")
def top_k(world: World) -> None:
    with world.connect() as memory:
        for wrong in (0, 101, -1):
            fails(world.errors.MemoryBadRequestError, partial(memory.retrieve, TYPE, "x", top_k=wrong), "top_k")


@check("save", "unknown-type")
def unknown_type(world: World) -> None:
    bad = world.errors.MemoryBadRequestError
    with world.connect() as memory:
        fails(bad, lambda: memory.save("complaints", "x"), "unknown custom memory type", status=404)
        fails(bad, lambda: memory.retrieve("complaints", "x"), "unknown custom memory type", status=404)
        fails(bad, lambda: memory.save("tickets\n", "x"), "unknown custom memory type", status=404)


@check("save", "types-not-enabled")
def not_enabled(world: World) -> None:
    with world.plain() as memory:
        for call in (lambda: memory.save(TYPE, "x"), lambda: memory.retrieve(TYPE, "x")):
            error = fails(world.errors.MemoryNotSupportedError, call)
            holds("custom_memory_types is not enabled" in str(error.__cause__), f"cause: {error.__cause__!r}")
