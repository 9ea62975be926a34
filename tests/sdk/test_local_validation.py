"""What is checked before anything is sent, in which order, and what is left to the engine on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from memoranda import (
    FormatStyle,
    Memory,
    MemoryClientError,
    MemoryIdentityError,
    MemoryNotSupportedError,
    MemoryRequestContext,
    MemorySource,
    SearchSource,
    SourceSpec,
)
from tests.sdk.recording import CoreClient, CoreRuntime, FullRuntime, over

U1 = MemoryRequestContext(user_id="u1", agent_id="a1", session_id="s1")
SEMANTIC = [SourceSpec(source=MemorySource.SEMANTIC)]
STM = [SourceSpec(source=MemorySource.STM)]

Call = Callable[[Memory], Any]


@pytest.fixture
def runtime() -> CoreRuntime:
    return CoreRuntime()


@pytest.fixture
def unbound(runtime: CoreRuntime) -> Memory:
    return over(runtime, CoreClient(calls=runtime.calls))


@pytest.fixture
def memory(unbound: Memory) -> Memory:
    return unbound.bind(U1)


def both(**arguments: Any) -> list[Call]:
    return [
        lambda m: m.build_context("q", **arguments),
        lambda m: m.build_context_from_sources("q", SEMANTIC, **arguments),
    ]


@pytest.mark.parametrize("max_tokens", [0, -1, True, 1.0, float("nan"), "5"], ids=repr)
def test_max_tokens_must_be_a_positive_int(memory: Memory, runtime: CoreRuntime, max_tokens: Any) -> None:
    for call in both(max_tokens=max_tokens):
        with pytest.raises(ValueError, match="max_tokens must be a positive integer"):
            call(memory)
    assert runtime.calls == []


def test_max_tokens_has_no_upper_bound(memory: Memory, runtime: CoreRuntime) -> None:
    for call in both(max_tokens=2**70):
        call(memory)
        assert runtime.last["max_tokens"] == 2**70


@pytest.mark.parametrize("style", ["xml", "", " claude"])
def test_unknown_format_style_is_refused_with_the_known_ones(memory: Memory, style: str) -> None:
    for call in both(format_style=style):
        with pytest.raises(ValueError, match=f"claude, jinja2, openai; got '{style}'"):
            call(memory)


@pytest.mark.parametrize("style", ["CLAUDE", "OpenAI", FormatStyle.JINJA2])
def test_format_style_goes_on_as_typed(memory: Memory, runtime: CoreRuntime, style: FormatStyle | str) -> None:
    for call in both(format_style=style):
        call(memory)
        assert runtime.last["format_style"] is style


def test_format_style_that_is_no_string_is_an_attribute_error(memory: Memory) -> None:
    for call in both(format_style=5):
        with pytest.raises(AttributeError):
            call(memory)


def test_sources_must_be_there_and_unique(memory: Memory, runtime: CoreRuntime) -> None:
    with pytest.raises(ValueError, match="at least one"):
        memory.build_context_from_sources("q", [])
    with pytest.raises(ValueError, match="at most once"):
        memory.build_context_from_sources("q", SEMANTIC * 2)
    with pytest.raises(AttributeError):
        memory.build_context_from_sources("q", [{"source": "semantic"}])  # type: ignore[list-item]
    assert runtime.calls == []


def test_turns_as_a_source_need_a_session(unbound: Memory, runtime: CoreRuntime) -> None:
    for session in (None, " "):
        with pytest.raises(MemoryIdentityError, match="session_id"):
            unbound.build_context_from_sources("q", STM, session_id=session)
    assert runtime.calls == []
    unbound.build_context_from_sources("q", STM, thread_id="th")
    assert runtime.last["session_id"] == "th"


def test_context_checks_run_in_the_documented_order(unbound: Memory) -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        unbound.build_context_from_sources("q", [], max_tokens=0, format_style="xml")
    with pytest.raises(ValueError, match="format_style"):
        unbound.build_context_from_sources("q", [], format_style="xml")
    with pytest.raises(ValueError, match="at most once"):
        unbound.build_context_from_sources("q", STM * 2)


@pytest.mark.parametrize(
    "fields",
    [
        {"source": "semantic", "top_k": 0},
        {"source": "semantic", "top_k": 201},
        {"source": "bogus"},
        {"source": "semantic", "mode": "fuzzy"},
        {},
    ],
    ids=str,
)
def test_source_spec_refuses(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SourceSpec(**fields)


def test_source_spec_coerces_and_stores_plain_strings() -> None:
    loose: list[Any] = ["7", True]
    assert [SourceSpec(source=MemorySource.SEMANTIC, top_k=top_k).top_k for top_k in loose] == [7, 1]
    assert SourceSpec.model_validate({"source": "semantic"}).source == "semantic"
    spec = SourceSpec(source=MemorySource.STM)
    assert (type(spec.source), type(spec.mode), spec.top_k) == (str, str, 20)
    assert spec.model_dump() == {"source": "stm", "mode": "semantic", "metadata_filter": None, "top_k": 20}


@pytest.mark.parametrize("sources", ["stm", ["semantic", "stm"], [MemorySource.STM.value], "bogus"])
def test_search_refuses_unknown_sources_before_any_call(memory: Memory, runtime: CoreRuntime, sources: Any) -> None:
    with pytest.raises(ValueError, match="not a valid SearchSource"):
        memory.search("q", sources=sources)
    assert runtime.calls == []


SEARCHED = {
    "default": (None, ["search_semantic", "search_episodes"]),
    "none": ([], []),
    "one string": ("taxonomic", ["search_taxonomic"]),
    "one member": (SearchSource.PROCEDURAL, ["discover_procedures"]),
    "order kept, duplicates collapsed": (
        ["episodic", SearchSource.SEMANTIC, "episodic"],
        ["search_episodes", "search_semantic"],
    ),
}


@pytest.mark.parametrize(("sources", "called"), SEARCHED.values(), ids=SEARCHED)
def test_search_asks_each_source_once(memory: Memory, runtime: CoreRuntime, sources: Any, called: list[str]) -> None:
    assert memory.search("q", sources=sources) == []
    assert runtime.names == called


@pytest.mark.parametrize("top_k", [0, -1])
def test_search_does_not_check_top_k(memory: Memory, runtime: CoreRuntime, top_k: int) -> None:
    assert memory.search("q", top_k=top_k) == []
    assert [arguments["top_k"] for _, arguments in runtime.calls] == [top_k, top_k]


@pytest.mark.parametrize("enabled", ["stm", [MemorySource.STM, MemorySource.SEMANTIC], set(), {"bogus"}], ids=repr)
def test_enabled_sources_are_left_to_the_engine(memory: Memory, runtime: CoreRuntime, enabled: Any) -> None:
    memory.build_context("q", enabled_sources=enabled)
    assert runtime.last["enabled_sources"] == enabled


UNENCODABLE: dict[str, Callable[[Memory, Any], Any]] = {
    "turn": lambda m, bad: m.record_turn(role="user", metadata=bad),
    "tool call": lambda m, bad: m.record_turn(role="user", tool_calls=[bad]),
    "semantic": lambda m, bad: m.save_semantic(text="t", label="l", metadata=bad),
    "episode": lambda m, bad: m.save_episode(title="t", content="c", metadata=bad),
    "term": lambda m, bad: m.save_taxonomic(domain="d", term="t", definition="x", metadata=bad),
    "procedure": lambda m, bad: m.save_procedure(procedure="p", description="d", content="c", steps=[bad]),
    "custom": lambda m, bad: m.save("tickets", "c", contextual_metadata=bad),
}


@pytest.mark.parametrize("call", UNENCODABLE.values(), ids=UNENCODABLE)
def test_what_json_cannot_carry_is_refused(
    memory: Memory, runtime: CoreRuntime, call: Callable[[Memory, Any], Any]
) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        call(memory, {"k": {1, 2}})
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON compliant"):
            call(memory, {"k": [number]})
    assert runtime.calls == []


TYPE_NAMES = {
    "empty": ("", "non-empty string"),
    "blank": ("  ", "non-empty string"),
    "none": (None, "non-empty string"),
    "number": (5, "non-empty string"),
    "kind": ("semantic", "built-in"),
    "snapshot": ("snapshot", "built-in"),
    "turn": ("turn", "built-in"),
    "short_term": ("short_term", "built-in"),
    "capital": ("Tickets", "must match"),
    "digit first": ("9x", "must match"),
    "dash": ("a-b", "must match"),
    "underscore first": ("_x", "must match"),
    "65 letters": ("a" * 65, "must match"),
}


@pytest.mark.parametrize(("name", "message"), TYPE_NAMES.values(), ids=TYPE_NAMES)
def test_custom_type_name_is_refused(memory: Memory, runtime: CoreRuntime, name: Any, message: str) -> None:
    calls: list[Call] = [lambda m: m.save(name, "c"), lambda m: m.retrieve(name, "q")]
    for call in calls:
        with pytest.raises(MemoryClientError, match=message):
            call(memory)
    assert runtime.calls == []


@pytest.mark.parametrize("name", ["tickets", "a" * 64, "tickets\n", "a_9", "custom"], ids=repr)
def test_custom_type_name_is_accepted(memory: Memory, runtime: CoreRuntime, name: str) -> None:
    memory.save(name, "c")
    assert runtime.last["memory_type"] == name


BAD_TAGS: list[tuple[dict[Any, Any], str]] = [
    ({"a": ""}, "tag 'a' must have a non-empty string value"),
    ({"a": " "}, "tag 'a' must have a non-empty string value"),
    ({"a": None}, "tag 'a' must be a non-empty string, number, or boolean"),
    ({"a": [1]}, "tag 'a' must be a non-empty string, number, or boolean"),
    ({"a": float("inf")}, "tag 'a' must be a finite number"),
    ({"a": float("nan")}, "tag 'a' must be a finite number"),
    ({"": 1}, "tag '' must have a non-empty path"),
    ({"a.": 1}, "tag 'a.' must have a non-empty path"),
    ({".a": 1}, "tag '.a' must have a non-empty path"),
    ({"a.b.c": 1}, "tag 'a.b.c': nesting is at most one level deep"),
    ({"a.b": {"c": 1}}, "tag 'a.b': nesting is at most one level deep"),
    ({"a": {}}, "tag group 'a' must contain at least one key"),
    ({"a": {"b": {"c": 1}}}, "tag 'a': nesting is at most one level deep"),
    ({"a": {"b.c": 1}}, "tag 'a': nesting is at most one level deep"),
    ({"a": {5: 1}}, "tag 'a': nesting is at most one level deep"),
    ({"a": {"": 1}}, "tag 'a.' must have a non-empty path"),
    ({"a": {"b": ""}}, "tag 'a.b' must have a non-empty string value"),
    ({"good": 1, "a": None}, "tag 'a' must be"),
]


@pytest.mark.parametrize(("tags", "message"), BAD_TAGS, ids=[str(tags) for tags, _ in BAD_TAGS])
def test_tags_are_refused(memory: Memory, runtime: CoreRuntime, tags: dict[Any, Any], message: str) -> None:
    calls: list[Call] = [lambda m: m.save("tickets", "c", tags=tags), lambda m: m.retrieve("tickets", "q", tags=tags)]
    for call in calls:
        with pytest.raises(MemoryClientError) as raised:
            call(memory)
        assert message in str(raised.value)
    assert runtime.calls == []


@pytest.mark.parametrize(
    "tags",
    [{}, {"a": True}, {"a": 10**30}, {5: 1}, {"a": {"b": 1}, "a.b": 2}, {"$gt": 1}, {"a": {"$gt": 1}}, {"a.b": "x"}],
    ids=str,
)
def test_tags_go_on_unchanged(memory: Memory, runtime: CoreRuntime, tags: dict[Any, Any]) -> None:
    memory.save("tickets", "c", tags=tags)
    assert runtime.last["tags"] is tags


def test_tags_that_are_no_mapping_are_refused(memory: Memory) -> None:
    with pytest.raises(MemoryClientError, match="mapping"):
        memory.save("tickets", "c", tags=["a"])  # type: ignore[arg-type]


def test_retrieve_does_not_check_top_k(memory: Memory, runtime: CoreRuntime) -> None:
    memory.retrieve("tickets", "q", top_k=1000)
    assert runtime.last["top_k"] == 1000


def test_update_existing_needs_a_client_that_can(unbound: Memory, runtime: CoreRuntime) -> None:
    def save(memory: Memory) -> object:
        return memory.save_procedure(procedure="p", description="d", content="c", update_existing=True)

    with pytest.raises(MemoryIdentityError):
        save(unbound)
    with pytest.raises(MemoryNotSupportedError, match="update_existing"):
        save(unbound.bind(U1))
    assert runtime.calls == []
    full = FullRuntime()
    save(over(full, full).bind(U1))
    assert full.last["update_existing"] is True


NEEDS_CLIENT: dict[str, Call] = {
    "save_semantic": lambda m: m.save_semantic(text="t", label="l"),
    "get_semantic": lambda m: m.get_semantic("l"),
    "save_episode": lambda m: m.save_episode(title="t", content="c"),
    "list_episodes": lambda m: m.list_episodes(),
    "save_taxonomic": lambda m: m.save_taxonomic(domain="d", term="t", definition="x"),
    "get_taxonomic_term": lambda m: m.get_taxonomic_term("d", "t"),
    "list_domains": lambda m: m.list_domains(),
    "save_procedure": lambda m: m.save_procedure(procedure="p", description="d", content="c", update_existing=True),
    "get_procedure": lambda m: m.get_procedure("p"),
    "save": lambda m: m.save("tickets", "c"),
    "retrieve": lambda m: m.retrieve("tickets", "q"),
}


@pytest.mark.parametrize("call", NEEDS_CLIENT.values(), ids=NEEDS_CLIENT)
def test_runtime_alone_serves_no_typed_records(runtime: CoreRuntime, call: Call) -> None:
    with pytest.raises(MemoryNotSupportedError, match="require a CRUD client"):
        call(over(runtime).bind(U1))
    assert runtime.calls == []


def test_runtime_alone_still_has_arguments_checked_first(runtime: CoreRuntime) -> None:
    memory = over(runtime)
    with pytest.raises(MemoryClientError, match="built-in"):
        memory.save("semantic", "c")
    with pytest.raises(MemoryClientError, match="tag 'a'"):
        memory.save("tickets", "c", tags={"a": None})
    with pytest.raises(MemoryIdentityError):
        memory.save_semantic(text="t", label="l")


def test_runtime_alone_serves_the_core(runtime: CoreRuntime) -> None:
    memory = over(runtime)
    memory.record_turn(role="user")
    memory.build_context("q")
    memory.search("q")
    assert runtime.names == ["record_turn", "build_context", "search_semantic", "search_episodes"]


def test_runtime_of_the_shared_contract_has_no_management(memory: Memory) -> None:
    for call in (memory.status, lambda: memory.record_turns([]), lambda: memory.get_memory("m")):
        with pytest.raises(MemoryNotSupportedError, match="MemoryManagement"):
            call()
