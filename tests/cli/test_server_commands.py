"""`memoranda dev up` and `serve`, started as their users start them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import Run
from tests.processes.server_processes import running

TURN = {"user_id": "u", "session_id": "s", "role": "user", "content": "I live in Graz."}


def test_dev_up_serves_both_route_shapes_without_a_token_and_does_the_work(tmp_path: Path) -> None:
    (tmp_path / "project-config.yaml").write_text("memory:\n  log_level: debug\n", encoding="utf-8")
    words = ("dev", "up", "--port", "0", "--store", str(tmp_path / "memory.db"))
    with running(*words, "--config", str(tmp_path / "project-config.yaml"), log=tmp_path / "log") as server:
        assert server.process.stdout is not None
        lines = [server.process.stdout.readline() for _ in range(5)]
        assert f"  export AGENTIC_MEMORY_BASE_URL={server.url}\n" in lines
        for base in ("/api/v1/memory", "/api/v1/projects/other/memory"):
            with httpx.Client(base_url=server.url + base, timeout=60) as http:
                assert http.post("/turns", json=TURN, headers={"Authorization": "Bearer any"}).status_code == 200
                assert http.post("/wait", json={"timeout": 20, "promote": True}).json() == {"idle": True}
                found = http.get("/semantic", params={"user_id": "u"}).json()["entries"]
                assert ["Graz" in entry["content"] for entry in found] == [True]
                assert http.get("/config").json()["config"]["log_level"] == "debug"
        assert server.end() == 0


def test_changed_configuration_is_in_force_with_the_next_dev_up(tmp_path: Path) -> None:
    config, store = tmp_path / "project-config.yaml", tmp_path / "memory.db"
    for messages in (5, 6):
        block = {"memory": {"background_extraction": {"snapshot": {"max_messages": messages}}}}
        config.write_text(json.dumps(block), encoding="utf-8")
        words = ("dev", "up", "--port", "0", "--store", str(store), "--config", str(config))
        with running(*words, log=tmp_path / "log") as server:
            httpx.post(f"{server.url}/api/v1/memory/turns", json=TURN)
            found = httpx.get(f"{server.url}/api/v1/memory/config").json()
            server.end()
        assert found["config"]["background_extraction"]["snapshot"]["max_messages"] == messages


def test_serve_asks_for_a_token_and_logs_what_it_does(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running("serve", "--port", "0", "--store", str(tmp_path / "memory.db"), "-v", log=log) as server:
        refused = httpx.post(f"{server.url}/api/v1/projects/p/memory/turns", json=TURN)
        assert (refused.status_code, refused.json()["code"]) == (401, "TOKEN_MISSING")
        assert httpx.get(f"{server.url}/health/ready").status_code == 200
        assert server.end() == 0
    events = [json.loads(line)["event"] for line in log.read_text(encoding="utf-8").splitlines()]
    assert events[0] == "fleet.started"
    assert events[-1] == "server.stopped"
    assert "http.request" in events
    assert not re.search("Graz", log.read_text(encoding="utf-8"))


def test_serve_refuses_to_listen_to_everybody_without_authentication(run: Run, tmp_path: Path) -> None:
    done = run("serve", "--no-auth", "--host", "0.0.0.0", "--port", "0", "--store", str(tmp_path / "memory.db"))
    assert done.code == 2
    assert "--allow-unauthenticated-remote" in done.complaint


def test_serve_says_so_when_it_cannot_listen(run: Run, tmp_path: Path) -> None:
    with running("dev", "up", "--port", "0", "--store", str(tmp_path / "a.db"), log=tmp_path / "log") as server:
        port = server.url.rpartition(":")[2]
        done = run("serve", "--no-auth", "--port", port, "--store", str(tmp_path / "b.db"), "--no-log")
    assert done.code == 1
    assert "ddress already in use" in done.complaint


def test_worker_makes_no_store(run: Run, tmp_path: Path) -> None:
    done = run("worker", "--store", str(tmp_path / "missing.db"))
    assert (done.code, "there is no store" in done.complaint) == (2, True)


@pytest.mark.parametrize("word", ["--port=-1", "--port=70000", "--log-level=loud", "--workers-in-process=0"])
def test_flags_that_cannot_be_are_wrong_usage(run: Run, word: str) -> None:
    assert run("serve", word).code == 2
