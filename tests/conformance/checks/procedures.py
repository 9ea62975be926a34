"""``save_procedure``, ``discover_procedures``, ``get_procedure``."""

from __future__ import annotations

from tests.conformance.world import World, check, equal, fails, has, holds, ids

STEPS = [{"n": 1, "do": "open"}, {"n": 2, "do": "close"}]
FIELDS = {
    "steps": STEPS,
    "resources": [{"url": "https://example.org"}],
    "allowed_tools": ["shell"],
    "compatibility": "any",
    "license": "MIT",
    "trigger_conditions": ["when asked"],
    "tags": ["ops", "night"],
    "extraction_source": "manual",
    "source_format": "markdown",
    "source_path": "a/b.md",
}


@check("save_procedure", "min")
def save_min(world: World) -> None:
    with world.bound(agent="planner") as memory:
        saved = memory.save_procedure(procedure="deploy", description="How to deploy.", content="Push the button.")
        entry = memory.get_procedure("deploy")
    equal((saved.procedure, saved.acknowledged), ("deploy", True))
    has(entry, id=saved.id, procedure="deploy", description="How to deploy.", content="Push the button.")
    has(entry, visibility="private", user_id=world.id("ada"), agent_id=world.id("planner"))


@check("save_procedure", "max")
def save_max(world: World) -> None:
    with world.connect() as memory:
        memory.save_procedure(
            procedure="restore",
            description="How to restore.",
            content="Take the backup.",
            user_id=world.id("bob"),
            visibility="org",
            agent_id=world.id("clerk"),
            metadata={"a": 1},
            **FIELDS,
        )
        entry = memory.get_procedure("restore", user_id=world.id("bob"), visibility="org")
        (found,) = memory.discover_procedures("restore backup", world.id("bob"))
    has(entry, **FIELDS, visibility="org", agent_id=world.id("clerk"), metadata={"a": 1})
    has(found, **FIELDS, metadata={"a": 1})


@check("save_procedure", "same-name-again")
def same_name(world: World) -> None:
    with world.bound() as memory:
        memory.save_procedure(procedure="p", description="d", content="first")
        fails(
            world.errors.MemoryBadRequestError,
            lambda: memory.save_procedure(procedure="p", description="d", content="second"),
            status=409,
        )
        equal(memory.get_procedure("p")["content"], "first")


@check("save_procedure", "metadata-empty")
def metadata_empty(world: World) -> None:
    with world.bound() as memory:
        memory.save_procedure(procedure="p", description="brew tea", content="boil water", metadata={})
        (found,) = memory.discover_procedures("tea")
    holds("metadata" not in found, "an empty dict gives no slot")


@check("discover_procedures", "min")
def discover_min(world: World) -> None:
    with world.bound() as memory:
        for number in range(12):
            memory.save_procedure(procedure=f"brew {number}", description="Brew tea.", content="Boil water.")
        found = memory.discover_procedures("brew tea")
    equal(len(found), 10, "the default top_k")
    first = found[0]
    holds(first["id"] and first["timestamp"], "an entry has its id and time")
    holds(first["procedure"].startswith("brew"), "an entry has its name")
    holds(isinstance(first["score"], float), "an entry has its score")
    equal((first["content"], first["description"]), ("Boil water.", "Brew tea."))


@check("discover_procedures", "max")
def discover_max(world: World) -> None:
    with world.connect() as memory:
        for number, (tier, tags) in enumerate(
            [("gold", ["t"]), ("gold", ["u"]), ("iron", ["t"]), ("gold", ["t", "u"])]
        ):
            memory.save_procedure(
                procedure=f"p{number}",
                description="Brew tea.",
                content="Boil water.",
                user_id=world.id("bob"),
                visibility="org",
                tags=tags,
                metadata={"tier": tier},
            )
        found = memory.discover_procedures(
            "brew tea",
            world.id("bob"),
            visibility="org",
            tags=["t"],
            top_k=2,
            similarity_threshold=0.01,
            metadata_filter={"metadata.tier": "gold"},
        )
    equal({entry["procedure"] for entry in found}, {"p0", "p3"})


@check("get_procedure", "min")
def get_min(world: World) -> None:
    with world.bound() as memory:
        saved = memory.save_procedure(procedure="p é/&", description="d", content="c")
        equal(ids([memory.get_procedure("p é/&")]), [saved.id])
        equal(memory.get_procedure("P é/&"), None, "names are compared as they are")


@check("get_procedure", "max")
def get_max(world: World) -> None:
    with world.connect() as memory:
        memory.save_procedure(procedure="p", description="d", content="c", user_id=world.id("bob"))
        equal(memory.get_procedure("nope", user_id=world.id("bob"), visibility="org", include_deleted=True), None)
        equal(memory.get_procedure("p", user_id=world.id("bob"), visibility="org"), None)
        equal(memory.get_procedure("p", user_id=world.id("bob"), include_deleted=True)["content"], "c")
