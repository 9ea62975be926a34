"""The layer around all others: every request is counted, timed, logged and traced, by its route and never by its path.

A path holds ids of people; a route's template does not.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

from fastapi import FastAPI
from opentelemetry.trace import Span, Tracer, TracerProvider
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoranda.runtime.hosting import EngineHost
from memoranda.server.observability.logs import CURRENT_REQUEST, RequestIds
from memoranda.server.observability.metrics import UNMATCHED, ServerMetrics
from memoranda.server.observability.traces import end_span, span_of, tracer_of

logger = logging.getLogger(__name__)

REQUEST_ID: Final = "X-Request-Id"
"""The header that names a request; one is made up where the caller sends none."""
EXECUTION_ID: Final = "X-Agent-Engine-Execution-Id"

_REQUEST_ID: Final = REQUEST_ID.lower().encode()
_EXECUTION_ID: Final = EXECUTION_ID.lower().encode()
_ID: Final = re.compile(rb"[A-Za-z0-9._:\-]{1,128}")
_PROBES: Final = ("/health/live", "/health/ready", "/metrics")


@dataclass(slots=True)
class _Seen:
    """One request as it goes by; ``status`` stays 500 where nothing was answered."""

    method: str
    ids: RequestIds
    began: float = field(default_factory=time.perf_counter)
    status: int = 500


class ObserveRequests:
    """ASGI middleware for HTTP requests."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics, tracer: Tracer | None = None) -> None:
        self._app = app
        self._metrics = metrics
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = _Seen(scope["method"], _ids_of(scope["headers"]))
        stamp = (_REQUEST_ID, seen.ids.request_id.encode())

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.status = message["status"]
                message["headers"] = [*message.get("headers", ()), stamp]
            await send(message)

        token = CURRENT_REQUEST.set(seen.ids)
        self._metrics.began()
        with ExitStack() as stack:
            span = None
            if self._tracer is not None:
                span = stack.enter_context(span_of(self._tracer, seen.method, scope["headers"]))
            try:
                await self._app(scope, receive, noted)
            finally:
                self._ended(scope, seen, span)
                CURRENT_REQUEST.reset(token)

    def _ended(self, scope: Scope, seen: _Seen, span: Span | None) -> None:
        seconds, route = time.perf_counter() - seen.began, _template(scope)
        self._metrics.ended(seen.method, route, seen.status, seconds)
        if span is not None:
            end_span(span, seen.method, route, seen.status, seen.ids.request_id)
        level = logging.DEBUG if route in _PROBES else logging.INFO
        if logger.isEnabledFor(level):
            extra = {
                "method": seen.method[:16],
                "route": route or UNMATCHED,
                "status": seen.status,
                "duration_ms": round(seconds * 1000, 2),
            }
            logger.log(level, "http.request", extra=extra)


def observe(app: FastAPI, host: EngineHost, provider: TracerProvider | None = None) -> None:
    """Put the layer around an app; ``app.state.metrics`` are its metrics."""
    app.state.metrics = ServerMetrics(host)
    app.add_middleware(ObserveRequests, metrics=app.state.metrics, tracer=tracer_of(provider))


def _template(scope: Scope) -> str | None:
    """Return the template of the route that was matched, with its prefix; None where there was none."""
    # Where a router is included under a prefix, newer versions of FastAPI leave the route itself without it.
    effective = scope.get("fastapi", {}).get("effective_route_context")
    path = getattr(effective or scope.get("route"), "path", None)
    return path if isinstance(path, str) else None


def _ids_of(headers: list[tuple[bytes, bytes]]) -> RequestIds:
    request_id = execution_id = None
    for name, value in headers:
        if name == _REQUEST_ID and _ID.fullmatch(value):
            request_id = value.decode()
        elif name == _EXECUTION_ID and _ID.fullmatch(value):
            execution_id = value.decode()
    return RequestIds(request_id or uuid.uuid4().hex, execution_id)
