"""``build_context`` and ``build_context_from_sources``: sources, formats, budgets, outcomes."""

from __future__ import annotations

from typing import Any

from tests.conformance.world import World, check, equal, fails, holds, ids

ALL_SOURCES = ["stm", "episodic", "semantic", "taxonomic", "procedural"]
RESERVE = 500
"""Tokens of a budget that are left for the prompt around the context."""


def fill(world: World) -> Any:
    """Return a bound handle whose user has one record about a ferry in every source."""
    memory = world.bound()
    memory.record_turn(role="user", content="When does the ferry leave?")
    memory.record_turn(role="assistant", content="The ferry leaves at nine.")
    memory.save_semantic(text="Takes the ferry to Cacilhas every day.", label="ferry")
    memory.save_episode(title="Ferry", content="Missed the ferry in March.")
    memory.save_taxonomic(domain=world.id("boats"), term="ferry", definition="A boat that crosses.")
    memory.save_procedure(procedure="board", description="Board the ferry.", content="Show the ticket at the ferry.")
    return memory


@check("build_context", "min-unbound")
def unbound(world: World) -> None:
    with world.connect() as memory:
        context = memory.build_context("ferry")
    holds(isinstance(context.formatted_context, (str, list)), "text or messages")
    equal(context.selected_memories, None)


@check("build_context", "min-bound")
def bound(world: World) -> None:
    with fill(world) as memory:
        context = memory.build_context("ferry")
    text = str(context.formatted_context)
    holds("every day" in text and "Missed" in text, f"semantic and episodic are the default sources: {text}")
    holds("at nine" not in text, "turns are no default source")
    equal(context.metadata.memory_counts, {"semantic": 1, "episodic": 1}, "memory_counts")
    holds(context.metadata.token_count > 0, "tokens are counted")
    holds(all(isinstance(seconds, float) for seconds in context.metadata.timing.values()), "timings in seconds")
    equal((context.metadata.ranking_strategy, context.metadata.source_outcomes), (None, None), "null on this route")
    equal(context.selected_memories, None)


@check("build_context", "max")
def everything(world: World) -> None:
    with fill(world) as memory:
        for number, tier in enumerate(["gold", "iron"]):
            memory.save_semantic(
                text=f"The {tier} ferry pass number {number}.",
                label=tier,
                user_id=world.id("bob"),
                visibility="org",
                metadata={"tier": tier},
            )
        context = memory.build_context(
            "ferry",
            world.id("bob"),
            world.id("tuesday"),
            "org",
            {"metadata.tier": "gold"},
            {"stm", "episodic", "semantic", "taxonomic", "procedural"},
            max_tokens=2048,
            format_style="claude",
            include_memories=True,
        )
    holds(isinstance(context.formatted_context, str), "claude is text")
    equal([chunk.content for chunk in context.selected_memories], ["The gold ferry pass number 0."])
    holds("The gold ferry pass number 0." in context.formatted_context, "the text is in the context")


@check("build_context", "empty-set-sources")
def no_sources(world: World) -> None:
    with fill(world) as memory:
        context = memory.build_context(
            "ferry", enabled_sources=set(), thread_id=world.id("th"), format_style="OpenAI", include_memories=True
        )
    equal((context.selected_memories, context.metadata.memory_counts), ([], {}), "nothing asked, nothing given")


@check("build_context", "turns-keep-their-roles")
def openai_roles(world: World) -> None:
    with fill(world) as memory:
        context = memory.build_context("ferry leave", enabled_sources={"stm"}, format_style="openai")
    messages = context.formatted_context
    holds(isinstance(messages, list) and all(isinstance(message, dict) for message in messages), "a list of messages")
    said = [(message["role"], message["content"]) for message in messages]
    for role, text in (("user", "When does the ferry leave?"), ("assistant", "The ferry leaves at nine.")):
        holds(any(who == role and text in str(what) for who, what in said), f"{role} said {text!r}: {said}")


@check("build_context", "formats")
def formats(world: World) -> None:
    with fill(world) as memory:
        styles = ("claude", "CLAUDE", "jinja2", world.sdk.FormatStyle.JINJA2)
        texts = [memory.build_context("ferry", format_style=style).formatted_context for style in styles]
        messages = memory.build_context("ferry", format_style="openai").formatted_context
    holds(all(isinstance(text, str) and "every day" in text for text in texts), "text with what is known")
    equal((texts[0], texts[2]), (texts[1], texts[3]), "a style's spelling does not matter")
    holds(texts[0].lstrip().startswith("<"), "claude is XML")
    holds(isinstance(messages, list) and "every day" in str(messages), "openai is messages")


@check("build_context", "budget")
def budget(world: World) -> None:
    with world.bound() as memory:
        for number in range(40):
            memory.save_semantic(text=f"Fact {number}: " + "the harbour is busy " * 12, label=f"f{number}")
        for max_tokens in (RESERVE, RESERVE + 1):
            tight = memory.build_context("harbour", max_tokens=max_tokens, include_memories=True)
            equal((tight.selected_memories, tight.metadata.token_count), ([], 0), f"max_tokens={max_tokens}")
        some = memory.build_context("harbour", max_tokens=1500, include_memories=True, format_style="jinja2")
        full = memory.build_context("harbour", max_tokens=100_000, include_memories=True, format_style="jinja2")
    holds(0 < len(some.selected_memories) < 40, f"part fits: {len(some.selected_memories)}")
    holds(some.metadata.token_count <= 1500 - RESERVE, "the budget is an upper bound")
    equal(len(full.selected_memories), 40)
    for chunk in some.selected_memories:
        holds(chunk.content.strip() in some.formatted_context, "a chunk is never cut")


@check("build_context", "same-bytes")
def deterministic(world: World) -> None:
    with fill(world) as memory:
        contexts = [memory.build_context("ferry", enabled_sources=set(ALL_SOURCES)) for _ in range(3)]
    equal(len({str(context.formatted_context) for context in contexts}), 1, "different contexts for one question")


@check("build_context_from_sources", "min")
def sources_min(world: World) -> None:
    with fill(world) as memory:
        context = memory.build_context_from_sources("ferry", [world.sdk.SourceSpec(source="semantic")])
    (outcome,) = context.metadata.source_outcomes
    equal((outcome["source"], outcome["requested_mode"], outcome["error"]), ("semantic", "semantic", None))
    equal((outcome["effective_mode"], outcome["count"]), ("semantic", 1))
    holds(context.metadata.ranking_strategy, "the strategy is told")
    holds("every day" in str(context.formatted_context), "the fact is in the context")
    equal(context.selected_memories, None)


@check("build_context_from_sources", "min-unbound")
def sources_unbound(world: World) -> None:
    with world.connect() as memory:
        context = memory.build_context_from_sources("ferry", [world.spec("semantic", "text")])
    equal(context.metadata.source_outcomes[0]["source"], "semantic")


@check("build_context_from_sources", "max")
def sources_max(world: World) -> None:
    with fill(world) as memory:
        memory.save_semantic(text="A ferry of bronze.", label="bronze", metadata={"tier": "a"})
        context = memory.build_context_from_sources(
            "ferry",
            [
                world.spec("stm", "text", top_k=200),
                world.spec("semantic", "hybrid", top_k=1, metadata_filter={"metadata.tier": {"$in": ["a"]}}),
            ],
            user_id=world.id("ada"),
            session_id=world.id("monday"),
            visibility="private",
            rerank=True,
            max_tokens=900,
            format_style="jinja2",
            include_memories=True,
        )
    outcomes = {outcome["source"]: outcome for outcome in context.metadata.source_outcomes}
    equal((outcomes["stm"]["requested_mode"], outcomes["stm"]["effective_mode"]), ("text", "text"))
    equal(outcomes["semantic"]["requested_mode"], "hybrid")
    contents = {chunk.content for chunk in context.selected_memories}
    holds({"When does the ferry leave?", "A ferry of bronze."} <= contents, f"both sources gave: {contents}")
    holds("Takes the ferry to Cacilhas every day." not in contents, "the filter holds")
    holds(context.metadata.token_count <= 900 - RESERVE, "the budget is an upper bound")
    holds(isinstance(context.formatted_context, str), "jinja2 is text")


@check("build_context_from_sources", "every-source-and-mode")
def every_mode(world: World) -> None:
    with fill(world) as memory:
        for mode in ("text", "hybrid", "semantic"):
            context = memory.build_context_from_sources(
                "ferry", [world.spec(source, mode) for source in ALL_SOURCES], include_memories=True
            )
            outcomes = context.metadata.source_outcomes
            equal([outcome["source"] for outcome in outcomes], ALL_SOURCES)
            equal({(outcome["requested_mode"], outcome["error"]) for outcome in outcomes}, {(mode, None)}, mode)
            if mode != "semantic":  # turns get their vectors in the background
                equal({chunk.source for chunk in context.selected_memories}, set(ALL_SOURCES), mode)


@check("build_context_from_sources", "turns-of-the-session")
def turns_of_session(world: World) -> None:
    with fill(world) as memory:
        memory.record_turn(role="user", content="The ferry of another day.", session_id=world.id("friday"))
        monday = world.turns(memory, "ferry")
        friday = memory.build_context_from_sources(
            "ferry", [world.spec("stm", "text")], thread_id=world.id("monday"), include_memories=True
        )
        other = memory.build_context_from_sources(
            "ferry", [world.spec("stm", "text")], session_id=world.id("friday"), include_memories=True
        )
    equal(len(monday), 2)
    equal(len(friday.selected_memories), 2, "a bound session goes before thread_id")
    equal([chunk.content for chunk in other.selected_memories], ["The ferry of another day."])


@check("build_context_from_sources", "thread_id")
def thread_id(world: World) -> None:
    with fill(world) as memory:
        unbound = world.bind(memory, "ada")
        context = unbound.build_context_from_sources(
            "ferry", [world.spec("stm", "text")], thread_id=world.id("monday"), include_memories=True
        )
    equal(len(context.selected_memories), 2)


@check("build_context_from_sources", "near-duplicates-once")
def duplicates(world: World) -> None:
    with world.bound() as memory:
        for label in ("one", "two"):
            memory.save_semantic(text="The bridge closes at midnight.", label=label)
        context = memory.build_context_from_sources("bridge", [world.spec("semantic")], include_memories=True)
    equal(len(context.selected_memories), 1)


@check("build_context_from_sources", "refused-here")
def refused_here(world: World) -> None:
    with world.bound() as memory:
        spec = world.spec("semantic")
        fails(ValueError, lambda: memory.build_context_from_sources("q", []))
        fails(ValueError, lambda: memory.build_context_from_sources("q", [spec, spec]))
        fails(ValueError, lambda: memory.build_context("q", max_tokens=0))
        fails(ValueError, lambda: memory.build_context("q", format_style="xml"), "openai", "claude", "jinja2")
    with world.connect() as unbound:
        fails(world.errors.MemoryIdentityError, lambda: unbound.build_context_from_sources("q", [world.spec("stm")]))


@check("build_context_from_sources", "a-chunk-is-whole")
def chunk_fields(world: World) -> None:
    with fill(world) as memory:
        context = memory.build_context_from_sources(
            "ferry", [world.spec(source) for source in ALL_SOURCES], include_memories=True
        )
    for chunk in context.selected_memories:
        holds(chunk.id and chunk.content and chunk.source in ALL_SOURCES, f"{chunk!r}")
        holds(chunk.timestamp.tzinfo is not None, "a time carries its zone")
        holds(isinstance(chunk.metadata, dict), "metadata is an object")
    holds(len(set(ids(context.selected_memories))) == len(context.selected_memories), "a record is given once")
