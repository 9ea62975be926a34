"""A token of one project reads and writes nothing in another by any route, id, filter or path, nor one of a user."""

from __future__ import annotations

import http.client
import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
from fastapi import FastAPI

from memoranda.engine.config import ProjectConfig, load_config
from memoranda.runtime.hosting import EngineHost
from memoranda.server.access.gatekeeper import Access
from tests.server.access.conftest import authorized, made

MARK = "zanzibar"
"""A word that stands in each record of the victim, and nowhere else."""
USER = "ada"
"""Both projects have a user of this name: it is the one of the documented examples."""
CONFIG = {
    "memory": {"custom_memory_types": [{"name": "tickets", "collection": "tickets", "tags": [{"name": "queue"}]}]}
}


def config() -> ProjectConfig:
    return load_config(CONFIG)


@dataclass(frozen=True)
class Victim:
    """What stands in a place that must not be reached."""

    ids: dict[str, str]


def fill(host: EngineHost, project_id: str, user_id: str, mark: str) -> dict[str, str]:
    """Write one record of each noun, and return the ids by the names of path parameters."""
    with host.runtime(project_id) as runtime:
        turn = runtime.record_turn(role="user", content=f"I went to {mark}.", user_id=user_id, session_id=f"{mark}-s")
        memory = runtime.create_semantic(label=f"{mark}-home", text=f"Lives in {mark}.", user_id=user_id)
        runtime.create_procedural(
            procedure=f"{mark}-way", description=f"To {mark}", content=f"Sail to {mark}.", user_id=user_id
        )
        runtime.create_taxonomic(
            domain=f"{mark}-d", term=f"{mark}-t", definition=f"{mark} it is", user_id=user_id, visibility="private"
        )
        runtime.create_episodic(
            title=f"{mark} trip", content=f"Went to {mark}", user_id=user_id, session_id=f"{mark}-s"
        )
        runtime.create_custom(memory_type="tickets", content=f"{mark} printer", tags={"queue": mark})
    return {"turn_id": turn.id, "memory_id": memory.id, "session_id": f"{mark}-s", "user_id": user_id}


def rows_of(path: Path, project_id: str, user_id: str | None = None) -> dict[str, list[tuple[object, ...]]]:
    """Every row of a project (and of one user in it), table by table, byte for byte."""
    with sqlite3.connect(path) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {}
        for table in tables:
            columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            if "project_id" in columns and (user_id is None or "user_id" in columns):
                where = "project_id = ?" + ("" if user_id is None else " AND user_id = ?")
                given = (project_id,) if user_id is None else (project_id, user_id)
                found[table] = sorted(connection.execute(f"SELECT * FROM {table} WHERE {where}", given), key=repr)
    connection.close()
    assert sum(map(len, found.values())) > 10
    return found


@pytest.fixture
def victim(host: EngineHost, access: Access) -> Victim:
    """Project ``b`` with records; project ``a`` has its own, with the same user and the same sizes."""
    for project_id in ("a", "b"):
        host.apply(project_id, config())
    fill(host, "a", USER, "oslo")
    ids = fill(host, "b", USER, MARK)
    return Victim({**ids, "client_id": made(access, "b", "PROJECT_OWNER").account.client_id})


@dataclass(frozen=True)
class Operation:
    """One route and method of the documented API, with its documented body."""

    method: str
    path: str
    body: object
    query: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    def filled(self, ids: dict[str, str], project_id: str) -> str:
        fixed = {"kind": "semantic", "memory_type": "tickets", "failure_id": "x", "project_id": project_id, **ids}
        return re.sub(r"{(\w+)}", lambda found: quote(fixed[found[1]], safe=""), self.path)


def operations(app: FastAPI) -> list[Operation]:
    """Every operation under ``/api/v1`` but the token endpoint."""
    document = app.openapi()
    return [
        Operation(
            method.upper(),
            path,
            _example(operation, document),
            tuple(each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"),
        )
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/api/v1/") and not path.endswith("/oauth/token")
    ]


def _example(operation: dict[str, Any], document: dict[str, Any]) -> object:
    if "requestBody" not in operation:
        return None
    media = operation["requestBody"]["content"]["application/json"]
    if "example" in media:
        return media["example"]
    options = [media["schema"], *media["schema"].get("anyOf", ())]
    names = [each["$ref"].rpartition("/")[2] for each in options if "$ref" in each]
    schema = document["components"]["schemas"][names[0]] if names else media["schema"]
    return schema["examples"][0]


def send(
    client: httpx.Client, operation: Operation, path: str, headers: dict[str, str], **query: str
) -> httpx.Response:
    body = {} if operation.body is None else {"json": operation.body}
    params = {**({"wait": "0"} if "wait" in operation.query else {}), **query}
    return client.request(operation.method, path, headers=headers, params=params, timeout=30, **body)  # type: ignore[arg-type]


def ended_last(found: list[Operation]) -> Iterator[Operation]:
    """The order in which the most is there to be reached: reading, writing, deleting."""
    yield from sorted(found, key=lambda each: ("GET POST PUT PATCH DELETE".index(each.method), each.path))


def test_the_walk_finds_the_routes(app: FastAPI) -> None:
    found = [each.name for each in operations(app)]
    assert len(found) > 100
    assert "POST /api/v1/projects/{project_id}/memory/turns" in found
    assert "POST /api/v1/memory/search" in found
    assert "POST /api/v1/semantic" in found


def test_no_route_of_another_project_is_open(
    client: httpx.Client, app: FastAPI, access: Access, victim: Victim, store_path: Path
) -> None:
    headers = authorized(access, "a", "PROJECT_OWNER")
    before = rows_of(store_path, "b")
    asked = 0
    for operation in ended_last(operations(app)):
        if "{project_id}" in operation.path:
            asked += 1
            answer = send(client, operation, operation.filled(victim.ids, "b"), headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "PROJECT_MISMATCH"), operation.name
            assert MARK not in answer.text
    assert asked > 50
    assert rows_of(store_path, "b") == before


def test_no_id_of_another_project_is_of_use(
    client: httpx.Client, app: FastAPI, access: Access, victim: Victim, store_path: Path
) -> None:
    headers = authorized(access, "a", "PROJECT_OWNER")
    before = rows_of(store_path, "b")
    reached = set()
    for operation in ended_last(operations(app)):
        path = operation.filled(victim.ids, "a")
        answer = send(client, operation, path, headers)
        reached.add(answer.status_code)
        assert answer.status_code < 500, (operation.name, answer.text)
        assert answer.status_code not in (401, 403), operation.name
        assert MARK not in answer.text.replace(path, "").replace(victim.ids["session_id"], ""), operation.name
    assert {200, 404} <= reached
    assert rows_of(store_path, "b") == before


def test_no_filter_and_no_field_reaches_another_project(
    client: httpx.Client, app: FastAPI, access: Access, victim: Victim, store_path: Path
) -> None:
    headers = authorized(access, "a", "PROJECT_OWNER")
    before = rows_of(store_path, "b")
    smuggled = {"project_id": "b", "org_id": "b", "metadata_filter": '{"project_id": "b"}'}
    told = {
        **headers,
        "X-Project-Id": "b",
        "X-Memoranda-Project-Id": "b",
        "X-Original-URL": "/api/v1/projects/b/memory",
    }
    for operation in ended_last(operations(app)):
        if operation.method not in ("GET", "POST"):
            continue
        path = operation.filled(victim.ids, "a")
        body = {**operation.body, "project_id": "b", "org_id": "b"} if isinstance(operation.body, dict) else None
        answers = [
            send(client, operation, path, told, **smuggled),
            send(client, Operation(operation.method, path, body, operation.query), path, headers),
        ]
        for answer in answers:
            assert answer.status_code < 500, (operation.name, answer.text)
            assert MARK not in answer.text.replace(path, "").replace(victim.ids["session_id"], ""), operation.name
    assert rows_of(store_path, "b") == before


def test_a_search_finds_nothing_of_another_project(client: httpx.Client, access: Access, victim: Victim) -> None:
    headers = authorized(access, "a", "PROJECT_OWNER")
    theirs = authorized(access, "b", "PROJECT_OWNER")
    for kind in ("semantic", "episodic", "taxonomic", "procedural"):
        body = {"query": MARK, "type": kind, "top_k": 50}
        mine, others = (client.post("/api/v1/memory/search", json=body, headers=each) for each in (headers, theirs))
        assert MARK not in mine.text
        assert MARK in others.text
    for query in ({"project_id": "b"}, {"$or": [{"project_id": "b"}]}, {"user_id": USER}):
        answer = client.post("/api/v1/memory/search", json={"query": MARK, "metadata_filter": query}, headers=headers)
        assert MARK not in answer.text


TRICKS = [
    "/api/v1/projects/b/memory/memories",
    "/api/v1/projects/a/../b/memory/memories",
    "/api/v1/projects/a%2F..%2Fb/memory/memories",
    "/api/v1/projects/a/%2e%2e/b/memory/memories",
    "/api/v1/projects/a%2f%2e%2e%2fb/memory/memories",
    "/api/v1/projects/a%252F..%252Fb/memory/memories",
    "/api/v1/projects/a/memory/../../b/memory/memories",
    "/api/v1/projects/a/memory/..%2F..%2Fb/memory/memories",
    "/api/v1/memory/../projects/b/memory/memories",
    "/api/v1/memory/%2e%2e/projects/b/memory/memories",
    "/api/v1/projects/%62/memory/memories",
    "/api/v1/projects/%2562/memory/memories",
    "/api/v1/projects/B/memory/memories",
    "/api/v1/PROJECTS/b/memory/memories",
    "/API/V1/projects/b/memory/memories",
    "/api/v1/projects/b%00/memory/memories",
    "/api/v1/projects/a%00b/memory/memories",
    "/api/v1/projects/b%20/memory/memories",
    "/api/v1/projects/b;a/memory/memories",
    "/api/v1/projects/b?project_id=a&x=/memory/memories",
    "/api/v1/projects/b%3Fproject_id=a/memory/memories",
    "/api/v1/projects/b%23/memory/memories",
    "/api/v1/projects/b/memory//memories",
    "//api/v1/projects/b/memory/memories",
    "/api/v1//projects/b/memory/memories",
    "/api/v1/projects/b/memory/memories/",
    "/api/v1/projects/b/memory/memories?project_id=a&project_id=b",
    "/api/v1/projects/a/memory/memories?project_id=b&project_id=b",
    "/api/v1/projects/a/memory/memories?visibility=private&visibility=org&user_id=ada&user_id=ada",
    "/api/v1/projects/%C0%AE%C0%AE/b/memory/memories",
    "/api/v1/projects/\xef\xbd\x82/memory/memories",
    "/api/v1/projects/%EF%BD%82/memory/memories",
    "/api/v1/projects//memory/memories",
    "/api/v1/projects/./memory/memories",
    "/api/v1/projects/../memory/memories",
    "http://elsewhere/api/v1/projects/b/memory/memories",
    "/api/v1/projects/b/memory/export",
    "/api/v1/projects/a/memory/export/../../../b/memory/export",
]


def raw(url: str, target: str, headers: dict[str, str]) -> tuple[int, bytes]:
    """Send a request line as it stands, which no client would."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        connection._validate_path = lambda path: None  # type: ignore[attr-defined]
        connection._encode_request = lambda request: request.encode("latin-1")  # type: ignore[attr-defined]
        connection.putrequest("GET", target, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_no_way_to_write_a_path_reaches_another_project(url: str, access: Access, victim: Victim) -> None:
    headers = authorized(access, "a", "PROJECT_OWNER")
    theirs = authorized(access, "b", "PROJECT_OWNER")
    for target in TRICKS:
        status, body = raw(url, target, headers)
        assert MARK.encode() not in body, target
        assert status in (200, 400, 403, 404, 422), (target, status)
        assert status != 200 or target.startswith("/api/v1/projects/a/memory/memories?"), target
    assert MARK.encode() in raw(url, TRICKS[0], theirs)[1]


@pytest.fixture
def other_user(host: EngineHost) -> Victim:
    """In project ``a`` a user whose records are all private, beside ``ada``."""
    host.apply("a", config())
    fill(host, "a", USER, "oslo")
    ids = fill(host, "a", "bob", MARK)
    return Victim({**ids, "user_id": "bob", "client_id": "ae_sa_id_" + "0" * 24})


@pytest.mark.parametrize("role", ["PROJECT_OWNER", "AGENT_DEVELOPER"])
def test_a_token_of_one_user_reaches_nothing_of_another(
    client: httpx.Client, app: FastAPI, access: Access, other_user: Victim, store_path: Path, role: str
) -> None:
    headers = authorized(access, "a", role, user_id=USER)
    before = rows_of(store_path, "a", "bob")
    for operation in ended_last(operations(app)):
        path = operation.filled(other_user.ids, "a")
        for query in ({}, {"user_id": "bob"}) if "user_id" in operation.query else ({},):
            answer = send(client, operation, path, {**headers, "X-Memoranda-User-Id": USER}, **query)
            assert answer.status_code < 500, (operation.name, answer.text)
            assert MARK not in answer.text.replace(path, "").replace(other_user.ids["session_id"], ""), operation.name
            if query:
                assert (answer.status_code, answer.json()["code"]) == (403, "IDENTITY_MISMATCH"), operation.name
        if isinstance(operation.body, dict) and "user_id" in operation.body:
            named = Operation(operation.method, path, {**operation.body, "user_id": "bob"}, operation.query)
            answer = send(client, named, path, headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "IDENTITY_MISMATCH"), operation.name
    assert rows_of(store_path, "a", "bob") == before


def test_a_reader_changes_nothing(
    client: httpx.Client, app: FastAPI, access: Access, victim: Victim, store_path: Path
) -> None:
    headers = authorized(access, "a", "PROJECT_READ_ONLY")
    # The first who reads the feed of changes has them numbered.
    assert client.get("/api/v1/projects/a/memory/changes", headers=headers).status_code == 200
    before = rows_of(store_path, "a")
    allowed = set()
    for operation in ended_last(operations(app)):
        answer = send(client, operation, operation.filled(victim.ids, "a"), headers)
        if answer.status_code == 403:
            assert answer.json()["code"] == "ROLE_REQUIRED", operation.name
        else:
            allowed.add(operation.name)
    assert rows_of(store_path, "a") == before
    reading = re.compile(r"/(retrieve|search|context|retrieval/[^/]+)$")
    assert [name for name in allowed if not name.startswith("GET ") and not reading.search(name)] == []
    assert len(allowed) > 40


def test_nobody_without_a_token_gets_anything(
    client: httpx.Client, app: FastAPI, victim: Victim, store_path: Path
) -> None:
    before = rows_of(store_path, "b")
    for operation in operations(app):
        answer = send(client, operation, operation.filled(victim.ids, "b"), {})
        assert (answer.status_code, answer.json()["code"]) == (401, "TOKEN_MISSING"), operation.name
        assert answer.headers["www-authenticate"].startswith("Bearer"), operation.name
    for path in ("/metrics", "/health/live", "/health/ready", "/openapi.json", "/docs"):
        assert MARK not in client.get(path).text
    assert rows_of(store_path, "b") == before


def test_an_error_tells_no_secret(client: httpx.Client, app: FastAPI, access: Access, victim: Victim) -> None:
    new = made(access)
    for operation in operations(app):
        headers = {"Authorization": f"Bearer {new.client_secret}"}
        answer = send(client, operation, operation.filled(victim.ids, "a"), headers)
        assert answer.status_code == 401
        assert new.client_secret not in answer.text + json.dumps(dict(answer.headers))
