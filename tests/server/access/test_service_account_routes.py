"""Service accounts over HTTP: what an owner may do, in the owner's project only."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from memoranda.server.access.gatekeeper import Access
from tests.server.access.conftest import authorized, made

BASE = "/api/v1/projects/a/service-accounts"


@pytest.fixture
def owner(client: httpx.Client, access: Access) -> httpx.Client:
    """A client with the token of an owner of project ``a``."""
    client.headers.update(authorized(access, "a", "PROJECT_OWNER"))
    return client


def create(owner: httpx.Client, **fields: object) -> dict[str, Any]:
    answer = owner.post(BASE, json={"name": "app", "roles": ["AGENT_DEVELOPER"], **fields})
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    told: dict[str, Any] = answer.json()
    return told


def token(owner: httpx.Client, created: dict[str, Any]) -> httpx.Response:
    pair = (created["service_account"]["client_id"], created["client_secret"])
    return owner.post("/api/v1/oauth/token", data={"grant_type": "client_credentials"}, auth=pair)


def test_a_new_account_is_told_with_its_secret_once(owner: httpx.Client) -> None:
    created = create(owner, description="nightly", roles=["PROJECT_READ_ONLY"], secret_expires_after_hours=24)
    account = created["service_account"]
    assert created["client_secret"].startswith("ae_sa_sk_")
    assert account["client_id"].startswith("ae_sa_id_")
    assert (account["name"], account["description"], account["roles"]) == ("app", "nightly", ["PROJECT_MEMBER"])
    assert (account["is_active"], account["project_id"], account["ip_access_list"]) == (True, "a", [])
    assert token(owner, created).status_code == 200
    told = owner.get(f"{BASE}/{account['client_id']}")
    assert told.json() == {"service_account": account}
    assert created["client_secret"] not in told.text + owner.get(BASE).text
    assert "hash" not in told.text
    assert "argon2" not in told.text


def test_accounts_are_listed_in_pages(owner: httpx.Client) -> None:
    ids = {create(owner)["service_account"]["client_id"] for _ in range(3)}
    found: list[str] = []
    cursor = None
    while True:
        page = owner.get(BASE, params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        found += [each["client_id"] for each in page["service_accounts"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == sorted(found)
    assert ids < set(found)
    assert owner.get(BASE, params={"limit": 0}).status_code == 422
    assert owner.get(BASE, params={"cursor": "x"}).json()["code"] == "CURSOR_INVALID"


def test_an_update_counts_for_tokens_that_are_out(owner: httpx.Client) -> None:
    created = create(owner)
    path = f"{BASE}/{created['service_account']['client_id']}"
    header = {"Authorization": f"Bearer {token(owner, created).json()['access_token']}"}
    turn = {"session_id": "s", "user_id": "u", "role": "user", "content": "x"}
    turns = "/api/v1/projects/a/memory/turns"
    assert owner.post(turns, json=turn, headers=header).status_code == 200
    changed = owner.patch(path, json={"roles": ["PROJECT_READ_ONLY"], "name": "reader"}).json()["service_account"]
    assert (changed["name"], changed["roles"]) == ("reader", ["PROJECT_MEMBER"])
    refused = owner.post(turns, json=turn, headers=header)
    assert (refused.status_code, refused.json()["code"]) == (403, "ROLE_REQUIRED")


def test_a_rotation_keeps_the_old_secret_for_a_while(owner: httpx.Client) -> None:
    first = create(owner)
    path = f"{BASE}/{first['service_account']['client_id']}"
    second = owner.post(f"{path}/rotate").json()
    assert second["service_account"]["previous_secret_expires_at"] is not None
    assert [token(owner, each).status_code for each in (first, second)] == [200, 200]
    third = owner.post(f"{path}/rotate", json={"grace_period_hours": 0, "secret_expires_after_hours": 1}).json()
    assert third["service_account"]["previous_secret_expires_at"] is None
    assert [token(owner, each).status_code for each in (first, second, third)] == [401, 401, 200]
    assert owner.post(f"{path}/rotate", json={"grace_period_hours": 169}).status_code == 422


def test_a_deleted_account_is_out_at_once_and_for_good(owner: httpx.Client) -> None:
    created = create(owner)
    path = f"{BASE}/{created['service_account']['client_id']}"
    header = {"Authorization": f"Bearer {token(owner, created).json()['access_token']}"}
    assert owner.delete(path).json()["service_account"]["is_active"] is False
    refused = owner.post("/api/v1/projects/a/memory/turns", json={}, headers=header)
    assert (refused.status_code, refused.json()["code"]) == (401, "ACCOUNT_INACTIVE")
    assert refused.headers["www-authenticate"] == 'Bearer realm="memoranda", error="invalid_token"'
    assert token(owner, created).status_code == 401
    assert owner.patch(path, json={"is_active": True}).status_code == 409
    assert owner.post(f"{path}/rotate").status_code == 409
    assert owner.get(path).json()["service_account"]["is_active"] is False


def test_an_address_that_is_not_in_the_list_is_forbidden(owner: httpx.Client) -> None:
    created = create(owner)
    path = f"{BASE}/{created['service_account']['client_id']}"
    header = {"Authorization": f"Bearer {token(owner, created).json()['access_token']}"}
    answer = owner.put(f"{path}/ip-access-list", json={"ip_access_list": ["10.0.0.0/8"]})
    assert answer.json()["service_account"]["ip_access_list"] == ["10.0.0.0/8"]
    refused = owner.post("/api/v1/projects/a/memory/turns", json={}, headers=header)
    assert (refused.status_code, refused.json()["code"]) == (403, "ADDRESS_NOT_ALLOWED")
    assert token(owner, created).status_code == 401
    owner.put(f"{path}/ip-access-list", json={"ip_access_list": ["10.0.0.0/8", "127.0.0.1"]})
    assert token(owner, created).status_code == 200


REFUSED: list[tuple[dict[str, object], int]] = [
    ({}, 422),
    ({"name": "x", "roles": []}, 400),
    ({"name": "x", "roles": ["ORG_OWNER"]}, 400),
    ({"name": "x", "roles": "PROJECT_OWNER"}, 422),
    ({"name": "x", "roles": ["PROJECT_OWNER"], "secret_expires_after_hours": "24"}, 422),
    ({"name": "x", "roles": ["PROJECT_OWNER"], "project_id": "b"}, 422),
    ({"name": "x", "roles": ["PROJECT_OWNER"], "ip_access_list": ["10.0.0.1/8"]}, 400),
]


def test_a_body_that_cannot_be_is_refused(owner: httpx.Client) -> None:
    for body, status in REFUSED:
        assert owner.post(BASE, json=body).status_code == status, body
    assert len(owner.get(BASE).json()["service_accounts"]) == 1


REQUESTS: list[tuple[str, str, dict[str, object] | None]] = [
    ("GET", "", None),
    ("POST", "", {"name": "x", "roles": ["PROJECT_OWNER"]}),
    ("GET", "/{id}", None),
    ("PATCH", "/{id}", {"roles": ["PROJECT_OWNER"]}),
    ("DELETE", "/{id}", None),
    ("POST", "/{id}/rotate", None),
    ("PUT", "/{id}/ip-access-list", {"ip_access_list": []}),
]


@pytest.mark.parametrize("who", ["developer", "reader", "bound owner", "owner of another project", "nobody"])
def test_only_an_owner_of_the_project_manages_its_accounts(client: httpx.Client, access: Access, who: str) -> None:
    victim = made(access, "a", "PROJECT_OWNER")
    headers = {
        "developer": authorized(access, "a", "AGENT_DEVELOPER"),
        "reader": authorized(access, "a", "PROJECT_READ_ONLY"),
        "bound owner": authorized(access, "a", "PROJECT_OWNER", user_id="ada"),
        "owner of another project": authorized(access, "b", "PROJECT_OWNER"),
        "nobody": {},
    }[who]
    before = access.accounts.list("a")
    for method, path, body in REQUESTS:
        answer = client.request(method, BASE + path.format(id=victim.account.client_id), json=body, headers=headers)
        assert answer.status_code == (401 if who == "nobody" else 403), (method, path)
        assert victim.account.client_id not in answer.text
    assert access.accounts.list("a") == before


def test_an_account_of_another_project_is_not_found(owner: httpx.Client, access: Access) -> None:
    victim = made(access, "b", "PROJECT_OWNER")
    for method, path, body in REQUESTS:
        if "{id}" in path:
            answer = owner.request(method, BASE + path.format(id=victim.account.client_id), json=body)
            assert (answer.status_code, answer.json()["code"]) == (404, "SERVICE_ACCOUNT_NOT_FOUND"), (method, path)
    assert access.accounts.get("b", victim.account.client_id) == victim.account
