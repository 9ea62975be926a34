"""A server and a worker may be killed at any moment: what was acknowledged is there, once, and its work is finished."""

from __future__ import annotations

import random
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from memoranda.testing import integrity
from tests.processes.server_processes import Running, running, serve_words, worker_words

CLIENTS = 3
PATIENCE = 120.0


@dataclass(slots=True)
class Client:
    """Records turns one after the other until its server is gone; repeats the one it has no answer for."""

    user: str
    acknowledged: int = 0
    refused: list[str] = field(default_factory=list)

    def record_until_the_end(self, url: str) -> None:
        with httpx.Client(base_url=f"{url}/api/v1/memory", timeout=30.0) as http:
            while True:
                try:
                    answer = http.post("/turns", json=self._next())
                except httpx.TransportError:
                    return
                if answer.status_code != 200:
                    self.refused.append(answer.text)
                    return
                self.acknowledged += 1

    def _next(self) -> dict[str, str]:
        number = self.acknowledged
        return {
            "user_id": self.user,
            "session_id": "s",
            "role": "user",
            "content": said(number),
            "idempotency_key": f"{self.user}-{number}",
        }


def said(number: int) -> str:
    return f"I have {number} cats."


def turns_of(url: str, user: str) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    while True:
        query: dict[str, Any] = {"session_id": "s", "user_id": user, "limit": 500}
        page = httpx.get(f"{url}/api/v1/memory/turns", params=query | ({"cursor": cursor} if cursor else {})).json()
        found += [turn["content"] for turn in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def wait_until_idle(url: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not httpx.post(f"{url}/api/v1/memory/wait", json={"timeout": 5, "promote": True}, timeout=30).json()["idle"]:
        assert time.monotonic() < deadline, "the work of the killed was not taken over"


def complaints(log: Path) -> str:
    """What the servers logged of errors."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(line for line in lines if '"level": "info"' not in line)[-4000:]


def load_and_kill(clients: list[Client], server: Running, worker: Running, chance: random.Random) -> None:
    threads = [threading.Thread(target=client.record_until_the_end, args=(server.url,)) for client in clients]
    before = [client.acknowledged for client in clients]
    for thread in threads:
        thread.start()
    while any(
        client.acknowledged == start and not client.refused for client, start in zip(clients, before, strict=True)
    ):
        time.sleep(0.01)
    time.sleep(chance.uniform(0.0, 1.0))
    victims = [server, worker]
    chance.shuffle(victims)
    for victim in victims:
        victim.kill()
    for thread in threads:
        thread.join()


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.drill)])
def test_killed_servers_and_workers_lose_no_acknowledged_turn(tmp_path: Path, rounds: int) -> None:
    store, log, chance = tmp_path / "memory.db", tmp_path / "log", random.Random(7)
    clients = [Client(f"u{number}") for number in range(CLIENTS)]
    for _ in range(rounds):
        with ExitStack() as stack:
            server = stack.enter_context(running(*serve_words(store, "--no-worker"), log=log))
            worker = stack.enter_context(running(*worker_words(store), log=log))
            load_and_kill(clients, server, worker, chance)
        assert [client.refused for client in clients] == [[]] * CLIENTS, complaints(log)
        assert integrity.check(store) == []
    with (
        running(*serve_words(store, "--no-worker"), log=log) as server,
        running(*worker_words(store), log=log),
    ):
        wait_until_idle(server.url)
        for client in clients:
            # One turn more may be durable than was acknowledged.
            least = [said(number) for number in range(client.acknowledged)]
            assert turns_of(server.url, client.user) in (least, [*least, said(client.acknowledged)])
        status = httpx.get(f"{server.url}/api/v1/memory/status").json()
        assert (status["failures"], status["jobs"]["running"]) == ({}, 0)
    assert integrity.check(store) == []


def in_flight(url: str) -> float:
    lines = httpx.get(f"{url}/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("memoranda_http_in_flight "))


def test_server_that_is_asked_to_end_answers_what_it_accepted(tmp_path: Path) -> None:
    store, log, answers = tmp_path / "memory.db", tmp_path / "log", list[httpx.Response]()
    with running(*serve_words(store, "--no-worker"), log=log) as server:
        turn = {"user_id": "u", "session_id": "s", "role": "user", "content": "x"}
        assert httpx.post(f"{server.url}/api/v1/memory/turns", json=turn).status_code == 200

        def wait() -> None:
            answers.append(
                httpx.post(f"{server.url}/api/v1/memory/wait", json={"timeout": 3, "promote": True}, timeout=30)
            )

        waiting = threading.Thread(target=wait)
        waiting.start()
        while in_flight(server.url) < 2:
            time.sleep(0.01)
        assert server.end() == 0
        waiting.join()
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.url}/health/live")
    assert [(answer.status_code, answer.json()) for answer in answers] == [(200, {"idle": False})]


def test_worker_that_is_asked_to_end_gives_back_what_it_holds(tmp_path: Path) -> None:
    store, log = tmp_path / "memory.db", tmp_path / "log"
    with running(*serve_words(store, "--no-worker"), log=log) as server:
        client = Client("u")
        recording = threading.Thread(target=client.record_until_the_end, args=(server.url,))
        recording.start()
        with running(*worker_words(store), log=log) as worker:
            while client.acknowledged < 50:
                time.sleep(0.01)
            assert worker.end() == 0
        assert httpx.get(f"{server.url}/api/v1/memory/status").json()["jobs"]["running"] == 0
        assert server.end() == 0
        recording.join()
    assert integrity.check(store) == []
