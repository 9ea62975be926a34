"""Memoranda's own calls over HTTP: the requests they make, and what their answers become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from memoranda import (
    ChangePage,
    DeletionReport,
    FailurePage,
    MemoryBadRequestError,
    MemoryEntry,
    MemoryNotFoundError,
    MemoryNotSupportedError,
    MemoryPage,
    MemoryRequestContext,
    MemoryRouteNotFoundError,
    MemoryServerError,
    StatusReport,
    TurnPage,
)
from tests.sdk.http.connecting import connected
from tests.sdk.http.scripted_server import Answer, ScriptedServer
from tests.sdk.recording import entry

WHO = MemoryRequestContext(user_id="u1", agent_id="a1", session_id="s1")
ENTRY: dict[str, Any] = entry().model_dump(mode="json")
TURN = {
    "id": "t",
    "session_id": "s",
    "turn_seq": 1,
    "role": "user",
    "event_time": "2026-03-01T12:00:00Z",
    "created_at": "2026-03-01T12:00:00Z",
}
FAILURE = {
    "id": "f",
    "job_kind": "extract",
    "failure_class": "outage",
    "reason": "r",
    "attempts": 1,
    "first_seen": "2026-03-01T12:00:00Z",
    "last_seen": "2026-03-01T12:00:00Z",
    "retryable": True,
}
STATUS = {"project_id": "p", "analyser": "a", "schema_version": "1", "store": "s"}


class Own(NamedTuple):
    """A call, the request it makes, an answer, and whether the request may be sent again."""

    call: Callable[[Any], Any]
    request: str
    body: Any
    answer: Any
    again: bool = True


OWN: dict[str, Own] = {
    "save_many": Own(
        lambda m: m.save_many([{"kind": "semantic", "text": "T", "label": "L", "metadata": {"a": None}}]),
        "POST /memories/bulk",
        {
            "items": [
                {
                    "kind": "semantic",
                    "text": "T",
                    "label": "L",
                    "source": "agent",
                    "visibility": "private",
                    "upsert": True,
                    "user_id": "u1",
                    "agent_id": "a1",
                    "metadata": {"a": None},
                }
            ]
        },
        {"results": []},
        again=False,
    ),
    "get_memory": Own(
        lambda m: m.get_memory("a/b é", as_of="2026-03-01"),
        "GET /memories/a%2Fb%20%C3%A9?user_id=u1&as_of=2026-03-01T00%3A00%3A00%2B00%3A00",
        None,
        ENTRY,
    ),
    "list_memories": Own(
        lambda m: m.list_memories(metadata_filter={"metadata.x": 1}, include_superseded=True, limit=7, cursor="c=="),
        "GET /memories?user_id=u1&metadata_filter=%7B%22metadata.x%22%3A+1%7D&include_superseded=true&limit=7"
        "&cursor=c%3D%3D",
        None,
        {"items": [ENTRY]},
    ),
    "update_memory": Own(
        lambda m: m.update_memory("..", content="C", metadata=None, ttl_days=None, fields={"a": 1}),
        "PATCH /memories/%2E%2E?user_id=u1",
        {"content": "C", "metadata": None, "ttl_days": None, "fields": {"a": 1}},
        ENTRY,
        again=False,
    ),
    "delete_memory": Own(
        lambda m: m.delete_memory("m"), "DELETE /memories/m?user_id=u1", None, {"memories": 1}, again=False
    ),
    "history": Own(lambda m: m.history("m"), "GET /memories/m/history?user_id=u1", None, {"entries": [ENTRY]}),
    "list_turns": Own(
        lambda m: m.list_turns(), "GET /turns?session_id=s1&user_id=u1&limit=100", None, {"items": [TURN]}
    ),
    "get_turn": Own(lambda m: m.get_turn("t"), "GET /turns/t?user_id=u1", None, TURN),
    "delete_turn": Own(lambda m: m.delete_turn("t"), "DELETE /turns/t?user_id=u1", None, {"turns": 1}, again=False),
    "delete_session": Own(
        lambda m: m.delete_session("s/1"), "DELETE /sessions/s%2F1?user_id=u1", None, {"turns": 1}, again=False
    ),
    "delete_user": Own(lambda m: m.delete_user("u"), "DELETE /users/u", None, {"turns": 1}, again=False),
    "promote": Own(
        lambda m: m.promote("s"), "POST /promote", {"session_id": "s", "user_id": "u1"}, {"results": []}, again=False
    ),
    "status": Own(lambda m: m.status(), "GET /status", None, STATUS),
    "changes": Own(
        lambda m: m.changes(after="c=", wait=1.5),
        "GET /changes?after=c%3D&limit=100&wait=1.5",
        None,
        {
            "changes": [
                {
                    "position": 1,
                    "entity": "memory",
                    "entity_id": "m",
                    "operation": "created",
                    "at": "2026-03-01T12:00:00Z",
                }
            ],
            "next": "d",
        },
    ),
    "list_failures": Own(
        lambda m: m.list_failures(failure_class="outage"),
        "GET /failures?failure_class=outage&limit=50",
        None,
        {"items": [FAILURE]},
    ),
    "get_failure": Own(lambda m: m.get_failure("f"), "GET /failures/f", None, FAILURE),
    "retry_failures": Own(lambda m: m.retry_failures(), "POST /failures/retry", {}, {"count": 2}, again=False),
    "discard_failures": Own(
        lambda m: m.discard_failures(["f"], failure_class="outage"),
        "POST /failures/discard",
        {"ids": ["f"], "failure_class": "outage"},
        {"count": 1},
        again=False,
    ),
}
RETURNED: dict[str, type] = {
    "changes": ChangePage,
    "get_memory": MemoryEntry,
    "list_memories": MemoryPage,
    "list_turns": TurnPage,
    "delete_user": DeletionReport,
    "status": StatusReport,
    "list_failures": FailurePage,
    "retry_failures": int,
    "history": list,
}


@pytest.mark.parametrize("name", OWN)
def test_the_request_and_its_answer(server: ScriptedServer, name: str) -> None:
    own = OWN[name]
    server.answer = Answer(200, own.answer)
    with connected(server.url, project_id="p") as memory:
        call = own.call
        result = call(memory.bind(WHO))
    (seen,) = server.seen
    assert f"{seen.method} {seen.target}" == own.request.replace(" /", " /api/v1/projects/p/memory/")
    assert (seen.body if seen.raw else None) == own.body
    assert isinstance(result, RETURNED.get(name, object))


@pytest.mark.parametrize("name", OWN)
def test_only_what_may_be_repeated_is(server: ScriptedServer, name: str) -> None:
    call = OWN[name].call
    server.answer = Answer(503, {"detail": "busy"})
    with connected(server.url) as memory:
        with pytest.raises(MemoryServerError):
            call(memory.bind(WHO))
    assert len(server.seen) == (3 if OWN[name].again else 1)


@pytest.mark.parametrize("name", OWN)
def test_another_service_has_none_of_them(server: ScriptedServer, name: str) -> None:
    call = OWN[name].call
    server.answer = Answer(404, {"detail": "Not Found"})
    with connected(server.url) as memory:
        with pytest.raises(MemoryNotSupportedError, match="Memoranda server") as caught:
            call(memory.bind(WHO))
    assert isinstance(caught.value.__cause__, MemoryBadRequestError)


@pytest.mark.parametrize("name", OWN)
def test_our_server_says_what_is_not_there(server: ScriptedServer, name: str) -> None:
    call = OWN[name].call
    server.answer = Answer(404, {"detail": "no such", "type": "NOT_FOUND", "code": "NOT_FOUND"})
    with connected(server.url) as memory:
        if name in ("get_memory", "get_turn", "get_failure"):
            assert call(memory.bind(WHO)) is None
        else:
            with pytest.raises(MemoryNotFoundError, match="no such"):
                call(memory.bind(WHO))


def test_a_project_in_the_wrong_place_is_named(server: ScriptedServer) -> None:
    server.answer = Answer(404, {"detail": "no route", "type": "ROUTE_NOT_FOUND", "code": "ROUTE_NOT_FOUND"})
    with connected(server.url) as memory:
        with pytest.raises(MemoryRouteNotFoundError, match="project_id"):
            memory.status()


def test_turns_in_bulk_have_keys_that_stay(server: ScriptedServer) -> None:
    server.answer = Answer(503, {"detail": "busy"})
    turns = [{"role": "user", "content": "x"}, {"role": "user", "content": "y", "idempotency_key": "mine"}]
    with connected(server.url) as memory:
        with pytest.raises(MemoryServerError):
            memory.bind(WHO).record_turns(turns)
    assert len(server.seen) == 3
    assert len({seen.raw for seen in server.seen}) == 1
    first, second = server.last.body["turns"]
    assert (first["user_id"], first["agent_id"], first["session_id"]) == ("u1", "a1", "s1")
    assert first["idempotency_key"]
    assert second["idempotency_key"] == "mine"


def test_waiting_asks_until_the_server_is_idle(server: ScriptedServer) -> None:
    server.script = lambda seen: Answer(200, {"idle": len(server.seen) == 3})
    with connected(server.url) as memory:
        memory.wait_until_idle()
    assert [seen.body for seen in server.seen] == [
        {"timeout": 20.0, "promote": True},
        {"timeout": 20.0, "promote": False},
        {"timeout": 20.0, "promote": False},
    ]


def test_waiting_ends_with_its_time(server: ScriptedServer) -> None:
    server.answer = Answer(200, {"idle": False})
    with connected(server.url) as memory:
        with pytest.raises(TimeoutError, match="goes on"):
            memory.wait_until_idle(timeout=0, promote=False)
    assert [seen.body for seen in server.seen] == [{"timeout": 0.0, "promote": False}]


def test_a_list_that_is_none_is_refused(server: ScriptedServer) -> None:
    server.answer = Answer(200, {"entries": None})
    with connected(server.url) as memory:
        with pytest.raises(MemoryServerError, match="entries"):
            memory.history("m")
