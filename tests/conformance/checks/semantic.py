"""``save_semantic``, ``search_semantic``, ``get_semantic``."""

from __future__ import annotations

from tests.conformance.world import World, check, equal, has, holds, ids


@check("save_semantic", "min")
def save_min(world: World) -> None:
    with world.bound(agent="planner") as memory:
        saved = memory.save_semantic(text="Prefers window seats.", label="seat")
        entry = memory.get_semantic("seat")
    holds(saved.id, "a memory has an id")
    equal((saved.label, saved.acknowledged), ("seat", True))
    holds(saved.has_embedding in (True, False), "has_embedding is told")
    has(entry, id=saved.id, label="seat", text="Prefers window seats.", visibility="private", source="agent")
    has(entry, user_id=world.id("ada"), agent_id=world.id("planner"))


@check("save_semantic", "max")
def save_max(world: World) -> None:
    metadata = {"a": 1, "nested": {"list": [1, None, "é"]}}
    with world.connect() as memory:
        saved = memory.save_semantic(
            text="Refunds over 500 need approval.",
            label="refunds",
            user_id=world.id("bob"),
            source="import",
            visibility="org",
            metadata=metadata,
            upsert=False,
            agent_id=world.id("clerk"),
        )
        entry = memory.get_semantic("refunds", user_id=world.id("bob"), visibility="org")
        (chunk,) = memory.search_semantic("refunds approval", user_id=world.id("bob"))
    has(entry, id=saved.id, text="Refunds over 500 need approval.", source="import", visibility="org")
    has(entry, user_id=world.id("bob"), agent_id=world.id("clerk"), metadata=metadata)
    has(chunk.metadata, label="refunds", source="import", metadata=metadata)


@check("save_semantic", "metadata-empty")
def metadata_empty(world: World) -> None:
    with world.bound() as memory:
        memory.save_semantic(text="Likes quiet rooms.", label="room", metadata={})
        (chunk,) = memory.search_semantic("quiet rooms")
    holds("metadata" not in chunk.metadata, "an empty dict gives no slot")


@check("save_semantic", "upsert")
def upsert(world: World) -> None:
    with world.bound() as memory:
        first = memory.save_semantic(text="Lives in Porto.", label="home")
        second = memory.save_semantic(text="Lives in Lisbon.", label="home")
        found = memory.search_semantic("lives")
        entry = memory.get_semantic("home")
    equal(ids(found), [second.id], "one memory a label")
    equal((first.id, entry["text"]), (second.id, "Lives in Lisbon."))


@check("save_semantic", "upsert-off")
def upsert_off(world: World) -> None:
    with world.bound() as memory:
        first = memory.save_semantic(text="Lives in Porto.", label="home", upsert=False)
        second = memory.save_semantic(text="Lives in Lisbon.", label="home", upsert=False)
        found = memory.search_semantic("lives")
    equal(set(ids(found)), {first.id, second.id})


@check("save_semantic", "upsert-is-the-owner's")
def upsert_by_owner(world: World) -> None:
    with world.connect() as memory:
        mine = memory.save_semantic(text="Tea.", label="drink", user_id=world.id("ada"))
        yours = memory.save_semantic(text="Coffee.", label="drink", user_id=world.id("bob"))
        entry = memory.get_semantic("drink", user_id=world.id("ada"))
    holds(mine.id != yours.id, "a label is its owner's own")
    equal(entry["text"], "Tea.")


@check("search_semantic", "min")
def search_min(world: World) -> None:
    with world.bound() as memory:
        saved = memory.save_semantic(text="Her sister Inês plays the cello.", label="sister")
        memory.save_semantic(text="The car is in the garage.", label="car")
        chunks = memory.search_semantic("cello")
    chunk = chunks[0]
    equal((chunk.id, chunk.content, chunk.source), (saved.id, "Her sister Inês plays the cello.", "semantic"))
    holds(chunk.similarity_score is not None, "a hit has a score")
    has(chunk.metadata, label="sister", visibility="private", user_id=world.id("ada"))


@check("search_semantic", "min-unbound")
def search_unbound(world: World) -> None:
    word = "quetzal" + "".join(letter for letter in world.way.name if letter.isalpha())
    with world.connect() as memory:
        saved = [
            memory.save_semantic(text=f"{word} of {who}", label="bird", user_id=world.id(who)).id
            for who in ("ada", "bob")
        ]
        found = [chunk.id for chunk in memory.search_semantic(word) if word in chunk.content]
    equal(set(found), set(saved), "a read without identity spans the project")


@check("search_semantic", "max")
def search_max(world: World) -> None:
    with world.connect() as memory:
        for number in range(9):
            memory.save_semantic(
                text=f"Rule {number} about parking.", label=f"r{number}", user_id=world.id("bob"), visibility="org"
            )
        memory.save_semantic(text="Private parking.", label="p", user_id=world.id("bob"))
        chunks = memory.search_semantic("parking", world.id("bob"), "org", 7)
    equal(len(chunks), 7)
    equal({chunk.metadata["visibility"] for chunk in chunks}, {"org"})
    scores = [chunk.similarity_score for chunk in chunks]
    equal(scores, sorted(scores, reverse=True), "best first")


@check("get_semantic", "min")
def get_min(world: World) -> None:
    with world.bound() as memory:
        memory.save_semantic(text="T", label="L")
        equal(memory.get_semantic("L")["text"], "T")
        equal(memory.get_semantic("l"), None, "labels are compared as they are")


@check("get_semantic", "max")
def get_max(world: World) -> None:
    label = "L é&/?#%2F+ ü"
    with world.connect() as memory:
        memory.save_semantic(text="odd", label=label, user_id=world.id("bob"))
        entry = memory.get_semantic(label, user_id=world.id("bob"), visibility="private")
        wrong = memory.get_semantic(label, user_id=world.id("bob"), visibility="org")
    has(entry, label=label, text="odd")
    equal(wrong, None)


@check("get_semantic", "none")
def get_none(world: World) -> None:
    with world.bound() as memory:
        equal(memory.get_semantic("nothing of this name"), None)
