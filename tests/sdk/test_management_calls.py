"""Memoranda's own calls: checked before they are made, with the identity of the handle."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda import (
    CustomInput,
    EpisodicInput,
    Memory,
    MemoryIdentityError,
    MemoryRequestContext,
    ProceduralInput,
    SemanticInput,
    TaxonomicInput,
    TurnInput,
)
from tests.sdk.recording import NOW, AmbientRuntime, FullRuntime, over

U1 = MemoryRequestContext(user_id="u1", agent_id="a1", session_id="s1")


@pytest.fixture
def runtime() -> FullRuntime:
    return FullRuntime()


@pytest.fixture
def unbound(runtime: FullRuntime) -> Memory:
    return over(runtime, runtime)


@pytest.fixture
def memory(unbound: Memory) -> Memory:
    return unbound.bind(U1)


def test_turns_get_their_own_identity_or_that_of_the_call(memory: Memory, runtime: FullRuntime) -> None:
    memory.record_turns(
        [
            {"role": "user", "content": "a", "timestamp": "2026-03-01T12:00:00Z", "ttl_days": 1},
            TurnInput(role="user", user_id="u2", agent_id=" ", session_id="s2"),
        ],
        session_id="call",
    )
    first, second = runtime.last["turns"]
    assert (first.user_id, first.agent_id, first.session_id) == ("u1", "a1", "call")
    assert (first.timestamp, first.ttl_days) == (NOW, 1.0)
    assert (second.user_id, second.agent_id, second.session_id) == ("u2", "a1", "s2")


BAD_TURNS: dict[str, tuple[Any, str]] = {
    "no role": ([{"role": "user"}, {"content": "x"}], r"turns\[1\]\.role"),
    "misspelt field": ([{"role": "user", "ttl_day": 3}], r"turns\[0\]\.ttl_day"),
    "bad time": ([{"role": "user", "timestamp": "soon"}], r"turns\[0\]\.timestamp: .*not a time: 'soon'"),
    "bad lifetime": ([{"role": "user", "ttl_days": -1}], r"turns\[0\]\.ttl_days: .*above 0"),
    "no json": ([{"role": "user", "metadata": {"k": float("nan")}}], r"turns\[0\]: metadata"),
    "not an item": ([5], r"turns\[0\]"),
    "one item": ({"role": "user"}, "turns must be a sequence"),
    "string": ("abc", "turns must be a sequence"),
}


@pytest.mark.parametrize(("turns", "message"), BAD_TURNS.values(), ids=BAD_TURNS)
def test_one_bad_turn_refuses_the_call_and_is_named(
    memory: Memory, runtime: FullRuntime, turns: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        memory.record_turns(turns)
    assert runtime.calls == []


def test_turn_metadata_json_cannot_carry_is_a_type_error(memory: Memory, runtime: FullRuntime) -> None:
    with pytest.raises(TypeError, match=r"turns\[0\]: metadata"):
        memory.record_turns([{"role": "user", "metadata": {"k": {1}}}])
    assert runtime.calls == []


ITEMS: list[dict[str, Any]] = [
    {"kind": "semantic", "text": "t", "label": "l", "embedding": [1, 2]},
    {"kind": "episodic", "title": "t", "content": "c"},
    {"kind": "taxonomic", "domain": "d", "term": "t", "definition": "x"},
    {"kind": "procedural", "procedure": "p", "description": "d", "content": "c"},
    {"kind": "custom", "memory_type": "tickets", "content": "c", "tags": {"a.b": 1}},
]


def test_memories_of_every_kind_go_together(memory: Memory, runtime: FullRuntime) -> None:
    result = memory.save_many([*ITEMS, SemanticInput(text="t", label="l2", user_id="u2")], session_id="s2")
    assert [type(item) for item in runtime.last["items"]] == [
        SemanticInput,
        EpisodicInput,
        TaxonomicInput,
        ProceduralInput,
        CustomInput,
        SemanticInput,
    ]
    semantic, episodic, taxonomic, procedural, custom, other = runtime.last["items"]
    assert (semantic.user_id, semantic.agent_id, semantic.embedding) == ("u1", "a1", [1.0, 2.0])
    assert (episodic.user_id, episodic.session_id) == ("u1", "s2")
    assert (taxonomic.user_id, taxonomic.agent_id, taxonomic.visibility) == ("u1", None, "org")
    assert (procedural.user_id, custom.user_id, other.user_id) == ("u1", "u1", "u2")
    assert result[0].status == "created"


BAD_ITEMS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown kind": ({"kind": "vague"}, r"items\[1\]: .*'vague'"),
    "no kind": ({"text": "t"}, r"items\[1\]: .*kind"),
    "missing field": ({"kind": "semantic", "text": "t"}, r"items\[1\]\.semantic\.label"),
    "reserved type": ({"kind": "custom", "memory_type": "turn", "content": "c"}, r"items\[1\]: 'turn' is a built-in"),
    "bad tag": (
        {"kind": "custom", "memory_type": "tickets", "content": "c", "tags": {"a": None}},
        r"items\[1\]: tag 'a'",
    ),
    "bad vector": (
        {"kind": "semantic", "text": "t", "label": "l", "embedding": [float("nan")]},
        r"items\[1\]\.semantic\.embedding: .*embedding\[0\]",
    ),
}


@pytest.mark.parametrize(("item", "message"), BAD_ITEMS.values(), ids=BAD_ITEMS)
def test_one_bad_item_refuses_the_call_and_is_named(
    memory: Memory, runtime: FullRuntime, item: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        memory.save_many([ITEMS[0], item])
    assert runtime.calls == []


@pytest.mark.parametrize(
    ("position", "missing"), [(0, "user_id"), (1, "user_id, session_id"), (2, "user_id"), (3, "user_id")]
)
def test_items_need_the_identity_of_their_single_call(
    unbound: Memory, runtime: FullRuntime, position: int, missing: str
) -> None:
    with pytest.raises(MemoryIdentityError, match=rf"items\[1\]: .*field\(s\): {missing}$"):
        unbound.save_many([ITEMS[4], ITEMS[position]])
    assert runtime.calls == []


BY_ID = ["get_memory", "delete_memory", "history", "get_turn", "delete_turn"]


@pytest.mark.parametrize("name", BY_ID)
def test_by_id_calls_carry_the_user_of_the_handle(unbound: Memory, runtime: FullRuntime, name: str) -> None:
    getattr(unbound, name)("x")
    assert runtime.last["user_id"] is None
    getattr(unbound.bind(U1), name)("x")
    assert runtime.last["user_id"] == "u1"


@pytest.mark.parametrize("name", [*BY_ID, "delete_session", "delete_user", "get_failure"])
@pytest.mark.parametrize("blank", ["", "  ", None, 5])
def test_blank_ids_are_refused(memory: Memory, runtime: FullRuntime, name: str, blank: Any) -> None:
    with pytest.raises(ValueError, match="must be a non-empty string"):
        getattr(memory, name)(blank)
    assert runtime.calls == []


def test_delete_user_never_takes_the_bound_user(memory: Memory, runtime: FullRuntime) -> None:
    assert memory.delete_user("u9").turns == 3
    assert runtime.last == {"user_id": "u9"}


def test_list_memories_narrows_by_agent_and_session_only_when_told(memory: Memory, runtime: FullRuntime) -> None:
    memory.list_memories()
    assert (runtime.last["user_id"], runtime.last["agent_id"], runtime.last["session_id"]) == ("u1", None, None)
    memory.list_memories(
        kind="semantic", agent_id="a", session_id="s", as_of="2026-03-01T12:00:00Z", include_superseded=True, cursor="c"
    )
    expected = {"kind": "semantic", "agent_id": "a", "session_id": "s", "as_of": NOW, "cursor": "c"}
    assert {key: runtime.last[key] for key in expected} == expected
    assert runtime.last["include_superseded"] is True


def test_a_wider_visibility_sets_the_ambient_user_aside_in_lists() -> None:
    class Ambient(FullRuntime, AmbientRuntime):
        present = U1

    runtime = Ambient()
    memory = over(runtime, runtime)
    memory.list_memories(visibility="org")
    assert runtime.last["user_id"] is None
    memory.list_memories()
    assert runtime.last["user_id"] == "u1"


@pytest.mark.parametrize("limit", [0, -1, 1001, True, 2.0, "5"])
def test_page_size_is_checked(memory: Memory, limit: Any) -> None:
    for call in (memory.list_memories, memory.list_turns, memory.list_failures):
        with pytest.raises(ValueError, match="limit must be an integer from 1 to 1000"):
            call(limit=limit)


def test_list_turns_takes_the_bound_session_unless_told(memory: Memory, runtime: FullRuntime) -> None:
    memory.list_turns()
    assert (runtime.last["session_id"], runtime.last["user_id"], runtime.last["limit"]) == ("s1", "u1", 100)
    memory.list_turns("s2", user_id="u2", limit=5, cursor="c")
    assert runtime.last == {"session_id": "s2", "user_id": "u2", "limit": 5, "cursor": "c"}


def test_update_passes_exactly_what_was_given(memory: Memory, runtime: FullRuntime) -> None:
    memory.update_memory("m1", content="new", timestamp="2026-03-01T12:00:00Z", fields={"steps": []})
    update = runtime.last["update"]
    assert update.model_fields_set == {"content", "timestamp", "fields"}
    assert (runtime.last["memory_id"], runtime.last["user_id"], update.timestamp) == ("m1", "u1", NOW)


def test_update_tells_none_from_not_given(memory: Memory, runtime: FullRuntime) -> None:
    memory.update_memory("m1", metadata=None, ttl_days=None)
    update = runtime.last["update"]
    assert update.model_fields_set == {"metadata", "ttl_days"}
    assert (update.metadata, update.ttl_days) == (None, None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "at least one change"),
        ({"ttl_days": 0}, "ttl_days must be above 0"),
        ({"timestamp": "soon"}, "timestamp is not a time"),
        ({"embedding": []}, "embedding must not be empty"),
        ({"fields": {"x": float("nan")}}, "fields: "),
        ({"content": 5}, "content"),
    ],
    ids=str,
)
def test_bad_updates_are_refused(memory: Memory, runtime: FullRuntime, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        memory.update_memory("m1", **changes)
    assert runtime.calls == []


def test_promote_is_for_the_user_of_the_handle_and_any_session(memory: Memory, runtime: FullRuntime) -> None:
    memory.promote()
    assert runtime.last == {"session_id": None, "user_id": "u1"}
    memory.promote("s2")
    assert runtime.last == {"session_id": "s2", "user_id": "u1"}


def test_waiting_takes_a_timeout_of_zero_or_more(memory: Memory, runtime: FullRuntime) -> None:
    memory.wait_until_idle(0, promote=False)
    assert runtime.last == {"timeout": 0, "promote": False}
    for bad in (-1, float("nan")):
        with pytest.raises(ValueError, match="timeout"):
            memory.wait_until_idle(bad)


def test_changes_are_those_of_the_project(memory: Memory, runtime: FullRuntime) -> None:
    assert memory.changes().next_cursor == "c"
    assert runtime.last == {"after": None, "limit": 100, "wait": 0.0}
    memory.changes(after="c", limit=1000, wait=20)
    assert runtime.last == {"after": "c", "limit": 1000, "wait": 20}


@pytest.mark.parametrize("bad", [-1, 20.1, float("nan"), True, "1"])
def test_waiting_for_changes_is_bounded(memory: Memory, runtime: FullRuntime, bad: Any) -> None:
    with pytest.raises(ValueError, match="wait must be 0 to 20 seconds"):
        memory.changes(wait=bad)
    assert runtime.calls == []


def test_forgetting_every_failure_must_be_said(memory: Memory, runtime: FullRuntime) -> None:
    with pytest.raises(ValueError, match="everything=True"):
        memory.discard_failures()
    assert runtime.calls == []
    memory.discard_failures(everything=True)
    memory.discard_failures(failure_class="RATE_LIMIT")
    memory.discard_failures(["f1"])
    assert [arguments for _, arguments in runtime.calls] == [
        {"ids": None, "failure_class": None},
        {"ids": None, "failure_class": "RATE_LIMIT"},
        {"ids": ["f1"], "failure_class": None},
    ]


def test_an_empty_choice_of_failures_is_none_of_them(memory: Memory, runtime: FullRuntime) -> None:
    assert (memory.retry_failures([]), memory.discard_failures([])) == (0, 0)
    assert runtime.calls == []


def test_failure_ids_are_a_list(memory: Memory) -> None:
    with pytest.raises(ValueError, match="list of failure ids"):
        memory.retry_failures("f1")
    assert memory.retry_failures(("f1", "f2")) == 1


def test_a_session_is_deleted_for_the_user_of_the_handle(memory: Memory, runtime: FullRuntime) -> None:
    assert memory.delete_session("s9").turns == 2
    assert runtime.last == {"session_id": "s9", "user_id": "u1"}
    memory.delete_session("s9", user_id="u2")
    assert runtime.last == {"session_id": "s9", "user_id": "u2"}


def test_operators_see_the_whole_project(memory: Memory, runtime: FullRuntime) -> None:
    assert memory.status().project_id == "default"
    memory.list_failures(failure_class="RATE_LIMIT", cursor="c")
    memory.get_failure("f1")
    assert [arguments for _, arguments in runtime.calls] == [
        {},
        {"failure_class": "RATE_LIMIT", "limit": 50, "cursor": "c"},
        {"failure_id": "f1"},
    ]
