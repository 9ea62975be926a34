"""Bodies and paths that no honest client sends: each is refused, nothing is stored, and the server goes on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

JSON = {"Content-Type": "application/json"}
GOOD = b'{"session_id":"s","user_id":"u","role":"user","content":"c"%s}'


def refused(http: httpx.Client, content: bytes | Iterator[bytes], headers: dict[str, str] | None = None) -> str:
    answer = http.post("/turns", content=content, headers=JSON if headers is None else headers)
    told = answer.json()
    assert isinstance(told["detail"], str)
    assert told["detail"] == told["error"]
    assert http.get("/turns").json()["items"] == []
    return f"{answer.status_code} {told['code']} {told['detail']}"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "422 INVALID_REQUEST body: is required"),
        (b"{", "400 INVALID_JSON the body cannot be read as JSON: Expecting property name"),
        (b"[]", "422 INVALID_REQUEST body: must be an object"),
        (b'"x"', "422 INVALID_REQUEST body: must be an object"),
        (b"null", "422 INVALID_REQUEST body: must be an object"),
        (GOOD % b',"role":"tool"', "400 INVALID_JSON the body cannot be read as JSON: the key 'role' is given twice"),
        (GOOD % b',"ttl_days":NaN', "400 INVALID_JSON the body cannot be read as JSON: NaN is no number"),
        (GOOD % b',"ttl_days":1e999', "422 INVALID_REQUEST body.ttl_days: "),
        (GOOD % b',"metadata":{"a":-Infinity}', "400 INVALID_JSON the body cannot be read as JSON: -Infinity"),
        (GOOD % b',"metadata":{"a":1e999}', "400 INVALID_JSON metadata.a is inf"),
        (GOOD % b',"agent_id":"\\ud800"', "422 INVALID_REQUEST body.agent_id: holds half of a character"),
        (GOOD % b',"metadata":{"a":["\\uDC00"]}', "422 INVALID_REQUEST body.metadata.a[0]: holds half of a character"),
        (GOOD % b',"agent_id":"\\u0000"', "400 INVALID_ID agent_id"),
        (
            GOOD % b',"agent_id":"\xff"',
            "400 INVALID_JSON the body cannot be read as JSON: it is not UTF-8 (at",
        ),
        ((GOOD % b"").decode().encode("utf-16"), "400 INVALID_JSON the body cannot be read as JSON: it is not UTF-8"),
        (b"\xef\xbb\xbf" + GOOD % b"", "400 INVALID_JSON"),
        (b"[" * 200_000, "400 INVALID_JSON the body cannot be read as JSON: it is nested too deeply"),
        (b'{"a":' * 200_000, "400 INVALID_JSON the body cannot be read as JSON: it is nested too deeply"),
        (GOOD % (b',"metadata":{"a":%s}' % (b"[" * 300 + b"]" * 300)), "400 INVALID_JSON metadata.a[0]"),
        (GOOD % (b',"metadata":{"a":%s}' % (b"9" * 5000)), "400 INVALID_JSON the body cannot be read as JSON: Exceeds"),
        (GOOD % (b',"metadata":{"a":"%s"}' % (b"x" * 1_100_000)), "400 INVALID_JSON metadata is"),
        (b"x" * 10_000_000, "413 BODY_TOO_LARGE the body is larger than the 4194304 bytes"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value[:40],
)
def test_a_body_that_cannot_be_is_refused(http: httpx.Client, content: bytes, told: str) -> None:
    assert refused(http, content).startswith(told)


def test_a_body_without_a_declared_length_is_refused_once_it_is_too_large(http: httpx.Client) -> None:
    assert refused(http, (b"x" * 100_000 for _ in range(100))).startswith("413 BODY_TOO_LARGE")


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_body_that_is_not_said_to_be_json_is_refused(http: httpx.Client, media_type: str) -> None:
    headers = {"Content-Type": media_type} if media_type else {}
    assert refused(http, GOOD % b"", headers).startswith("415 NOT_JSON")


@pytest.mark.parametrize(
    "media_type", ["application/json; charset=utf-8", "application/vnd.agent-engine-2026-09-20-preview+json"]
)
def test_media_types_of_json_are_taken(http: httpx.Client, media_type: str) -> None:
    answer = http.post("/turns", content=GOOD % b"", headers={"Content-Type": media_type})
    assert answer.status_code == 200


def test_characters_in_two_halves_are_joined(http: httpx.Client) -> None:
    body = (GOOD % b"").replace(b'"content":"c"', b'"content":"\\ud83d\\ude00"')
    assert http.post("/turns", content=body, headers=JSON).status_code == 200
    assert http.get("/turns").json()["items"][0]["content"] == "😀"


def test_ids_of_reads_that_cannot_be_are_refused(http: httpx.Client) -> None:
    assert http.get("/turns?user_id=%00").status_code < 500
    assert http.get("/turns?user_id=%ff").status_code < 500
    assert http.get("/turns/%ff").json()["detail"] == "path.turn_id: is not percent-encoded UTF-8"


@pytest.mark.parametrize(("method", "status"), [("PUT", 405), ("OPTIONS", 405), ("BREW", 405), ("HEAD", 405)])
def test_methods_that_a_route_does_not_take(http: httpx.Client, method: str, status: int) -> None:
    answer = http.request(method, "/turns")
    assert answer.status_code == status
    assert "POST" in answer.headers["allow"] or "GET" in answer.headers["allow"]
    if method != "HEAD":
        assert answer.json()["code"] == "METHOD_NOT_ALLOWED"


@pytest.mark.parametrize("path", ["/turns/", "//turns", "/Turns", "/nothing", "/memories/a/b", "%2Fturns", "/"])
def test_unknown_routes_are_told_and_never_redirected(http: httpx.Client, path: str) -> None:
    answer = http.post(path, json={})
    assert (answer.status_code, answer.json()["code"]) == (404, "ROUTE_NOT_FOUND")


def test_every_answer_says_which_server_gave_it(http: httpx.Client, shared_url: str) -> None:
    for answer in (http.get("/turns"), http.get("/nothing"), http.post("/turns", json={}), httpx.get(shared_url)):
        assert answer.headers["X-Memoranda-Version"]


# --- by hand, for a client would tidy it


def raw(url: str, request: bytes, *, leave: bool = False) -> bytes:
    place = urlsplit(url)
    with socket.create_connection((place.hostname or "", place.port or 0), timeout=20) as connection:
        connection.sendall(request)
        if leave:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65_536):
            received += part
    return received


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (b"/api/v1/memory/memories/..", b"404 "),
        (b"/api/v1/memory/memories/%2e%2e", b"404 "),
        (b"/api/v1/memory/x/../memories", b"404 "),
        (b"/api/v1/projects/../memory/memories", b"200 "),
        (b"/api/v1/projects/a/../../memory/memories", b"404 "),
        (b"/api/v1/memory/./memories", b"404 "),
    ],
)
def test_dots_in_a_path_are_names_like_any_other(shared_url: str, path: bytes, status: bytes) -> None:
    answer = raw(shared_url, b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 " + status), answer


def test_a_client_that_leaves_in_the_middle_of_a_body_stores_nothing(http: httpx.Client, shared_url: str) -> None:
    path = http.base_url.raw_path + b"turns"
    head = b"POST " + path + b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
    raw(shared_url, head + GOOD % b"", leave=True)
    assert http.get("/turns").json()["items"] == []
