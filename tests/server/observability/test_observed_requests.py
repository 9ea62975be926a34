"""Every request is counted, logged and traced by its route, and nothing of what it holds is."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from memoranda.runtime.fleet import Fleet
from memoranda.runtime.hosting import EngineHost
from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.observability.logs import JsonFormatter, LogSettings, logging_to
from memoranda.server.observability.requests import ObserveRequests
from memoranda.server.observability.traces import tracer_of
from memoranda.server.settings import ServerSettings
from tests.server.live import open_host, serving

SECRET = "my-innermost-thought"
TURN = {"role": "user", "content": SECRET, "user_id": f"user-{SECRET}", "session_id": f"session-{SECRET}"}


@pytest.fixture
def host(tmp_path: Path) -> Iterator[EngineHost]:
    with closing(open_host(tmp_path)) as host:
        yield host


@pytest.fixture
def app(host: EngineHost) -> FastAPI:
    return create_app(host, OpenGatekeeper(), ServerSettings())


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """The samples by name and the values of their labels."""
    return {
        (sample.name, tuple(sample.labels[key] for key in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_requests_are_counted_by_route_template_and_status(app: FastAPI) -> None:
    with serving(app) as url:
        for project in ("one", "two"):
            httpx.post(f"{url}/api/v1/projects/{project}/memory/turns", json=TURN)
        httpx.post(f"{url}/api/v1/memory/turns", json={})
        for path in ("a", "b", f"{SECRET}/c"):
            httpx.get(f"{url}/{path}")
        text = httpx.get(f"{url}/metrics").text
    found = samples(text)
    route = "/api/v1/projects/{project_id}/memory/turns"
    assert found["memoranda_http_requests_total", ("POST", route, "200")] == 2
    assert found["memoranda_http_requests_total", ("POST", "/api/v1/memory/turns", "422")] == 1
    assert found["memoranda_http_requests_total", ("GET", "unmatched", "404")] == 3
    assert found["memoranda_http_request_seconds_count", ("POST", route)] == 2
    assert found["memoranda_http_in_flight", ()] == 1  # the one that asks
    assert SECRET not in text


def test_queue_and_fleet_are_told(app: FastAPI, host: EngineHost) -> None:
    fleet = Fleet(host)
    app.state.metrics.watch(fleet)
    with serving(app) as url:
        httpx.post(f"{url}/api/v1/memory/turns", json=TURN)
        found = samples(httpx.get(f"{url}/metrics").text)
    assert found["memoranda_jobs_pending", ()] > 0
    assert found["memoranda_failures", ()] == 0
    assert found["memoranda_store_reachable", ()] == 1
    assert found["memoranda_worker_running", ()] == 0
    assert ("memoranda_oldest_due_job_seconds", ()) in found


def test_methods_that_are_made_up_are_one_label(app: FastAPI) -> None:
    with serving(app) as url:
        for method in ("BREW", "WHEN"):
            httpx.request(method, f"{url}/api/v1/memory/turns")
        found = samples(httpx.get(f"{url}/metrics").text)
    methods = {labels[0] for name, labels in found if name == "memoranda_http_requests_total"}
    assert methods <= {"other", "GET"}


def test_log_has_one_line_a_request_and_no_content(app: FastAPI, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    with logging_to(LogSettings(level="debug", file=file)), serving(app) as url:
        headers = {
            "X-Request-Id": "r-1",
            "X-Agent-Engine-Execution-Id": "e-1",
            "Authorization": f"Bearer {SECRET}",
        }
        httpx.post(f"{url}/api/v1/memory/turns?q={SECRET}", json=TURN, headers=headers)
        httpx.post(f"{url}/api/v1/memory/turns", json={**TURN, "role": [SECRET]})
        httpx.get(f"{url}/{SECRET}")
    text = file.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    first = next(line for line in lines if line["event"] == "http.request")
    assert (first["route"], first["status"], first["request_id"], first["execution_id"]) == (
        "/api/v1/memory/turns",
        200,
        "r-1",
        "e-1",
    )
    assert sum(line["event"] == "http.request" for line in lines) == 3
    assert SECRET not in text


@pytest.mark.parametrize("sent", ["", "x" * 200, "a b", 'quote"', "r\u00e4"])
def test_request_id_that_could_break_a_log_is_replaced(app: FastAPI, sent: str) -> None:
    with serving(app) as url:
        answer = httpx.get(f"{url}/health/live", headers=[(b"X-Request-Id", sent.encode())])
    assert answer.headers["X-Request-Id"] not in ("", sent)


def test_request_id_that_was_sent_comes_back(app: FastAPI) -> None:
    with serving(app) as url:
        assert httpx.get(f"{url}/nowhere", headers={"X-Request-Id": "r.1"}).headers["X-Request-Id"] == "r.1"


def test_spans_are_named_by_their_route_and_are_children_of_the_callers(app: FastAPI) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traced = ObserveRequests(app, app.state.metrics, tracer_of(provider))
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    with serving(traced) as url:
        caller = {"traceparent": f"00-{trace_id}-b7ad6b7169203331-01"}
        httpx.post(f"{url}/api/v1/projects/p/memory/turns", json=TURN, headers=caller)
        httpx.get(f"{url}/{SECRET}")
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == ["POST /api/v1/projects/{project_id}/memory/turns", "GET unmatched"]
    assert f"{spans[0].context.trace_id:032x}" == trace_id
    assert SECRET not in "".join(span.to_json() for span in spans)


def test_without_an_sdk_there_are_no_spans() -> None:
    assert tracer_of() is None


def test_words_of_an_unknown_error_stay_out_of_the_log() -> None:
    def line(error: Exception) -> dict[str, object]:
        record = logging.LogRecord("memoranda", logging.ERROR, __file__, 1, "it.failed", (), None)
        record.exc_info = (type(error), error, error.__traceback__)
        told: dict[str, object] = json.loads(JsonFormatter().format(record))
        return told

    assert SECRET not in json.dumps(line(ValueError(SECRET)))
    told = line(OSError(28, "no space left on device"))
    assert (told["event"], told["error"]) == ("it.failed", "OSError")
    assert "no space left" in str(told["reason"])


def test_health_tells_of_a_store_that_cannot_be_read(app: FastAPI, host: EngineHost) -> None:
    with serving(app) as url:
        ready = httpx.get(f"{url}/health/ready")
        assert (ready.status_code, ready.json()["status"]) == (200, "ready")
        assert ready.json()["schema_version"]
        host.store.close()
        assert httpx.get(f"{url}/health/ready").status_code == 503
        assert httpx.get(f"{url}/health/live").status_code == 200
        probed = [httpx.head(f"{url}/health/{name}") for name in ("live", "ready")]
        assert [(answer.status_code, answer.content) for answer in probed] == [(200, b""), (503, b"")]
        assert samples(httpx.get(f"{url}/metrics").text)["memoranda_store_reachable", ()] == 0
