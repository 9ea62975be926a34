"""What a response that is no success becomes, and how often it was asked for: every group of routes, every status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from memoranda import (
    MemoryAPIError,
    MemoryAuthError,
    MemoryBadRequestError,
    MemoryConfigError,
    MemoryConflictError,
    MemoryConnectionError,
    MemoryIdentityError,
    MemoryNotFoundError,
    MemoryNotProvisionedError,
    MemoryNotSupportedError,
    MemoryRouteNotFoundError,
    MemoryServerError,
    MemoryStoreError,
    SourceSpec,
)
from memoranda.sdk._wire import VERSION_HEADER
from tests.sdk.http.connecting import connected
from tests.sdk.http.scripted_server import Answer, ScriptedServer

Call: TypeAlias = Callable[[Any], Any]

CORE: dict[str, Call] = {
    "record_turn": lambda m: m.record_turn(role="user"),
    "build_context": lambda m: m.build_context("q"),
    "build_context_from_sources": lambda m: m.build_context_from_sources(
        "q", [SourceSpec.model_validate({"source": "semantic"})]
    ),
    "search_semantic": lambda m: m.search_semantic("q"),
    "search_episodes": lambda m: m.search_episodes("q"),
    "search_taxonomic": lambda m: m.search_taxonomic("q"),
    "discover_procedures": lambda m: m.discover_procedures("q"),
}
CREATE: dict[str, Call] = {
    "save_semantic": lambda m: m.save_semantic(text="T", label="L", user_id="u"),
    "save_episode": lambda m: m.save_episode(title="T", content="C", user_id="u", session_id="s"),
    "save_taxonomic": lambda m: m.save_taxonomic(domain="D", term="T", definition="X", user_id="u"),
    "save_procedure": lambda m: m.save_procedure(procedure="P", description="D", content="C", user_id="u"),
}
GET: dict[str, Call] = {
    "get_semantic": lambda m: m.get_semantic("L"),
    "get_taxonomic_term": lambda m: m.get_taxonomic_term("D", "T"),
    "get_procedure": lambda m: m.get_procedure("P"),
}
LIST: dict[str, Call] = {
    "list_episodes": lambda m: m.list_episodes(),
    "list_domains": lambda m: m.list_domains(),
}
SAVE: dict[str, Call] = {"save": lambda m: m.save("tickets", "C")}
RETRIEVE: dict[str, Call] = {"retrieve": lambda m: m.retrieve("tickets", "q")}
GROUPS = {"core": CORE, "create": CREATE, "get": GET, "list": LIST, "save": SAVE, "retrieve": RETRIEVE}
CALLS = CORE | CREATE | GET | LIST | SAVE | RETRIEVE
ONCE = {"create", "save"}

BAD, SERVER, AUTH = MemoryBadRequestError, MemoryServerError, MemoryAuthError
ABSENT, UNSUPPORTED, HINT = MemoryNotProvisionedError, MemoryNotSupportedError, MemoryRouteNotFoundError

# status, body, what it is for the most, what it is for single groups
MATRIX: dict[str, tuple[int, Any, type[Exception], dict[str, type[Exception] | None]]] = {
    "400": (400, {"detail": "no"}, BAD, {}),
    "400 of the gateway": (400, {"success": False, "error": "no", "code": "INVALID_REQUEST"}, BAD, {}),
    "400 no agent": (400, {"error": "no", "code": "AGENT_NOT_DEPLOYED"}, ABSENT, {}),
    "400 types off": (
        400,
        {"error": "custom_memory_types is not enabled on this deployment"},
        BAD,
        {"save": UNSUPPORTED, "retrieve": UNSUPPORTED},
    ),
    "401": (401, {"error": "no", "code": "UNAUTHORIZED"}, AUTH, {}),
    "403 whatever the code": (403, {"error": "no", "code": "AGENT_NOT_DEPLOYED"}, AUTH, {}),
    "404": (
        404,
        {"detail": "Not Found"},
        BAD,
        {"core": HINT, "get": None, "save": UNSUPPORTED, "retrieve": UNSUPPORTED},
    ),
    "404 of a proxy": (
        404,
        b"404 page not found\n",
        BAD,
        {"core": HINT, "get": None, "save": UNSUPPORTED, "retrieve": UNSUPPORTED},
    ),
    "404 type": (404, {"detail": "unknown custom memory type 'tickets'"}, BAD, {"core": HINT, "get": None}),
    "404 no runtime": (404, {"error": "no", "code": "PROJECT_RUNTIME_FAILED"}, ABSENT, {"get": None}),
    "405": (405, {"detail": "no"}, BAD, {"save": UNSUPPORTED, "retrieve": UNSUPPORTED}),
    **{str(status): (status, {"detail": "no"}, BAD, {}) for status in (406, 409, 413, 422, 429)},
    **{str(status): (status, {"detail": "no"}, SERVER, {}) for status in (500, 501, 502, 503, 504)},
    "503 no workspace": (503, {"error": "no", "code": "NO_WORKSPACE_ENDPOINT"}, ABSENT, {}),
    **{str(status): (status, b"", SERVER, {}) for status in (301, 304, 307)},
}


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("name", MATRIX)
def test_status_and_body_decide(server: ScriptedServer, name: str, group: str) -> None:
    status, body, usual, special = MATRIX[name]
    expected = special.get(group, usual)
    server.answer = Answer(status, body, {"Location": "/elsewhere", "Retry-After": "60"})
    attempts = 3 if status in (502, 503, 504) and group not in ONCE else 1
    for call in GROUPS[group].values():
        server.seen.clear()
        pauses: list[float] = []
        with connected(server.url, pauses=pauses) as memory:
            if expected is None:
                assert call(memory) is None
            else:
                with pytest.raises(expected) as caught:
                    call(memory)
                assert type(caught.value) is expected
        assert len(server.seen) == attempts
        assert [0.2 <= pauses[0] <= 0.4, 0.4 <= pauses[1] <= 0.6] == [True, True] if attempts == 3 else pauses == []


FIELDS: dict[str, tuple[int, Any, tuple[str, str | None, str | None]]] = {
    "error before detail": (400, {"error": "a", "detail": "b", "code": "X"}, ("a", "X", None)),
    "message before detail": (400, {"message": "a", "detail": "b"}, ("a", None, None)),
    "detail": (400, {"detail": "b", "code": ""}, ("b", None, None)),
    "a list of details": (422, b'{"detail": [{"loc": ["x"]}]}', ('{"detail": [{"loc": ["x"]}]}', None, None)),
    "nothing said": (400, {}, ("{}", None, None)),
    "text": (500, b"plain", ("plain", None, "plain")),
    "a list": (500, b'["x"]', ('["x"]', None, '["x"]')),
    "a number where a text belongs": (406, {"error": 406, "detail": "b"}, ("406", None, None)),
    "an object where a text belongs": (400, {"error": {"message": "é"}}, ('{"message": "é"}', None, None)),
}


@pytest.mark.parametrize("name", FIELDS)
def test_message_code_and_text_are_taken_from_the_body(server: ScriptedServer, name: str) -> None:
    status, body, (message, code, text) = FIELDS[name]
    server.answer = Answer(status, body)
    with connected(server.url) as memory:
        with pytest.raises(MemoryAPIError) as caught:
            memory.save_semantic(text="T", label="L", user_id="u")
    error = caught.value
    assert (error.message, error.code, error.response_text, error.status) == (message, code, text, status)
    assert str(error) == (f"{message} (code={code})" if code else message)


@pytest.mark.parametrize(("project", "remedy"), [(None, "set project_id"), ("p", "unset project_id")])
def test_a_route_that_is_not_there_tells_of_the_other_shape(
    server: ScriptedServer, project: str | None, remedy: str
) -> None:
    server.answer = Answer(404, {"detail": "Not Found", "code": "C"})
    with connected(server.url, project_id=project) as memory:
        with pytest.raises(MemoryRouteNotFoundError) as caught:
            memory.search_semantic("q")
    error = caught.value
    assert remedy in error.message
    assert "AGENTIC_MEMORY_PROJECT_ID" in error.message
    assert "wrong host" in error.message
    assert (error.status, error.code, error.response_text) == (404, "C", None)
    assert type(error.__cause__) is MemoryBadRequestError
    assert error.__cause__.message == "Not Found"


def test_custom_types_that_are_not_there_keep_the_cause(server: ScriptedServer) -> None:
    server.answer = Answer(404, {"detail": "Not Found"})
    with connected(server.url) as memory:
        with pytest.raises(MemoryNotSupportedError) as caught:
            memory.save("tickets", "C")
    assert isinstance(caught.value.__cause__, MemoryBadRequestError)
    assert caught.value.__cause__.status == 404


@pytest.mark.parametrize("name", CALLS)
def test_no_answer_is_a_connection_error(name: str) -> None:
    call = CALLS[name]
    pauses: list[float] = []
    with connected("http://127.0.0.1:1", pauses=pauses) as memory:
        with pytest.raises(MemoryConnectionError) as caught:
            call(memory)
    assert len(pauses) == (0 if name in CREATE | SAVE else 2)
    assert (caught.value.status, caught.value.code) == (None, None)
    assert type(caught.value.__cause__).__name__ == "ConnectError"


def test_a_url_without_scheme_is_a_connection_error() -> None:
    with connected("localhost:8080") as memory:
        with pytest.raises(MemoryConnectionError) as caught:
            memory.search_semantic("q")
    assert type(caught.value.__cause__).__name__ == "UnsupportedProtocol"


def test_a_token_with_spaces_around_it_is_not_trimmed(server: ScriptedServer) -> None:
    with connected(server.url, token=" t ") as memory:
        with pytest.raises(MemoryConnectionError, match="Illegal header"):
            memory.search_semantic("q")
    assert server.seen == []


def test_a_retry_sends_the_same_turn(server: ScriptedServer) -> None:
    server.answer = Answer(503, {"detail": "busy"})
    with connected(server.url) as memory:
        with pytest.raises(MemoryServerError):
            memory.record_turn(role="user", content="x")
    assert len({seen.raw for seen in server.seen}) == 1
    assert len(server.seen) == 3


def test_a_retry_that_is_answered_is_a_success(server: ScriptedServer) -> None:
    plausible = server.script

    def recovering(seen: Any) -> Answer:
        return Answer(502, b"bad gateway") if len(server.seen) < 3 else plausible(seen)

    server.script = recovering
    with connected(server.url) as memory:
        assert memory.record_turn(role="user").id == "t1"
    assert len(server.seen) == 3


# --- what our own server says

TOLD: dict[str, tuple[int, dict[str, str], type[Exception]]] = {
    "NOT_FOUND": (404, {"type": "NOT_FOUND", "code": "NOT_FOUND"}, MemoryNotFoundError),
    "CONFLICT": (409, {"type": "CONFLICT", "code": "IDEMPOTENCY_CONFLICT"}, MemoryConflictError),
    "STORE_ERROR": (503, {"type": "STORE_ERROR", "code": "STORE_ERROR"}, MemoryStoreError),
    "IDENTITY_REQUIRED": (400, {"type": "IDENTITY_REQUIRED"}, MemoryIdentityError),
    "CONFIG_INVALID": (400, {"type": "CONFIG_INVALID"}, MemoryConfigError),
    "ROUTE_NOT_FOUND": (404, {"type": "ROUTE_NOT_FOUND"}, MemoryRouteNotFoundError),
    "of a later version": (409, {"type": "SOMETHING_NEW", "code": "C"}, MemoryBadRequestError),
    "status first": (403, {"type": "NOT_FOUND"}, MemoryAuthError),
    "missing service first": (503, {"type": "SERVER_ERROR", "code": "NO_WORKSPACE_ENDPOINT"}, ABSENT),
}


@pytest.mark.parametrize("name", TOLD)
def test_our_server_names_the_class(server: ScriptedServer, name: str) -> None:
    status, body, expected = TOLD[name]
    server.answer = Answer(status, {"detail": "why", "error": "why"} | body)
    for call in (CORE["record_turn"], CREATE["save_semantic"], LIST["list_episodes"]):
        with connected(server.url) as memory:
            with pytest.raises(Exception, match=r"why|route not found") as caught:
                call(memory)
        assert type(caught.value) is expected
        if isinstance(caught.value, MemoryAPIError):
            assert (caught.value.status, caught.value.code) == (status, body.get("code"))


def test_update_existing_is_refused_for_another_server(server: ScriptedServer) -> None:
    for heard in (True, False):
        server.seen.clear()
        with connected(server.url) as memory:
            if heard:
                memory.search_semantic("q")
            with pytest.raises(MemoryNotSupportedError, match="update_existing"):
                memory.save_procedure(procedure="P", description="D", content="C", user_id="u", update_existing=True)
        assert [seen.target for seen in server.seen if "procedural" in seen.target] == []


def test_update_existing_without_identity_asks_nobody(server: ScriptedServer) -> None:
    with connected(server.url) as memory:
        with pytest.raises(MemoryIdentityError):
            memory.save_procedure(procedure="P", description="D", content="C", update_existing=True)
    assert server.seen == []


@pytest.mark.parametrize("heard", [True, False])
def test_update_existing_goes_to_our_server(server: ScriptedServer, heard: bool) -> None:
    plausible = server.script
    server.script = lambda seen: Answer(200, plausible(seen).body, {VERSION_HEADER: "1"})
    with connected(server.url) as memory:
        if heard:
            memory.search_semantic("q")
        memory.save_procedure(procedure="P", description="D", content="C", user_id="u", update_existing=True)
    assert server.seen[0].target == ("/api/v1/memory/search" if heard else "/health/live")
    assert server.last.body["update_existing"] is True


@pytest.mark.parametrize("status", [500, 503])
def test_a_server_that_cannot_say_whose_it_is_is_not_taken_for_another(server: ScriptedServer, status: int) -> None:
    server.answer = Answer(status, {"detail": "busy"})
    with connected(server.url) as memory:
        with pytest.raises(MemoryServerError, match="busy"):
            memory.save_procedure(procedure="P", description="D", content="C", user_id="u", update_existing=True)
