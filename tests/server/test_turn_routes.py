"""Turns over HTTP."""

from __future__ import annotations

import httpx

TURN = {"session_id": "s1", "user_id": "u1", "role": "user", "content": "hello"}


def test_a_recorded_turn_has_its_number_in_the_session(http: httpx.Client) -> None:
    first, second = (http.post("/turns", json=TURN) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert {key: value for key, value in second.json().items() if key != "id"} == {
        "session_id": "s1",
        "turn_seq": 2,
        "acknowledged": True,
        "has_embedding": False,
    }


def test_an_unbound_turn_is_refused_naming_what_is_missing(http: httpx.Client) -> None:
    answer = http.post("/turns", json={**TURN, "session_id": None, "user_id": " "})
    assert answer.status_code == 422
    assert answer.json()["detail"] == "body.session_id: is required; body.user_id: is required"
