"""Memories by id, in pages, in bulk and through time, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

FACT: dict[str, Any] = {"kind": "semantic", "label": "home", "text": "Oslo", "user_id": "ada"}


def save(http: httpx.Client, *items: dict[str, Any]) -> list[dict[str, Any]]:
    answer = http.post("/memories/bulk", json={"items": list(items)})
    assert answer.status_code == 200, answer.text
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def test_items_of_all_kinds_are_saved_in_order(http: httpx.Client) -> None:
    results = save(
        http,
        FACT,
        {"kind": "custom", "memory_type": "tickets", "content": "printer"},
        {"kind": "episodic", "title": "t", "content": "c", "user_id": "ada"},
        {"kind": "taxonomic", "domain": "d", "term": "t", "definition": "x", "user_id": "ada"},
        {"kind": "procedural", "procedure": "p", "description": "d", "content": "c", "user_id": "ada"},
    )
    assert [each["index"] for each in results] == [0, 1, 2, 3, 4]
    assert [each["kind"] for each in results] == ["semantic", "tickets", "episodic", "taxonomic", "procedural"]
    assert len(http.get("/memories").json()["items"]) == 5


@pytest.mark.parametrize(
    ("items", "status", "told"),
    [
        ([FACT, {**FACT, "user_id": None}], 422, "body.items[1].user_id: is required"),
        ([{**FACT, "kind": "odd"}], 422, "body.items[0]: has the 'kind' 'odd'"),
        ([{"label": "x"}], 422, "body.items[0]: needs the field 'kind'"),
        ([{**FACT, "colour": "red"}], 422, "body.items[0].semantic.colour: is not a field of this request"),
        ([FACT, {"kind": "custom", "memory_type": "cases", "content": "c"}], 404, "item 1: unknown custom memory type"),
        (
            [{"kind": "custom", "memory_type": "semantic", "content": "c"}],
            404,
            "item 0: unknown custom memory type 'semantic'",
        ),
        ("x", 422, "body.items: must be a list"),
    ],
)
def test_one_bad_item_stores_none(http: httpx.Client, items: Any, status: int, told: str) -> None:
    answer = http.post("/memories/bulk", json={"items": items})
    assert answer.status_code == status
    assert answer.json()["detail"].startswith(told)
    assert http.get("/memories").json()["items"] == []


def test_pages_are_narrowed_and_follow_each_other(http: httpx.Client) -> None:
    save(http, *({**FACT, "label": str(number), "metadata": {"tier": "gold"}} for number in range(3)))
    save(http, {**FACT, "user_id": "bob"}, {**FACT, "label": "other"})
    query = {
        "kind": "semantic",
        "user_id": "ada",
        "metadata_filter": json.dumps({"metadata.tier": "gold"}),
        "limit": "2",
    }
    first = http.get("/memories", params=query).json()
    second = http.get("/memories", params={**query, "cursor": first["next_cursor"]}).json()
    assert [each["label"] for each in (*first["items"], *second["items"])] == ["2", "1", "0"]
    foreign = http.get("/memories", params={**query, "user_id": "bob", "cursor": first["next_cursor"]})
    assert (foreign.status_code, foreign.json()["code"]) == (400, "CURSOR_INVALID")


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ({"metadata_filter": "{"}, 422, "query.metadata_filter: is not JSON"),
        ({"metadata_filter": "[1]"}, 422, "query.metadata_filter: must be the JSON text of an object"),
        ({"limit": "1001"}, 422, "query.limit: must be at most 1000"),
        ({"kindd": "semantic"}, 422, "query.kindd: is not a field of this request"),
        ({"include_superseded": "maybe"}, 422, "query.include_superseded: must be true or false"),
        ({"kind": "cases"}, 404, "unknown custom memory type 'cases'"),
    ],
)
def test_queries_that_cannot_be_are_refused(http: httpx.Client, query: dict[str, str], status: int, told: str) -> None:
    answer = http.get("/memories", params=query)
    assert answer.status_code == status
    assert answer.json()["detail"].startswith(told)


def test_a_memory_is_changed_and_its_past_stays(http: httpx.Client) -> None:
    (saved,) = save(http, {**FACT, "timestamp": "2020-01-01", "metadata": {"a": 1}})
    path = f"/memories/{saved['id']}"
    changed = http.patch(path, json={"content": "Bergen", "metadata": None, "timestamp": "2024-01-01"}).json()
    assert (changed["content"], changed["metadata"], changed["version"]) == ("Bergen", None, 2)
    assert http.get(path).json()["content"] == "Bergen"
    assert http.get(path, params={"as_of": "2022-01-01"}).json()["content"] == "Oslo"
    assert [state["content"] for state in http.get(f"{path}/history").json()["entries"]] == ["Oslo", "Bergen"]


def test_a_change_names_known_fields(http: httpx.Client) -> None:
    (saved,) = save(http, FACT)
    answer = http.patch(f"/memories/{saved['id']}", json={"text": "Bergen"})
    assert answer.json()["detail"] == "body.text: is not a field of this request"


def test_a_memory_is_deleted_with_a_report(http: httpx.Client) -> None:
    (saved,) = save(http, FACT)
    path = f"/memories/{saved['id']}"
    assert http.delete(path).json()["memories"] == 1
    for answer in (http.get(path), http.delete(path), http.patch(path, json={"content": "x"})):
        assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")
    assert http.get(f"{path}/history").json() == {"entries": []}


def test_another_user_neither_sees_nor_changes_a_private_memory(http: httpx.Client) -> None:
    private, shown = save(http, FACT, {**FACT, "label": "other", "visibility": "org"})
    bob = {"user_id": "bob"}
    assert http.get(f"/memories/{private['id']}", params=bob).status_code == 404
    assert http.delete(f"/memories/{private['id']}", params=bob).status_code == 404
    assert http.get(f"/memories/{shown['id']}", params=bob).status_code == 200
    answer = http.delete(f"/memories/{shown['id']}", params=bob)
    assert (answer.status_code, answer.json()["code"]) == (403, "NOT_OWNER")
