"""A project's configuration over HTTP: stored, then applied; and the state of its runtime and queue."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from memoranda.engine.config import load_config
from memoranda.runtime.hosting import EngineHost
from memoranda.sdk.errors import MemoryConfigError
from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.routes.configuration import check_outside_config
from memoranda.server.settings import ServerSettings
from tests.server.live import CONFIG, open_host, serving

DEBUG = {"memory": {**CONFIG["memory"], "log_level": "debug"}}


@pytest.fixture
def http(own_http: httpx.Client) -> httpx.Client:
    return own_http


def test_stored_configuration_is_in_force_once_it_is_synced(http: httpx.Client, host: EngineHost) -> None:
    stored = http.put("/config", json=DEBUG)
    assert (stored.status_code, stored.json()["pending"], stored.json()["changes"]) == (200, True, ["log_level"])
    with host.runtime("default") as runtime:
        assert runtime.engine.config.log_level is None
    assert http.get("/runtime").json()["pending_config"] is True
    synced = http.post("/config/sync").json()
    assert (synced["synced"], synced["pending"]) == (True, False)
    with host.runtime("default") as runtime:
        assert runtime.engine.config.log_level == "debug"
    assert http.post("/config/sync").json()["synced"] is False


def test_configurations_change_under_those_who_write(http: httpx.Client) -> None:
    writers, turns, changed = 4, 15, threading.Event()

    def write(number: int) -> list[int]:
        turn = {"session_id": f"s{number}", "user_id": "u", "role": "user", "content": "x"}
        answers = [http.post("/turns", json=turn).status_code]
        while not changed.is_set() or len(answers) < turns:
            answers.append(http.post("/turns", json=turn).status_code)
        return answers

    with ThreadPoolExecutor(writers) as pool:
        writing = [pool.submit(write, number) for number in range(writers)]
        try:
            for level in ("debug", "info", "warning", "error"):
                stored = http.put("/config", json={"memory": {**CONFIG["memory"], "log_level": level}})
                synced = http.post("/config/sync")
                assert (stored.status_code, synced.json()["synced"]) == (200, True)
        finally:
            changed.set()
        answers = [each for written in writing for each in written.result()]
    assert set(answers) == {200}
    assert http.get("/status").json()["turns"] == len(answers)
    assert http.get("/config").json()["config"]["log_level"] == "error"


def test_configuration_comes_back_as_a_document_that_can_be_sent_again(http: httpx.Client) -> None:
    found = http.get("/config").json()["config"]
    assert load_config(found) == load_config(CONFIG)
    for document in (found, {"memory": found}, {"config": found}):
        again = http.put("/config", json=document)
        assert (again.status_code, again.json()["changes"]) == (200, [])


def test_both_route_shapes_configure_their_own_project(http: httpx.Client, url: str) -> None:
    hosted = httpx.put(f"{url}/api/v1/projects/other/memory/config", json=DEBUG)
    assert hosted.json()["pending"] is True
    assert http.get("/config").json()["pending"] is False


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"memory": {"log_level": "loud"}}, "memory.log_level"),
        ({"memory": {"custom_memory_types": []}}, "'tickets' cannot be removed"),
        ({"memory": {**CONFIG["memory"], "extraction_llm": {"base_url": "http://evil.example"}}}, "base_url"),
        ({"memory": {**CONFIG["memory"], "extraction_llm": {"api_key_secret": "AWS_SECRET"}}}, "api_key_secret"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_name(http: httpx.Client, document: object, named: str) -> None:
    refused = http.put("/config", json=document)
    assert refused.status_code == 400
    assert named in refused.json()["detail"]
    assert http.get("/config").json()["pending"] is False


def test_operator_says_which_models_and_keys_a_configuration_may_name() -> None:
    config = load_config(
        {"extraction_llm": {"provider": "openai", "base_url": "http://llm.internal/v1/", "api_key_secret": "TEAM_KEY"}}
    )
    check_outside_config(
        config, ServerSettings(config_model_urls=("http://llm.internal/v1",), config_secrets=("TEAM_KEY",))
    )
    check_outside_config(config, ServerSettings(config_model_urls=("*",), config_secrets=("*",)))
    with pytest.raises(MemoryConfigError, match="MEMORANDA_SERVER_CONFIG_MODEL_URLS"):
        check_outside_config(config, ServerSettings(config_secrets=("TEAM_KEY",)))


def test_configuration_that_cannot_be_applied_leaves_the_project_as_it_was(http: httpx.Client) -> None:
    document = {"memory": {**CONFIG["memory"], "analyser": {"language": "german"}}}
    http.post("/turns", json={"role": "user", "content": "x", "user_id": "u", "session_id": "s"})
    assert http.put("/config", json=document).status_code == 200
    refused = http.post("/config/sync")
    assert (refused.status_code, refused.json()["code"]) == (409, "ANALYSER_MISMATCH")
    assert http.get("/runtime").json()["state"] == "ready"


def test_runtime_is_provisioned_once(http: httpx.Client) -> None:
    assert [http.post("/runtime").status_code for _ in range(2)] == [202, 200]
    assert http.get("/runtime").json()["state"] == "ready"
    assert http.post("/runtime/restart").json()["blocked_on"] is None


def test_project_that_is_not_there_has_no_runtime(tmp_path: Path) -> None:
    host = open_host(tmp_path, create_projects=False)
    with serving(create_app(host, OpenGatekeeper(), ServerSettings())) as url:
        for method, path in (("GET", "config"), ("POST", "runtime"), ("POST", "config/sync")):
            answer = httpx.request(method, f"{url}/api/v1/projects/nobody/memory/{path}")
            assert (answer.status_code, answer.json()["code"]) == (404, "NO_WORKSPACE_ENDPOINT")
        state = httpx.get(f"{url}/api/v1/projects/nobody/memory/runtime").json()
        assert (state["state"], state["blocked_on"]) == ("failed", "NO_WORKSPACE_ENDPOINT")
    host.close()


@pytest.mark.parametrize("path", ["/queueStats", "/worker/queueStats"])
def test_queue_is_counted(http: httpx.Client, path: str) -> None:
    before = http.get(path).json()
    http.post("/turns", json={"role": "user", "content": "x", "user_id": "u", "session_id": "s"})
    after = http.get(path).json()
    assert set(after) == {"queued", "running", "failed"}
    assert after["queued"] > before["queued"] == 0
