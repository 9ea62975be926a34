"""``search``: several sources in one call."""

from __future__ import annotations

from tests.conformance.checks.contexts import fill
from tests.conformance.world import World, check, equal, fails, holds


@check("search", "default")
def default(world: World) -> None:
    with fill(world) as memory:
        found = memory.search("ferry")
    equal({chunk.source for chunk in found}, {"semantic", "episodic"})
    scores = [chunk.similarity_score for chunk in found]
    equal(scores, sorted(scores, reverse=True), "best first")


@check("search", "all")
def everything(world: World) -> None:
    domain = world.id("law")
    with world.connect() as memory:
        bob = world.bind(memory, "bob", "two")
        for tier, visibility in (("gold", "org"), ("iron", "org"), ("gold", "private")):
            name = f"{tier} {visibility}"
            bob.save_procedure(
                procedure=name,
                description="Sue about a tort.",
                content=name,
                tags=["t"],
                visibility=visibility,
                metadata={"tier": tier},
            )
            bob.save_episode(title=name, content=f"A tort, {name}.", visibility=visibility)
            bob.save_semantic(text=f"A tort is a wrong, {name}.", label=name, visibility=visibility)
        bob.save_taxonomic(domain=domain, term="tort", definition="A wrong.")
        bob.save_taxonomic(domain=world.id("other"), term="tort", definition="A cake.")
        found = memory.search(
            "tort",
            sources=["procedural", "taxonomic", world.sdk.SearchSource.EPISODIC, "semantic"],
            top_k=50,
            user_id=world.id("bob"),
            visibility="org",
            session_id=world.id("two"),
            domain=domain,
            tags=["t"],
            similarity_threshold=0.01,
            metadata_filter={"metadata.tier": "gold"},
        )
    by_source = {source: [chunk for chunk in found if chunk.source == source] for source in ("procedural", "taxonomic")}
    equal([chunk.metadata["procedure"] for chunk in by_source["procedural"]], ["gold org"])
    equal([chunk.metadata["domain"] for chunk in by_source["taxonomic"]], [domain])
    equal({chunk.source for chunk in found}, {"procedural", "taxonomic", "episodic", "semantic"})
    holds(all("private" not in chunk.content for chunk in found), "visibility narrows every source")


@check("search", "top_k-and-order")
def cut(world: World) -> None:
    with fill(world) as memory:
        found = memory.search("ferry", sources=["semantic", "episodic", "taxonomic", "procedural"], top_k=2)
        one = memory.search("ferry", sources="taxonomic")
    equal(len(found), 2)
    equal([chunk.source for chunk in one], ["taxonomic"])


@check("search", "refused-here")
def refused(world: World) -> None:
    with fill(world) as memory:
        fails(ValueError, lambda: memory.search("ferry", sources=["stm"]))
        equal(memory.search("ferry", sources=[]), [])
