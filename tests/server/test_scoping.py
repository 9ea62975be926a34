"""Who may do what, and whose memory a request reaches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from memoranda.sdk.errors import MemoryAuthError
from memoranda.server.access.principal import AGENT_DEVELOPER, PROJECT_OWNER, OpenGatekeeper, Principal
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from tests.server.live import CONFIG, open_host, serving

READER = "PROJECT_READ_ONLY"
FACT: dict[str, Any] = {"label": "home", "text": "Oslo", "user_id": "ada"}
TURN: dict[str, Any] = {"session_id": "s1", "user_id": "ada", "role": "user", "content": "hello"}


class NamedTokens:
    """Admits ``Bearer ROLE`` and ``Bearer ROLE:USER`` to project ``p``; nobody else."""

    def admit(self, authorization: str | None, *, project_id: str | None, client_host: str | None) -> Principal:
        token = (authorization or "").removeprefix("Bearer ")
        role, _, user_id = token.partition(":")
        if not role:
            raise MemoryAuthError("no token", status=401, code="TOKEN_MISSING")
        if project_id not in (None, "p"):
            raise MemoryAuthError("the token is for another project", status=403, code="PROJECT_MISMATCH")
        return Principal("c", "p", frozenset({role}), user_id or None)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with (
        closing(open_host(tmp_path_factory.mktemp("guarded"))) as host,
        serving(create_app(host, NamedTokens(), ServerSettings())) as url,
    ):
        yield url + "/api/v1"


@pytest.fixture(scope="module")
def enforcing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    config = {"memory": {**CONFIG["memory"], "identity": {"enforce": True}}}
    with (
        closing(open_host(tmp_path_factory.mktemp("enforcing"), config=config)) as host,
        serving(create_app(host, NamedTokens(), ServerSettings())) as url,
    ):
        yield url + "/api/v1/memory"


def ask(url: str, token: str, method: str, path: str, body: object = None, **query: str) -> httpx.Response:
    return httpx.request(method, url + path, json=body, params=query, headers={"Authorization": f"Bearer {token}"})


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code", "")


# --- projects and shapes of routes


def test_the_same_memory_is_reached_by_every_shape_of_route(url: str) -> None:
    assert httpx.post(f"{url}/api/v1/memory/semantic", json=FACT).status_code == 200
    for base in ("/api/v1/memory", "/api/v1/projects/default/memory", "/api/v1"):
        assert len(httpx.get(f"{url}{base}/semantic").json()["entries"]) == 1


def test_projects_are_walls_and_what_a_body_says_of_them_is_ignored(url: str) -> None:
    for project in ("a", "a%2Fb"):
        body = {**FACT, "text": project, "project_id": "default", "org_id": "o"}
        httpx.post(f"{url}/api/v1/projects/{project}/memory/semantic", json=body)
    for project in ("a", "a%2Fb"):
        (entry,) = httpx.get(f"{url}/api/v1/projects/{project}/memory/semantic").json()["entries"]
        assert entry["text"] == project
        assert httpx.get(f"{url}/api/v1/memory/memories/{entry['id']}").status_code == 404
    assert httpx.get(f"{url}/api/v1/memory/semantic").json()["entries"] == []


def test_a_project_that_does_not_exist_is_not_provisioned(tmp_path: Path) -> None:
    with (
        closing(open_host(tmp_path, create_projects=False)) as host,
        serving(create_app(host, OpenGatekeeper(), ServerSettings())) as url,
    ):
        answer = httpx.post(f"{url}/api/v1/memory/turns", json=TURN)
    assert (*code(answer), answer.json()["type"]) == (404, "NO_WORKSPACE_ENDPOINT", "NOT_PROVISIONED")


def test_shapes_of_routes_can_be_switched_off(tmp_path: Path) -> None:
    settings = ServerSettings(flat_routes=False, native_routes=False)
    with (
        closing(open_host(tmp_path)) as host,
        serving(create_app(host, OpenGatekeeper(), settings)) as url,
    ):
        assert code(httpx.get(f"{url}/api/v1/memory/semantic")) == (404, "ROUTE_NOT_FOUND")
        assert code(httpx.get(f"{url}/api/v1/semantic")) == (404, "ROUTE_NOT_FOUND")
        assert httpx.get(f"{url}/api/v1/projects/p/memory/semantic").status_code == 200


# --- admission and roles


def test_nobody_is_let_in_without_a_token_whatever_they_send(guarded: str) -> None:
    for answer in (
        httpx.post(f"{guarded}/memory/turns", json=TURN),
        httpx.post(f"{guarded}/memory/turns", content=b"{", headers={"Content-Type": "application/json"}),
        httpx.post(f"{guarded}/memory/turns", content=b"x" * 10_000_000),
        httpx.get(f"{guarded}/memory/export"),
    ):
        assert code(answer) == (401, "TOKEN_MISSING")
        assert answer.headers["www-authenticate"].startswith("Bearer ")


@pytest.mark.parametrize("path", ["/projects/q/memory/turns", "/projects/p%2F..%2Fq/memory/turns"])
def test_a_token_opens_one_project(guarded: str, path: str) -> None:
    assert code(ask(guarded, PROJECT_OWNER, "POST", path, TURN)) == (403, "PROJECT_MISMATCH")


def test_who_may_only_read_changes_nothing(guarded: str) -> None:
    for method, path, body in (
        ("POST", "/turns", TURN),
        ("POST", "/semantic", FACT),
        ("DELETE", "/users/ada", None),
        ("POST", "/promote", {}),
        ("PATCH", "/memories/x", {}),
    ):
        assert code(ask(guarded, READER, method, f"/memory{path}", body)) == (403, "ROLE_REQUIRED")
    assert ask(guarded, READER, "POST", "/memory/search", {"type": "semantic", "query": "q"}).status_code == 200


# --- tokens of one end user


def test_a_users_token_fills_in_the_user_on_writes_and_reads(guarded: str) -> None:
    for name in ("fay", "gus"):
        token = f"{AGENT_DEVELOPER}:{name}"
        for path, body in (
            ("/turns", {**TURN, "user_id": None}),
            ("/turns/bulk", {"turns": [{**TURN, "user_id": " "}]}),
            ("/semantic", {**FACT, "user_id": ""}),
            ("/memories/bulk", {"items": [{"kind": "semantic", "label": "l", "text": "Oslo"}]}),
            ("/types/tickets", {"content": "Oslo ticket"}),
        ):
            assert ask(guarded, token, "POST", f"/memory{path}", body).status_code == 200
    token = f"{AGENT_DEVELOPER}:fay"
    found = [
        *ask(guarded, token, "POST", "/memory/search", {"type": "semantic", "query": "Oslo"}).json()["memories"],
        *ask(guarded, token, "GET", "/memory/memories").json()["items"],
        *ask(guarded, token, "GET", "/memory/turns").json()["items"],
        *ask(guarded, token, "GET", "/memory/semantic").json()["entries"],
        *ask(guarded, token, "POST", "/memory/types/tickets/retrieve", {"query": "Oslo"}).json()["results"],
    ]
    assert len(found) == 2 + 3 + 2 + 2 + 1
    assert {each.get("user_id") or each["metadata"]["user_id"] for each in found} == {"fay"}


def test_a_users_token_names_no_other_user(guarded: str) -> None:
    token = f"{PROJECT_OWNER}:fay"
    for method, path, body, query in (
        ("POST", "/turns", TURN, {}),
        ("POST", "/semantic", FACT, {}),
        ("POST", "/search", {"type": "semantic", "query": "q", "user_id": "ada"}, {}),
        ("POST", "/context", {"query": "q", "user_id": "ada"}, {}),
        ("POST", "/types/tickets/retrieve", {"query": "q", "user_id": "ada"}, {}),
        ("POST", "/promote", {"user_id": "ada"}, {}),
        ("GET", "/memories", None, {"user_id": "ada"}),
        ("GET", "/memories/x", None, {"user_id": "ada"}),
        ("GET", "/semantic", None, {"user_id": "ada"}),
        ("DELETE", "/turns/x", None, {"user_id": "ada"}),
        ("DELETE", "/users/ada", None, {}),
    ):
        assert code(ask(guarded, token, method, f"/memory{path}", body, **query)) == (403, "IDENTITY_MISMATCH"), path


def test_a_users_token_does_not_reach_the_whole_project(guarded: str) -> None:
    token = f"{PROJECT_OWNER}:fay"
    for method, path in (
        ("GET", "/status"),
        ("GET", "/failures"),
        ("GET", "/export"),
        ("POST", "/failures/discard"),
        ("POST", "/wait"),
    ):
        assert code(ask(guarded, token, method, f"/memory{path}", {} if method == "POST" else None)) == (
            403,
            "WHOLE_PROJECT_REFUSED",
        )


def test_a_users_token_neither_reads_nor_deletes_anothers_record_by_its_id(guarded: str) -> None:
    saved = ask(guarded, AGENT_DEVELOPER, "POST", "/memory/semantic", {**FACT, "label": "x", "user_id": "hal"}).json()
    turn = ask(guarded, AGENT_DEVELOPER, "POST", "/memory/turns", {**TURN, "user_id": "hal"}).json()
    token = f"{AGENT_DEVELOPER}:fay"
    for method in ("GET", "DELETE"):
        assert ask(guarded, token, method, f"/memory/memories/{saved['id']}").status_code == 404
        assert ask(guarded, token, method, f"/memory/turns/{turn['id']}").status_code == 404
    assert ask(guarded, token, "DELETE", "/memory/sessions/s1", None).json()["turns"] <= 2
    assert ask(guarded, AGENT_DEVELOPER, "GET", f"/memory/turns/{turn['id']}").status_code == 200


# --- enforced identity


def test_where_identity_is_enforced_a_read_names_a_user_or_a_visibility(enforcing: str) -> None:
    body = {"type": "semantic", "query": "q"}
    assert code(ask(enforcing, PROJECT_OWNER, "POST", "/search", body)) == (400, "IDENTITY_REQUIRED")
    assert code(ask(enforcing, PROJECT_OWNER, "GET", "/memories")) == (400, "IDENTITY_REQUIRED")
    assert ask(enforcing, PROJECT_OWNER, "POST", "/search", {**body, "visibility": "org"}).status_code == 200
    assert ask(enforcing, PROJECT_OWNER, "POST", "/search", {**body, "user_id": "ada"}).status_code == 200


def test_where_identity_is_enforced_a_change_names_its_user_and_an_owner_may_delete_any(enforcing: str) -> None:
    saved = ask(enforcing, AGENT_DEVELOPER, "POST", "/semantic", {**FACT, "visibility": "org"}).json()
    path = f"/memories/{saved['id']}"
    assert code(ask(enforcing, AGENT_DEVELOPER, "DELETE", path)) == (400, "IDENTITY_REQUIRED")
    assert code(ask(enforcing, AGENT_DEVELOPER, "DELETE", path, None, user_id="bob")) == (403, "NOT_OWNER")
    assert code(ask(enforcing, AGENT_DEVELOPER, "POST", "/types/tickets", {"content": "c"}))[0] == 400
    assert ask(enforcing, PROJECT_OWNER, "DELETE", path).status_code == 200
