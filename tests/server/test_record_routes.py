"""Typed records over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

FACT: dict[str, Any] = {"org_id": "", "project_id": "", "label": "home", "text": "Oslo", "user_id": "ada"}
EPISODE: dict[str, Any] = {"title": "Move", "content": "moved", "user_id": "ada", "session_id": "s1"}
TERM: dict[str, Any] = {"domain": "rail", "term": "EMU", "definition": "a train", "user_id": "ada"}
PROCEDURE: dict[str, Any] = {"procedure": "refund", "description": "d", "content": "c", "user_id": "ada"}
SAVES = [("/semantic", FACT), ("/episodic", EPISODE), ("/taxonomic", TERM), ("/procedural", PROCEDURE)]


def save(http: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    saved: dict[str, Any] = answer.json()
    return saved


def entries(http: httpx.Client, path: str, **query: Any) -> list[dict[str, Any]]:
    answer = http.get(path, params={"org_id": "", "project_id": "", **query})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["count"] == len(told["entries"])
    found: list[dict[str, Any]] = told["entries"]
    return found


@pytest.mark.parametrize(("path", "body"), SAVES)
def test_what_is_saved_is_told_and_listed_with_id_and_metadata(
    http: httpx.Client, path: str, body: dict[str, Any]
) -> None:
    saved = save(http, path, {**body, "metadata": {"a": [1]}})
    assert saved["has_embedding"] is saved["acknowledged"] is True
    assert {name: saved[name] for name in saved.keys() & body.keys()} == {
        name: body[name] for name in saved.keys() & body.keys()
    }
    (entry,) = entries(http, path)
    assert (entry["id"], entry["metadata"], entry["user_id"]) == (saved["id"], {"a": [1]}, "ada")


@pytest.mark.parametrize(("path", "body"), SAVES)
def test_a_record_without_owner_is_refused(http: httpx.Client, path: str, body: dict[str, Any]) -> None:
    answer = http.post(path, json={**body, "user_id": None})
    assert (answer.status_code, answer.json()["detail"]) == (422, "body.user_id: is required")


@pytest.mark.parametrize(("path", "body"), SAVES)
def test_null_stands_for_the_default_of_every_optional_field(
    http: httpx.Client, path: str, body: dict[str, Any]
) -> None:
    optional = dict.fromkeys(
        ("visibility", "metadata", "agent_id", "source", "upsert", "tags", "steps", "related_terms")
    )
    save(http, path, {**optional, **body})
    (entry,) = entries(http, path)
    assert entry["visibility"] == ("org" if path == "/taxonomic" else "private")


def test_an_upsert_replaces_the_fact_of_the_label(http: httpx.Client) -> None:
    first = save(http, "/semantic", {**FACT, "upsert": True})
    second = save(http, "/semantic", {**FACT, "upsert": True, "text": "Bergen"})
    assert first["id"] == second["id"]
    (entry,) = entries(http, "/semantic", label="home", user_id="ada")
    assert entry["text"] == "Bergen"
    assert entries(http, "/semantic", label="Home") == []


def test_an_older_name_of_the_metadata_is_understood(http: httpx.Client) -> None:
    save(http, "/semantic", {**FACT, "contextual_metadata": {"a": 1}})
    assert entries(http, "/semantic", label="home")[0]["metadata"] == {"a": 1}


def test_an_episode_needs_a_session(http: httpx.Client) -> None:
    answer = http.post("/episodic", json={**EPISODE, "session_id": " ", "user_id": ""})
    assert answer.json()["detail"] == "body.user_id: is required; body.session_id: is required"


def test_episodes_are_listed_latest_first_and_at_most_as_many_as_asked_for(http: httpx.Client) -> None:
    for title in ("one", "two", "three"):
        save(http, "/episodic", {**EPISODE, "title": title, "summary_text": "s"})
    assert [entry["title"] for entry in entries(http, "/episodic", limit=2)] == ["three", "two"]
    assert entries(http, "/episodic", session_id="other") == []
    for limit in ("0", "1001", "x"):
        assert http.get("/episodic", params={"limit": limit}).json()["detail"].startswith("query.limit: must be")


def test_a_domain_is_given_whole(http: httpx.Client) -> None:
    for term in ("EMU", "DMU"):
        save(http, "/taxonomic", {**TERM, "term": term})
    save(http, "/taxonomic", {**TERM, "domain": "sea"})
    assert {entry["term"] for entry in entries(http, "/taxonomic", domain="rail")} == {"EMU", "DMU"}
    assert http.get("/taxonomic/domains").json() == {"domains": ["rail", "sea"]}
    assert http.get("/taxonomic/domains", params={"visibility": "private"}).json() == {"domains": []}


def test_a_second_procedure_of_a_name_is_a_conflict_unless_it_replaces(http: httpx.Client) -> None:
    save(http, "/procedural", PROCEDURE)
    answer = http.post("/procedural", json=PROCEDURE)
    assert (answer.status_code, answer.json()["code"]) == (409, "PROCEDURE_EXISTS")
    save(http, "/procedural", {**PROCEDURE, "content": "new", "update_existing": True})
    (entry,) = entries(http, "/procedural", procedure="refund", include_deleted=False)
    assert entry["content"] == "new"
    assert entries(http, "/procedural", procedure="other") == []


def test_a_read_in_the_past(http: httpx.Client) -> None:
    save(http, "/semantic", {**FACT, "timestamp": "2020-01-01", "upsert": True})
    save(http, "/semantic", {**FACT, "timestamp": "2024-01-01", "text": "Bergen", "upsert": True})
    assert entries(http, "/semantic", label="home", as_of="2022-01-01")[0]["text"] == "Oslo"
    assert entries(http, "/semantic", as_of="2022-01-01")[0]["text"] == "Oslo"


def test_a_lifetime_and_a_key_are_honoured(http: httpx.Client) -> None:
    first = save(http, "/semantic", {**FACT, "ttl_days": 1, "idempotency_key": "k"})
    assert save(http, "/semantic", {**FACT, "ttl_days": 1, "idempotency_key": "k"})["id"] == first["id"]
    assert entries(http, "/semantic", label="home")[0]["expires_at"] is not None


def test_an_unknown_visibility_is_refused(http: httpx.Client) -> None:
    answer = http.post("/semantic", json={**FACT, "visibility": "public"})
    assert answer.status_code in (400, 422)
    assert "'public'" in answer.json()["detail"]
    assert http.get("/semantic", params={"visibility": "public"}).status_code == 400


# --- one record


def test_facts_and_procedures_are_read_and_changed_by_id(http: httpx.Client) -> None:
    fact = save(http, "/semantic", FACT)["id"]
    changed = http.patch(f"/semantic/{fact}", json={"text": "Bergen", "source": None, "visibility": "org"}).json()
    assert (changed["text"], changed["visibility"], changed["id"]) == ("Bergen", "org", fact)
    assert http.get(f"/semantic/{fact}").json() == changed
    procedure = save(http, "/procedural", PROCEDURE)["id"]
    changed = http.patch(f"/procedural/{procedure}", json={"description": "e", "tags": ["t"], "metadata": {"a": 1}})
    assert {name: changed.json()[name] for name in ("description", "tags", "metadata", "content")} == {
        "description": "e",
        "tags": ["t"],
        "metadata": {"a": 1},
        "content": "c",
    }


def test_an_id_of_another_kind_or_of_nobody_is_not_found(http: httpx.Client) -> None:
    fact = save(http, "/semantic", FACT)["id"]
    for answer in (
        http.get(f"/procedural/{fact}"),
        http.patch(f"/procedural/{fact}", json={"content": "x"}),
        http.get("/semantic/none"),
        http.get(f"/semantic/{fact}", params={"user_id": "bob"}),
    ):
        assert answer.status_code == 404
    assert http.delete(f"/procedural/{fact}").json() == {"deleted_count": 0, "acknowledged": True}


def test_a_procedure_is_deleted_softly_or_for_good(http: httpx.Client) -> None:
    procedure = save(http, "/procedural", PROCEDURE)["id"]
    assert http.delete(f"/procedural/{procedure}").json() == {"deleted_count": 1, "acknowledged": True}
    assert entries(http, "/procedural", procedure="refund") == []
    assert [entry["id"] for entry in entries(http, "/procedural", procedure="refund", include_deleted=True)] == [
        procedure
    ]
    assert http.delete(f"/procedural/{procedure}", params={"soft": "false"}).json()["deleted_count"] == 1
    assert entries(http, "/procedural", include_deleted=True) == []
