"""Every request that the original SDK was seen to send, in each of its modes, gets a valid answer from our server."""

from __future__ import annotations

import json
from collections import Counter

import httpx
import pytest

from tests.conformance.servers import Servers
from tests.conformance.shapes import check_shape
from tests.conformance.wire_requests import MODES, WireRequest, wire_requests

REQUESTS = wire_requests()
NOBODYS_TURN = REQUESTS[0]
"""A turn without user and session: the documentation says that the server refuses it."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("position", range(1, len(REQUESTS)), ids=lambda n: f"{n}-{_name(REQUESTS[n])}")
def test_a_request_of_the_original_gets_a_valid_answer(servers: Servers, mode: str, position: int) -> None:
    response = _sent(servers, mode, REQUESTS[position])
    assert response.status_code in (200, 201), response.text
    assert response.headers["content-type"].startswith("application/json")
    check_shape(REQUESTS[position].shape, response.content)


@pytest.mark.parametrize("mode", MODES)
def test_a_turn_of_nobody_is_refused_with_what_it_lacks(servers: Servers, mode: str) -> None:
    response = _sent(servers, mode, NOBODYS_TURN)
    assert (NOBODYS_TURN.variant, response.status_code) == ("min-unbound", 422)
    assert response.json()["code"] == "INVALID_REQUEST"
    for text in (response.json()["detail"], response.json()["error"]):
        assert "session_id" in text
        assert "user_id" in text


def test_there_are_as_many_requests_as_the_original_was_seen_to_send() -> None:
    assert len(REQUESTS) * len(MODES) == 144
    by_method = Counter(request.method_called for request in REQUESTS)
    assert len(by_method) == 19
    assert by_method["search"] == 6


def _name(request: WireRequest) -> str:
    return f"{request.method_called}-{request.variant}"


def _sent(servers: Servers, mode: str, request: WireRequest) -> httpx.Response:
    target = servers.replay[mode]
    return httpx.request(
        request.http_method,
        f"{target.base_url}{request.target(mode, target.project_id or '')}",
        content=None if request.body is None else _encoded(request.body),
        headers=_headers(target.token, request),
    )


def _headers(token: str | None, request: WireRequest) -> dict[str, str]:
    """Return the headers of the original, and two that nobody knows: such are ignored."""
    content = {"Content-Type": "application/json"} if request.body is not None else {}
    return (
        content
        | {"X-Unknown": "1", "X-Agentic-Agent-Id": "a"}
        | ({"Authorization": f"Bearer {token}"} if token else {})
    )


def _encoded(body: dict[str, object]) -> bytes:
    """Return a body as the original encodes it: compact, UTF-8, nothing escaped."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
