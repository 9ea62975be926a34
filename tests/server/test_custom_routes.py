"""Custom types over HTTP."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from tests.server.live import open_host, serving

TICKET: dict[str, Any] = {"content": "Printer jams", "tags": {"queue": "it", "profile": {"location": "Oslo"}}}


def retrieve(http: httpx.Client, **body: Any) -> list[str]:
    answer = http.post("/types/tickets/retrieve", json={"query": "printer", **body})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["count"] == len(told["results"])
    return [each["content"] for each in told["results"]]


def test_a_ticket_is_saved_with_its_tags_and_found_by_them(http: httpx.Client) -> None:
    saved = http.post("/types/tickets", json={**TICKET, "contextual_metadata": {"k": [1]}}).json()
    assert saved["type"] == "tickets"
    assert saved["tags"] == {"queue": "it", "profile.location": "Oslo"}
    (found,) = http.post("/types/tickets/retrieve", json={"query": "printer", "tags": {"queue": "it"}}).json()[
        "results"
    ]
    assert (found["id"], found["contextual_metadata"], found["user_id"]) == (saved["id"], {"k": [1]}, None)
    assert retrieve(http, tags={"queue": "hr"}) == []


def test_without_an_identity_no_private_record_of_a_user_is_found(http: httpx.Client) -> None:
    for content, fields in (
        ("printer of ada", {"user_id": "ada"}),
        ("printer of ada, shown", {"user_id": "ada", "visibility": "org"}),
        ("printer of nobody", {}),
    ):
        assert http.post("/types/tickets", json={"content": content, **fields}).status_code == 200
    seen_by_all = {"printer of nobody", "printer of ada, shown"}
    assert set(retrieve(http)) == set(retrieve(http, user_id=" ")) == seen_by_all
    assert retrieve(http, visibility="private") == []
    assert set(retrieve(http, user_id="ada")) == {"printer of ada", "printer of ada, shown"}
    assert len(retrieve(http, top_k=1)) == 1


def test_namespace_and_key_name_a_record(http: httpx.Client) -> None:
    named = {"content": "printer one", "namespace": "n", "key": "k", "user_id": "ada"}
    first = http.post("/types/tickets", json=named).json()["id"]
    assert http.post("/types/tickets", json={**named, "content": "printer two"}).json()["id"] == first
    assert retrieve(http, user_id="ada") == ["printer two"]
    assert http.post("/types/tickets", json={"content": "c", "key": "k"}).status_code == 400


@pytest.mark.parametrize("name", ["cases", "semantic", "Tickets", "tickets%0A", "a%2Fb"])
def test_an_unknown_type_is_told_in_the_words_that_clients_know(http: httpx.Client, name: str) -> None:
    for path, body in ((f"/types/{name}", {"content": "c"}), (f"/types/{name}/retrieve", {"query": "q"})):
        answer = http.post(path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (404, "UNKNOWN_MEMORY_TYPE"), answer.text
        assert "unknown custom memory type" in answer.json()["detail"]
    assert http.get("/memories").json()["items"] == []


def test_a_project_without_types_says_so_in_the_words_that_clients_know(tmp_path: Path) -> None:
    with (
        closing(open_host(tmp_path, config={})) as host,
        serving(create_app(host, OpenGatekeeper(), ServerSettings())) as url,
    ):
        for path, body in (("tickets", TICKET), ("tickets/retrieve", {"query": "q"})):
            answer = httpx.post(f"{url}/api/v1/memory/types/{path}", json=body)
            assert (answer.status_code, answer.json()["type"]) == (400, "NOT_SUPPORTED")
            assert "custom_memory_types is not enabled" in answer.json()["error"]


@pytest.mark.parametrize(
    "tags",
    [
        {"colour": "red"},
        {"queue": ""},
        {"queue": None},
        {"queue": [1]},
        {"queue": {"$gt": 1}},
        {"profile": {}},
        {"profile": {"location": 1}, "profile.location": 2},
        {"queue": 2**63},
        {"": 1},
    ],
)
def test_tags_that_cannot_be_are_refused(http: httpx.Client, tags: dict[str, Any]) -> None:
    for path, body in (("/types/tickets", {"content": "c"}), ("/types/tickets/retrieve", {"query": "q"})):
        answer = http.post(path, json={**body, "tags": tags})
        assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_TAGS")
    assert retrieve(http) == []


@pytest.mark.parametrize("top_k", [0, 101])
def test_limits_are_named(http: httpx.Client, top_k: int) -> None:
    answer = http.post("/types/tickets/retrieve", json={"query": "q", "top_k": top_k})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("body.top_k: must be at")
