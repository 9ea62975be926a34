"""Who a call is for: call argument, then bound context, then ambient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from memoranda import Memory, MemoryIdentityError, MemoryRequestContext, MemorySource, SourceSpec
from memoranda.sdk.identity import resolve_identity
from tests.sdk.recording import AmbientRuntime, CoreClient, FullRuntime, over

AMBIENT = MemoryRequestContext(user_id="amb-u", agent_id="amb-a", session_id="amb-s")
BOUND = MemoryRequestContext(user_id="b-u")
STM = [SourceSpec(source=MemorySource.STM)]

Who = tuple[str | None, str | None, str | None]
Call = Callable[[Memory], Any]


def handle(bound: MemoryRequestContext | None, ambient: MemoryRequestContext | None = AMBIENT) -> tuple[Memory, Any]:
    runtime = AmbientRuntime()
    runtime.present = ambient
    client = CoreClient(calls=runtime.calls)
    memory = over(runtime, client)
    return (memory.bind(bound) if bound else memory), runtime


def who(arguments: dict[str, Any]) -> Who:
    return arguments.get("user_id"), arguments.get("agent_id"), arguments.get("session_id")


# call, who it is for with an ambient context, and with a bound user besides
TIERS: dict[str, tuple[Call, Who, Who]] = {
    "record_turn": (
        lambda m: m.record_turn(role="user"),
        ("amb-u", "amb-a", "amb-s"),
        ("b-u", "amb-a", "amb-s"),
    ),
    "record_turn with session": (
        lambda m: m.record_turn(role="user", session_id="x"),
        ("amb-u", "amb-a", "x"),
        ("b-u", "amb-a", "x"),
    ),
    "build_context": (lambda m: m.build_context("q"), ("amb-u", None, "amb-s"), ("b-u", None, "amb-s")),
    "build_context thread alias": (
        lambda m: m.build_context("q", session_id=" ", thread_id="th"),
        ("amb-u", None, "th"),
        ("b-u", None, "th"),
    ),
    "build_context org": (
        lambda m: m.build_context("q", visibility="org"),
        (None, None, "amb-s"),
        ("b-u", None, "amb-s"),
    ),
    "build_context private": (
        lambda m: m.build_context("q", visibility="private"),
        ("amb-u", None, "amb-s"),
        ("b-u", None, "amb-s"),
    ),
    "build_context shared": (
        lambda m: m.build_context("q", visibility="shared"),
        (None, None, "amb-s"),
        ("b-u", None, "amb-s"),
    ),
    "build_context blank visibility": (
        lambda m: m.build_context("q", visibility=""),
        (None, None, "amb-s"),
        ("b-u", None, "amb-s"),
    ),
    "from sources": (
        lambda m: m.build_context_from_sources("q", STM),
        ("amb-u", None, "amb-s"),
        ("b-u", None, "amb-s"),
    ),
    "search_episodes ignores the session": (
        lambda m: m.search_episodes("q"),
        ("amb-u", None, None),
        ("b-u", None, None),
    ),
    "search_episodes of a session": (
        lambda m: m.search_episodes("q", session_id="x"),
        ("amb-u", None, "x"),
        ("b-u", None, "x"),
    ),
    "list_episodes ignores the session": (lambda m: m.list_episodes(), ("amb-u", None, None), ("b-u", None, None)),
    "search_semantic org": (
        lambda m: m.search_semantic("q", visibility="org"),
        (None, None, None),
        ("b-u", None, None),
    ),
    "search ignores the session": (
        lambda m: m.search("q", sources="episodic"),
        ("amb-u", None, None),
        ("b-u", None, None),
    ),
    "discover_procedures": (lambda m: m.discover_procedures("q"), ("amb-u", None, None), ("b-u", None, None)),
    "get_semantic": (lambda m: m.get_semantic("l"), ("amb-u", None, None), ("b-u", None, None)),
    "get_taxonomic_term org": (
        lambda m: m.get_taxonomic_term("d", "t", visibility="org"),
        (None, None, None),
        ("b-u", None, None),
    ),
    "get_procedure": (lambda m: m.get_procedure("p"), ("amb-u", None, None), ("b-u", None, None)),
    "save_semantic org still has an owner": (
        lambda m: m.save_semantic(text="t", label="l", visibility="org"),
        ("amb-u", "amb-a", None),
        ("b-u", "amb-a", None),
    ),
    "save_episode": (
        lambda m: m.save_episode(title="t", content="c"),
        ("amb-u", "amb-a", "amb-s"),
        ("b-u", "amb-a", "amb-s"),
    ),
    "save_taxonomic": (
        lambda m: m.save_taxonomic(domain="d", term="t", definition="x"),
        ("amb-u", None, None),
        ("b-u", None, None),
    ),
    "save_procedure": (
        lambda m: m.save_procedure(procedure="p", description="d", content="c"),
        ("amb-u", "amb-a", None),
        ("b-u", "amb-a", None),
    ),
    "list_domains": (lambda m: m.list_domains(), (None, None, None), (None, None, None)),
    "save carries none": (lambda m: m.save("tickets", "c"), (None, None, None), (None, None, None)),
    "retrieve carries none": (lambda m: m.retrieve("tickets", "q"), (None, None, None), (None, None, None)),
    "blank argument does not widen": (
        lambda m: m.search_semantic("q", user_id="  "),
        ("amb-u", None, None),
        ("b-u", None, None),
    ),
    "argument wins": (lambda m: m.search_semantic("q", user_id="x"), ("x", None, None), ("x", None, None)),
    "argument is kept verbatim": (
        lambda m: m.search_semantic("q", user_id=" u "),
        (" u ", None, None),
        (" u ", None, None),
    ),
}


@pytest.mark.parametrize(("call", "ambient", "bound"), TIERS.values(), ids=TIERS)
def test_first_tier_that_is_set_wins(call: Call, ambient: Who, bound: Who) -> None:
    memory, runtime = handle(None)
    call(memory)
    assert who(runtime.last) == ambient
    memory, runtime = handle(BOUND)
    call(memory)
    assert who(runtime.last) == bound


def test_second_bind_replaces_the_first() -> None:
    memory, runtime = handle(MemoryRequestContext(user_id="u", agent_id="a"), ambient=None)
    memory.bind(MemoryRequestContext(session_id="only-s")).record_turn(role="user")
    assert who(runtime.last) == (None, None, "only-s")


def test_ambient_context_is_read_on_every_call() -> None:
    memory, runtime = handle(None, ambient=None)
    memory.search_semantic("q")
    runtime.present = MemoryRequestContext(user_id="later")
    memory.search_semantic("q")
    assert [arguments["user_id"] for _, arguments in runtime.calls] == [None, "later"]


UNBOUND: dict[str, Call] = {
    "search_semantic": lambda m: m.search_semantic("q"),
    "search_episodes": lambda m: m.search_episodes("q"),
    "list_episodes": lambda m: m.list_episodes(),
    "get_semantic": lambda m: m.get_semantic("l"),
    "get_taxonomic_term": lambda m: m.get_taxonomic_term("d", "t"),
    "list_domains": lambda m: m.list_domains(),
    "discover_procedures": lambda m: m.discover_procedures("q"),
    "get_procedure": lambda m: m.get_procedure("p"),
    "search": lambda m: m.search("q"),
    "build_context": lambda m: m.build_context("q"),
    "record_turn": lambda m: m.record_turn(role="user"),
}


@pytest.mark.parametrize("call", UNBOUND.values(), ids=UNBOUND)
def test_identity_is_not_required_here(call: Call) -> None:
    memory, runtime = handle(None, ambient=None)
    call(memory)
    assert who(runtime.last) == (None, None, None)


REQUIRED: dict[str, tuple[Call, str]] = {
    "save_semantic": (lambda m: m.save_semantic(text="t", label="l"), "user_id"),
    "save_episode": (lambda m: m.save_episode(title="t", content="c"), "user_id, session_id"),
    "save_episode with user": (lambda m: m.save_episode(title="t", content="c", user_id="u"), "session_id"),
    "save_episode blank session": (
        lambda m: m.save_episode(title="t", content="c", user_id="u", session_id=" "),
        "session_id",
    ),
    "save_taxonomic": (lambda m: m.save_taxonomic(domain="d", term="t", definition="x"), "user_id"),
    "save_procedure": (lambda m: m.save_procedure(procedure="p", description="d", content="c"), "user_id"),
    "save_procedure blank": (
        lambda m: m.save_procedure(procedure="p", description="d", content="c", user_id=""),
        "user_id",
    ),
}


@pytest.mark.parametrize(("call", "missing"), REQUIRED.values(), ids=REQUIRED)
def test_missing_identity_is_named_before_anything_is_sent(call: Call, missing: str) -> None:
    memory, runtime = handle(None, ambient=None)
    with pytest.raises(MemoryIdentityError, match=rf"field\(s\): {missing}$"):
        call(memory)
    assert runtime.calls == []


def test_blank_arguments_fall_back_to_the_bound_identity() -> None:
    memory, runtime = handle(MemoryRequestContext(user_id="u1", agent_id="a1", session_id="s1"), ambient=None)
    memory.save_episode(title="t", content="c", user_id="", session_id=" ", agent_id="")
    assert who(runtime.last) == ("u1", "a1", "s1")


def test_context_is_frozen_takes_strings_only_and_ignores_other_fields() -> None:
    context = MemoryRequestContext.model_validate({"user_id": "u", "tenant": "x"})
    assert context.model_dump() == {"user_id": "u", "agent_id": None, "session_id": None}
    with pytest.raises(ValidationError, match="frozen"):
        context.user_id = "z"
    with pytest.raises(ValidationError, match="user_id"):
        MemoryRequestContext(user_id=5)  # type: ignore[arg-type]


def test_identity_argument_that_is_no_string_is_refused() -> None:
    memory, runtime = handle(None, ambient=None)
    with pytest.raises(ValueError, match="user_id"):
        memory.search_semantic("q", user_id=5)  # type: ignore[arg-type]
    assert runtime.calls == []


def test_resolve_identity_takes_each_field_from_its_own_tier() -> None:
    resolved = resolve_identity(
        MemoryRequestContext(user_id=" "),
        bound=MemoryRequestContext(user_id="u", session_id=""),
        ambient=MemoryRequestContext(agent_id="a", session_id="s"),
        required=("user_id", "agent_id", "session_id"),
    )
    assert resolved == MemoryRequestContext(user_id="u", agent_id="a", session_id="s")


def test_custom_types_are_stamped_where_the_client_is_the_platform() -> None:
    runtime = FullRuntime()
    memory = over(runtime, runtime).bind(MemoryRequestContext(user_id="u", agent_id="a"))
    memory.save("tickets", "c")
    memory.retrieve("tickets", "q")
    assert [who(arguments) for _, arguments in runtime.calls] == [("u", "a", None), ("u", None, None)]
