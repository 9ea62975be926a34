"""``record_turn``: what was recorded is what is read, in its own slot, once."""

from __future__ import annotations

import uuid

from tests.conformance.world import World, check, equal, fails, has, holds, ids


@check("record_turn", "min-unbound")
def unbound(world: World) -> None:
    """The client sends nulls, and leaves it to the server to refuse them."""
    with world.connect() as memory:
        fails(
            world.errors.MemoryBadRequestError,
            lambda: memory.record_turn(role="user"),
            "session_id",
            "user_id",
            status=422,
        )


@check("record_turn", "min")
def least(world: World) -> None:
    with world.bound() as memory:
        written = memory.record_turn(role="user")
    holds(written.id, "a turn has an id")
    equal((written.session_id, written.turn_seq), (world.id("monday"), 1))
    equal((written.acknowledged, written.has_embedding in (True, False)), (True, True))


@check("record_turn", "min-bound")
def bound(world: World) -> None:
    with world.bound(agent="planner") as memory:
        written = memory.record_turn(role="user", content="I moved to Lisbon.")
        (chunk,) = world.turns(memory, "Lisbon")
    equal((written.session_id, written.turn_seq, written.acknowledged), (world.id("monday"), 1, True))
    equal((chunk.id, chunk.content, chunk.source), (written.id, "I moved to Lisbon.", "stm"))
    holds(chunk.timestamp.tzinfo is not None, "times carry their zone")
    has(
        chunk.metadata,
        role="user",
        turn_seq=1,
        session_id=world.id("monday"),
        user_id=world.id("ada"),
        agent_id=world.id("planner"),
    )
    holds("metadata" not in chunk.metadata, "no metadata gives no slot")


@check("record_turn", "max")
def everything(world: World) -> None:
    calls = [{"id": "c1", "name": "weather", "args": {"city": "Lisbon", "days": [1, 2]}}]
    metadata = {"k": {"n": [1, 2]}, "role": "mine", "session_id": "mine too", "turn_seq": 99, "Tier": "x", "a.b.c": 1}
    with world.bound(agent="planner") as memory:
        written = memory.record_turn(
            role="tool",
            content="weather output",
            session_id=world.id("tuesday"),
            tool_calls=calls,
            tool_call_id="c1",
            tool_name="weather",
            is_error=True,
            model_name="gpt",
            metadata=metadata,
            idempotency_key=world.id("key"),
        )
        session = world.bind(memory, "ada", "tuesday")
        (chunk,) = world.turns(session, "weather output")
    equal((written.session_id, written.turn_seq), (world.id("tuesday"), 1))
    has(chunk.metadata, role="tool", turn_seq=1, tool_calls=calls, tool_call_id="c1", tool_name="weather")
    has(chunk.metadata, is_error=True, model_name="gpt", session_id=world.id("tuesday"))
    equal(chunk.metadata["metadata"], metadata, "caller's metadata")


@check("record_turn", "metadata-empty")
def empty_metadata(world: World) -> None:
    with world.bound() as memory:
        memory.record_turn(role="user", content="nothing beside it", tool_calls=[], metadata={})
        (chunk,) = world.turns(memory, "nothing beside it")
    holds("metadata" not in chunk.metadata, "an empty dict gives no slot")
    equal(chunk.metadata.get("metadata", {}), {})


@check("record_turn", "any-role")
def any_role(world: World) -> None:
    with world.bound() as memory:
        for role in ("system", "user", "assistant", "tool", "critic"):
            memory.record_turn(role=role, content=f"walrus said by {role}")
        chunks = world.turns(memory, "walrus")
    equal({chunk.metadata["role"] for chunk in chunks}, {"system", "user", "assistant", "tool", "critic"})


@check("record_turn", "order")
def order(world: World) -> None:
    with world.bound() as memory:
        numbers = [memory.record_turn(role="user", content=f"line {number}").turn_seq for number in range(3)]
        other = memory.record_turn(role="user", content="line", session_id=world.id("friday")).turn_seq
    equal((numbers, other), ([1, 2, 3], 1), "turn numbers")


@check("record_turn", "same-key-once")
def same_key(world: World) -> None:
    key = str(uuid.uuid4())
    with world.bound() as memory:
        first = memory.record_turn(role="user", content="otter once", idempotency_key=key)
        again = memory.record_turn(role="user", content="otter once", idempotency_key=key)
        chunks = world.turns(memory, "otter")
    equal((again.id, again.turn_seq), (first.id, first.turn_seq), "the repeated turn")
    equal(ids(chunks), [first.id])


@check("record_turn", "same-key-other-turn")
def key_conflict(world: World) -> None:
    with world.bound() as memory:
        memory.record_turn(role="user", content="first", idempotency_key="k")
        fails(
            world.errors.MemoryBadRequestError,
            lambda: memory.record_turn(role="user", content="second", idempotency_key="k"),
            "IDEMPOTENCY_CONFLICT",
            status=409,
        )


@check("record_turn", "any-text")
def any_text(world: World) -> None:
    texts = ["私は東京に住んでいます", "안녕하세요 서울", "a\x00b zebra", "🦉 owl \u202e rtl", "x" * 20_000]
    with world.bound() as memory:
        written = [memory.record_turn(role="user", content=text) for text in texts]
        japanese = world.turns(memory, "東京")
        korean = world.turns(memory, "서울")
    equal([turn.turn_seq for turn in written], [1, 2, 3, 4, 5])
    equal(japanese[0].content, texts[0])
    equal(korean[0].content, texts[1])
