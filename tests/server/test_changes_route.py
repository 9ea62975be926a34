"""The change feed over HTTP."""

from __future__ import annotations

import threading

import httpx
import pytest

from memoranda.runtime.hosting import EngineHost

FACT = {"kind": "semantic", "label": "home", "text": "Lives in Oslo.", "user_id": "u1"}


def save(http: httpx.Client, label: str) -> str:
    answer = http.post("/memories/bulk", json={"items": [{**FACT, "label": label}]})
    return str(answer.json()["results"][0]["id"])


@pytest.fixture
def http(own_http: httpx.Client) -> httpx.Client:
    return own_http


def test_changes_are_followed_from_next_to_next(http: httpx.Client) -> None:
    ids = [save(http, label) for label in ("one", "two", "three")]
    page = http.get("/changes", params={"limit": 2}).json()
    rest = http.get("/changes", params={"after": page["next"]}).json()
    assert [each["entity_id"] for each in page["changes"] + rest["changes"]] == ids
    assert [each["position"] for each in rest["changes"]] == [3]
    end = http.get("/changes", params={"after": rest["next"]}).json()
    assert end == {"changes": [], "next": rest["next"]}


def test_who_waits_is_answered_when_something_changes(http: httpx.Client) -> None:
    start = http.get("/changes").json()["next"]
    saver = threading.Timer(0.1, save, (http, "late"))
    saver.start()
    found = http.get("/changes", params={"after": start, "wait": 20}, timeout=30).json()["changes"]
    saver.join()
    assert [(each["entity"], each["operation"], each["user_id"]) for each in found] == [("memory", "created", "u1")]


def test_many_who_wait_leave_the_server_to_others(http: httpx.Client, host: EngineHost) -> None:
    start = http.get("/changes").json()["next"]
    answers: list[int] = []

    def wait() -> None:
        with httpx.Client(base_url=http.base_url, timeout=30) as client:
            answer = client.get("/changes", params={"after": start, "wait": 20})
            answers.append(len(answer.json()["changes"]))

    waiting = [threading.Thread(target=wait) for _ in range(60)]  # more than there are threads for handlers
    for thread in waiting:
        thread.start()
    assert http.get("/status").status_code == 200
    save(http, "one")
    for thread in waiting:
        thread.join()
    assert answers == [1] * 60


def test_waiting_is_bounded_and_cursors_are_checked(http: httpx.Client) -> None:
    assert http.get("/changes", params={"wait": 21}).status_code == 422
    assert http.get("/changes", params={"limit": 0}).status_code == 422
    refused = http.get("/changes", params={"after": "nonsense"})
    assert (refused.status_code, refused.json()["code"]) == (400, "CURSOR_INVALID")
