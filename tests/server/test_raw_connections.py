"""What arrives is not always HTTP as it should be: the server answers, and serves the others meanwhile."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack, closing
from urllib.parse import urlsplit

import httpx
import pytest

HOST = b"Host: localhost\r\n"
TURN = json.dumps({"user_id": "u", "session_id": "s", "role": "user", "content": "x"}).encode()
JSON = b"Content-Type: application/json\r\n"


def sent(url: str, raw: bytes) -> socket.socket:
    address = urlsplit(url)
    connection = socket.create_connection((address.hostname, address.port), timeout=30)
    connection.sendall(raw)
    return connection


def post(path: bytes, body: bytes, *more: bytes) -> bytes:
    length = b"Content-Length: %d\r\n" % len(body)
    return b"POST %s HTTP/1.1\r\n" % path + HOST + JSON + length + b"".join(more) + b"\r\n" + body


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300) + b"\r\n\r\n",
        b"GET /health/live HTTP/1.1\r\n\r\n",
        b"GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /health/live HTTP/1.1\r\n" + HOST + b"X-Long: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\n" + HOST + b"\r\n",
        b"POST /api/v1/memory/turns HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: -4\r\n\r\nabcd",
        b"POST /api/v1/memory/turns HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nabcd",
        b"POST /api/v1/memory/turns HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
    ],
    ids=["TLS", "no host", "two hosts", "long header", "bytes in the path", "negative", "endless", "two lengths"],
)
def test_what_is_no_http_is_refused_and_its_connection_ended(shared_url: str, raw: bytes) -> None:
    with closing(sent(shared_url, raw)) as connection:
        answer = b""
        try:
            while part := connection.recv(65536):
                answer += part
        except ConnectionResetError:
            """What was not read yet is thrown away with the connection."""
    assert answer[:12] in (b"HTTP/1.1 400", b"")
    assert httpx.get(f"{shared_url}/health/live").is_success


def test_requests_that_are_sent_at_once_are_answered_in_their_order(shared_url: str) -> None:
    path = b"/api/v1/projects/pipelined/memory/turns"
    last = post(path, TURN, b"Connection: close\r\n")
    with closing(sent(shared_url, post(path, TURN) * 19 + last)) as connection:
        answers = b"".join(iter(lambda: connection.recv(65536), b""))
    numbers = [json.loads(each.partition(b"\r\n\r\n")[2])["turn_seq"] for each in answers.split(b"HTTP/1.1 200")[1:]]
    assert numbers == list(range(1, 21))


def test_requests_that_are_never_finished_leave_the_server_to_others(shared_url: str, http: httpx.Client) -> None:
    halves = [post(b"/api/v1/memory/turns", TURN)[:-1], b"GET /health/li", b""]
    with ExitStack() as stack:
        for half in halves * 60:  # more than there are threads for handlers
            stack.enter_context(closing(sent(shared_url, half)))
        assert http.post("/turns", content=TURN, headers={"Content-Type": "application/json"}).json()["turn_seq"] == 1
    assert http.get("/turns", params={"session_id": "s", "user_id": "u"}).json()["items"][0]["content"] == "x"
