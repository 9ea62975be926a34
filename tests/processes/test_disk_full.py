"""A server whose disk is full says so, goes on reading, loses nothing, and goes on by itself once there is room."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest

from memoranda.testing import integrity
from tests.processes.server_processes import running, serve_words

ROOM = 4 * 1024 * 1024
MOST = 2000
WORDS = "lorem ipsum " * 300


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of another process can be changed on Linux only")
def test_full_disk_costs_no_acknowledged_turn(tmp_path: Path) -> None:
    import resource

    store, log = tmp_path / "memory.db", tmp_path / "log"
    with running(*serve_words(store, "--no-worker"), log=log) as server:
        # Files that cannot grow are as good as a full disk, and need no right to mount one.
        _, most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        with httpx.Client(base_url=f"{server.url}/api/v1/memory", timeout=30) as http:
            kept = [record(http, 0).json()["id"]]
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (ROOM, most))
            refused = next(answer for number in range(1, MOST) if (answer := told(http, number, kept)).is_error)
            assert (refused.status_code, refused.json()["code"]) == (503, "STORE_ERROR")
            assert http.get("/turns", params={"session_id": "s", "user_id": "u"}).is_success
            assert httpx.get(f"{server.url}/health/live").is_success
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (most, most))
            assert told(http, MOST, kept).is_success
            assert turns_of(http) == kept
    assert integrity.check(store) == []


def record(http: httpx.Client, number: int) -> httpx.Response:
    turn = {"user_id": "u", "session_id": "s", "role": "user", "content": f"{number}: {WORDS}"}
    return http.post("/turns", json=turn)


def told(http: httpx.Client, number: int, kept: list[str]) -> httpx.Response:
    answer = record(http, number)
    if answer.is_success:
        kept.append(answer.json()["id"])
    return answer


def turns_of(http: httpx.Client) -> list[str]:
    page = http.get("/turns", params={"session_id": "s", "user_id": "u", "limit": 1000}).json()
    assert page["next_cursor"] is None
    return [turn["id"] for turn in page["items"]]
