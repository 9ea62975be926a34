"""Who the handle of a caller is for, told in headers where the shared form has no place for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from memoranda.sdk import _wire
from memoranda.server import handle_identity
from memoranda.server.access.principal import AGENT_DEVELOPER, OpenGatekeeper, Principal
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from tests.server.live import TICKETS, open_host, serving

TYPE = f"/api/v1/memory/types/{TICKETS}"


class BoundToAda(OpenGatekeeper):
    """Admits everybody as an account whose token is bound to one user."""

    def admit(self, authorization: str | None, *, project_id: str | None, client_host: str | None) -> Principal:
        return Principal("c", "default", frozenset({AGENT_DEVELOPER}), user_id="ada")


@pytest.fixture(params=[OpenGatekeeper, BoundToAda])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[httpx.Client]:
    with (
        closing(open_host(tmp_path)) as host,
        serving(create_app(host, request.param(), ServerSettings())) as url,
        httpx.Client(base_url=url) as connected,
    ):
        yield connected


only_open = pytest.mark.parametrize("client", [OpenGatekeeper], indirect=True)
only_bound = pytest.mark.parametrize("client", [BoundToAda], indirect=True)


def headers(user: str, agent: str | None = None) -> dict[str, str]:
    return _wire.identity_headers(user, agent)


def save(client: httpx.Client, who: dict[str, str], **body: Any) -> httpx.Response:
    return client.post(TYPE, json={"content": "The printer is on fire.", **body}, headers=who)


def found(client: httpx.Client, who: dict[str, str], **body: Any) -> list[tuple[str | None, str | None]]:
    answer = client.post(f"{TYPE}/retrieve", json={"query": "printer", **body}, headers=who)
    assert answer.status_code == 200, answer.text
    return [(each["user_id"], each["agent_id"]) for each in answer.json()["results"]]


def test_client_and_server_mean_the_same_headers() -> None:
    ours = (handle_identity.USER_HEADER, handle_identity.AGENT_HEADER)
    assert ours == (_wire.USER_HEADER, _wire.AGENT_HEADER)


@only_open
def test_custom_types_are_stamped_and_read_for_the_user_of_the_headers(client: httpx.Client) -> None:
    assert save(client, headers("Inês 語/%", "helper")).status_code == 200
    assert found(client, headers("Inês 語/%")) == [("Inês 語/%", "helper")]
    assert found(client, headers("bob")) == []
    assert found(client, {}) == []


@only_open
def test_who_the_body_names_wins_over_the_headers(client: httpx.Client) -> None:
    save(client, headers("ada", "helper"), user_id="bob", agent_id="other")
    assert found(client, headers("ada")) == []
    assert found(client, headers("ada"), user_id="bob") == [("bob", "other")]


@only_bound
def test_a_token_of_one_user_is_not_turned_by_headers(client: httpx.Client) -> None:
    refused = save(client, headers("bob"))
    assert (refused.status_code, refused.json()["code"]) == (403, "IDENTITY_MISMATCH")
    assert save(client, headers("ada")).status_code == 200
    assert save(client, {}).status_code == 200
    assert found(client, {}) == [("ada", None)] * 2


@only_open
def test_domains_are_those_that_the_user_of_the_headers_may_see(client: httpx.Client) -> None:
    term = {"domain": "travel", "term": "PNR", "definition": "a booking", "visibility": "private", "user_id": "ada"}
    assert client.post("/api/v1/memory/taxonomic", json=term).status_code == 200
    seen = [
        client.get("/api/v1/memory/taxonomic/domains", headers=headers(user)).json()["domains"]
        for user in ("ada", "bob")
    ]
    assert seen == [["travel"], []]


def test_a_header_that_is_no_text_is_named(client: httpx.Client) -> None:
    refused = save(client, {_wire.USER_HEADER: "%ff"})
    assert refused.status_code == 400
    assert _wire.USER_HEADER in refused.json()["detail"]
