"""The life of a handle over HTTP, and the identity its requests carry."""

from __future__ import annotations

import pytest

from memoranda import Memory, MemoryBadRequestError, MemoryRequestContext
from tests.sdk.http.scripted_server import ScriptedServer


def test_a_handle_made_by_its_settings_talks_to_the_service(server: ScriptedServer) -> None:
    with Memory(base_url=server.url, project_id="p", service_account_token="t") as memory:
        assert memory.record_turn(role="user").id == "t1"
    assert server.last.target == "/api/v1/projects/p/memory/turns"
    assert server.last.header("Authorization") == "Bearer t"


def test_nothing_is_sent_before_the_first_call(server: ScriptedServer) -> None:
    with Memory(base_url=server.url):
        pass
    assert server.seen == []


def test_closing_any_handle_closes_all(server: ScriptedServer) -> None:
    memory = Memory(base_url=server.url)
    bound = memory.bind(MemoryRequestContext(user_id="u"))
    bound.search_semantic("q")
    bound.close()
    bound.close()
    with pytest.raises(RuntimeError, match="closed"):
        memory.search_semantic("q")
    assert len(server.seen) == 1


def test_the_call_comes_before_what_is_bound(server: ScriptedServer) -> None:
    with Memory(base_url=server.url) as memory:
        bound = memory.bind(MemoryRequestContext(user_id="bound", session_id="s", agent_id="a"))
        bound.search_semantic("q")
        bound.search_semantic("q", "called")
        bound.search_semantic("q", " ")
        bound.search_semantic("q", visibility="org")
        bound.bind(MemoryRequestContext(session_id="s2")).build_context("q")
    assert [seen.body["user_id"] for seen in server.seen] == ["bound", "called", "bound", "bound", None]
    assert server.last.body["session_id"] == "s2"


def test_a_value_that_json_has_no_form_for_is_not_sent(server: ScriptedServer) -> None:
    with Memory(base_url=server.url) as memory:
        with pytest.raises(TypeError):
            memory.build_context("q", metadata_filter={"metadata.x": {1}})
        with pytest.raises(ValueError, match="JSON"):
            memory.discover_procedures("q", metadata_filter={"metadata.x": float("nan")})
    assert server.seen == []


def test_half_a_character_is_replaced_in_texts_and_refused_in_ids(server: ScriptedServer) -> None:
    with Memory(base_url=server.url) as memory:
        memory.record_turn(role="user", content="lone \ud800, pair \ud83d\ude00")
        for who in (MemoryRequestContext(user_id="u\ud800"), MemoryRequestContext(session_id="s\udfff")):
            with pytest.raises(MemoryBadRequestError, match="unpaired surrogate"):
                memory.bind(who).record_turn(role="user", content="x")
        with pytest.raises(MemoryBadRequestError, match="user_id"):
            memory.record_turns([{"role": "user", "user_id": "\ud800", "session_id": "s"}])
    (seen,) = server.seen
    assert seen.body["content"] == "lone \ufffd, pair \U0001f600"


def test_a_token_with_other_letters_is_refused(server: ScriptedServer) -> None:
    with pytest.raises(UnicodeEncodeError):
        Memory(base_url=server.url, service_account_token="tökén").search_semantic("q")
    assert server.seen == []
