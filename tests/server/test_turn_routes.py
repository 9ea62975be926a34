"""Turns over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

TURN: dict[str, Any] = {"session_id": "s1", "user_id": "u1", "role": "user", "content": "hello"}


def record(http: httpx.Client, **changed: Any) -> dict[str, Any]:
    answer = http.post("/turns", json={**TURN, **changed})
    assert answer.status_code == 200, answer.text
    recorded: dict[str, Any] = answer.json()
    return recorded


def test_a_recorded_turn_has_its_number_in_the_session(http: httpx.Client) -> None:
    record(http)
    second = record(http)
    del second["id"]
    assert second == {"session_id": "s1", "turn_seq": 2, "acknowledged": True, "has_embedding": False}


def test_what_was_recorded_is_read_back(http: httpx.Client) -> None:
    given = {
        "agent_id": "a1",
        "role": "tool",
        "model_name": "m",
        "tool_calls": [{"id": "c1", "args": {"a": 1}}],
        "tool_call_id": "c1",
        "tool_name": "f",
        "is_error": True,
        "metadata": {"k": {"n": [1, 2]}},
    }
    recorded = record(http, **given, timestamp="2026-01-02T03:04:05+01:00")
    read = http.get(f"/turns/{recorded['id']}").json()
    assert {name: read[name] for name in given} == given
    assert read["event_time"] == "2026-01-02T02:04:05Z"


def test_the_same_key_gives_the_same_turn_and_other_content_is_a_conflict(http: httpx.Client) -> None:
    first = record(http, idempotency_key="k")
    again = record(http, idempotency_key="k")
    assert again == {**first, "repeated": True}
    answer = http.post("/turns", json={**TURN, "idempotency_key": "k", "content": "other"})
    assert (answer.status_code, answer.json()["code"]) == (409, "IDEMPOTENCY_CONFLICT")


def test_an_unbound_turn_is_refused_naming_what_is_missing(http: httpx.Client) -> None:
    answer = http.post("/turns", json={**TURN, "session_id": None, "user_id": " "})
    assert answer.status_code == 422
    assert answer.json()["detail"] == "body.session_id: is required; body.user_id: is required"
    assert http.get("/turns").json()["items"] == []


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"role": None}, "body.role: must be a string"),
        ({"role": 5}, "body.role: must be a string (got 5)"),
        ({"tool_calls": {}}, "body.tool_calls: must be a list"),
        ({"metadata": []}, "body.metadata: must be an object"),
        ({"ttl_days": 0}, "body.ttl_days: ttl_days must be above 0"),
        ({"timestamp": "soon"}, "body.timestamp: timestamp is not a time: 'soon'"),
    ],
)
def test_wrong_fields_are_named(http: httpx.Client, changed: dict[str, Any], told: str) -> None:
    answer = http.post("/turns", json={**TURN, **changed})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(told)


def test_what_the_contract_does_not_know_is_ignored(http: httpx.Client) -> None:
    record(http, org_id="", project_id="another", tokens=3, stop_reason="end")


def test_turns_in_bulk_are_stored_all_or_none(http: httpx.Client) -> None:
    stored = http.post("/turns/bulk", json={"turns": [TURN, {**TURN, "content": "two"}]}).json()
    assert [each["turn_seq"] for each in stored["results"]] == [1, 2]
    answer = http.post("/turns/bulk", json={"turns": [TURN, {**TURN, "user_id": ""}]})
    assert (answer.status_code, answer.json()["detail"]) == (422, "body.turns[1].user_id: is required")
    assert len(http.get("/turns").json()["items"]) == 2


def test_unknown_fields_of_our_own_routes_are_refused(http: httpx.Client) -> None:
    answer = http.post("/turns/bulk", json={"turns": [{**TURN, "colour": "red"}], "all": True})
    assert answer.status_code == 422
    assert set(answer.json()["detail"].split("; ")) == {
        "body.turns[0].colour: is not a field of this request",
        "body.all: is not a field of this request (got True)",
    }
    answer = http.get("/turns", params={"sesion_id": "s1"})
    assert answer.json()["detail"] == "query.sesion_id: is not a field of this request"


def test_pages_of_turns_follow_each_other_within_the_scope(http: httpx.Client) -> None:
    for number in range(3):
        record(http, content=str(number))
    record(http, user_id="u2")
    first = http.get("/turns", params={"user_id": "u1", "limit": 2}).json()
    second = http.get("/turns", params={"user_id": "u1", "limit": 2, "cursor": first["next_cursor"]}).json()
    assert [turn["content"] for turn in (*first["items"], *second["items"])] == ["0", "1", "2"]
    assert second["next_cursor"] is None
    assert http.get("/turns", params={"cursor": "nonsense"}).status_code == 400


def test_a_turn_of_another_user_is_not_found(http: httpx.Client) -> None:
    turn_id = record(http)["id"]
    for answer in (
        http.get(f"/turns/{turn_id}", params={"user_id": "u2"}),
        http.delete(f"/turns/{turn_id}", params={"user_id": "u2"}),
        http.get("/turns/none"),
    ):
        assert (answer.status_code, answer.json()["type"]) == (404, "NOT_FOUND")


def test_turns_sessions_and_users_are_deleted_with_a_report(http: httpx.Client) -> None:
    turn_id = record(http)["id"]
    record(http, session_id="s2")
    record(http, session_id="s3")
    assert http.delete(f"/turns/{turn_id}").json()["turns"] == 1
    assert http.delete("/sessions/s2", params={"user_id": "u1"}).json()["turns"] == 1
    assert http.delete("/users/u1").json()["turns"] == 1
    assert http.get("/turns").json()["items"] == []


def test_ids_may_hold_any_character(http: httpx.Client) -> None:
    record(http, session_id="a/b?c#d é%2F", user_id="..")
    assert http.delete("/sessions/a%2Fb%3Fc%23d%20%C3%A9%252F").json()["turns"] == 1
    record(http, user_id="a/../b")
    assert http.delete("/users/a%2F..%2Fb").json()["turns"] == 1
