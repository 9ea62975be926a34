"""Background work, failures and the export, over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.engine.jobs.failure import FailureClass, WorkError
from memoranda.runtime.fleet import Fleet
from memoranda.runtime.hosting import EngineHost
from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from memoranda.testing.extractors import ScriptedExtractor
from tests.server.live import open_host, serving

TURN: dict[str, Any] = {"session_id": "s1", "user_id": "ada", "role": "user", "content": "hello"}


class RefusedError(WorkError):
    failure_class = FailureClass.CONTENT


def refuse(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
    raise RefusedError("the model refused")


@pytest.fixture
def failing(tmp_path: Path) -> Iterator[httpx.Client]:
    """A server whose extractor refuses everything, with one turn that it refused."""
    with (
        closing(open_host(tmp_path, extractor=ScriptedExtractor(refuse))) as host,
        serving(create_app(host, OpenGatekeeper(), ServerSettings())) as url,
        httpx.Client(base_url=f"{url}/api/v1/memory") as http,
    ):
        http.post("/turns", json=TURN)
        assert http.post("/wait", json={"timeout": 20}).json() == {"idle": True}
        yield http


def test_a_session_is_promoted_on_request(http: httpx.Client) -> None:
    http.post("/turns", json=TURN)
    (promoted,) = http.post("/promote", json={"session_id": "s1", "user_id": "ada"}).json()["results"]
    assert (promoted["session_id"], promoted["promoted_count"]) == ("s1", 1)
    assert http.post("/promote", json={}).json() == {"results": []}


def test_waiting_promotes_and_says_when_all_is_done(http: httpx.Client) -> None:
    http.post("/turns", json=TURN)
    assert http.post("/wait", json={"timeout": 20, "promote": True}).json() == {"idle": True}
    assert http.get("/turns").json()["items"][0]["promoted"] is True


def test_many_who_wait_leave_the_server_to_others(own_http: httpx.Client, host: EngineHost) -> None:
    host.leave_work_to(lambda project_id: None)  # to a fleet that comes later
    own_http.post("/turns", json=TURN)
    own_http.post("/promote", json={})
    answers: list[object] = []

    def wait() -> None:
        answers.append(httpx.post(f"{own_http.base_url}wait", json={"timeout": 20}, timeout=30).json())

    waiting = [threading.Thread(target=wait) for _ in range(60)]  # more than there are threads for handlers
    for thread in waiting:
        thread.start()
    assert own_http.get("/status").json()["jobs"]["pending"] > 0
    assert answers == []
    fleet = Fleet(host)
    fleet.start()
    for thread in waiting:
        thread.join()
    fleet.stop()
    assert answers == [{"idle": True}] * 60


@pytest.mark.parametrize("timeout", [-1, 21, "NaN"])
def test_nobody_waits_longer_than_a_connection_lives(http: httpx.Client, timeout: object) -> None:
    answer = http.post("/wait", json={"timeout": timeout})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("body.timeout: must be")


def test_the_status_counts_what_the_project_holds(http: httpx.Client) -> None:
    http.post("/turns", json=TURN)
    http.post("/semantic", json={"label": "l", "text": "t", "user_id": "ada"})
    told = http.get("/status").json()
    assert (told["turns"], told["sessions"], told["memories"]) == (1, 1, {"semantic": 1})


def test_failures_are_listed_shown_retried_and_discarded(failing: httpx.Client) -> None:
    (failure,) = failing.get("/failures").json()["items"]
    assert failing.get(f"/failures/{failure['id']}").json() == failure
    assert failure["failure_class"] == "content"
    assert failing.get("/failures", params={"failure_class": "transient"}).json()["items"] == []
    assert failing.post("/failures/retry", json={"ids": [failure["id"]]}).json() == {"count": 1}
    assert failing.get("/failures").json()["items"] == []
    failing.post("/wait", json={"timeout": 20})
    assert failing.post("/failures/discard", json={"failure_class": "content"}).json() == {"count": 1}
    assert failing.get(f"/failures/{failure['id']}").status_code == 404


def test_nothing_is_discarded_by_a_request_without_a_body(failing: httpx.Client) -> None:
    assert failing.post("/failures/discard").status_code == 422
    assert failing.post("/failures/discard", json={"id": ["x"]}).status_code == 422
    assert len(failing.get("/failures").json()["items"]) == 1


def test_an_export_is_a_line_for_each_record_between_header_and_end(http: httpx.Client) -> None:
    http.post("/turns", json={**TURN, "content": "Grüße"})
    http.post("/semantic", json={"label": "l", "text": "t", "user_id": "ada"})
    answer = http.get("/export", params={"vectors": "true"})
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    kinds = [line["type"] for line in lines]
    assert (kinds[0], kinds[-1]) == ("header", "end")
    assert {"turn", "memory", "session"} <= set(kinds)
    assert "Grüße" in answer.text
