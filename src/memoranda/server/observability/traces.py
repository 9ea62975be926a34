"""Traces: one span a request, where an OpenTelemetry SDK is installed and configured; else nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from opentelemetry import propagate, trace
from opentelemetry.trace import NoOpTracerProvider, ProxyTracerProvider, Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace import TracerProvider as AnyProvider

from memoranda._version import __version__
from memoranda.server.observability.metrics import UNMATCHED

_CARRIED: Final = frozenset({"traceparent", "tracestate", "baggage", "b3"})


def tracer_of(provider: AnyProvider | None = None) -> Tracer | None:
    """Return what makes spans; None where no SDK is configured, so that a request pays nothing for it."""
    given = provider or trace.get_tracer_provider()
    if isinstance(given, ProxyTracerProvider | NoOpTracerProvider):
        return None
    return given.get_tracer("memoranda.server", __version__)


@contextmanager
def span_of(tracer: Tracer, method: str, headers: list[tuple[bytes, bytes]]) -> Iterator[Span]:
    """Open the span of a request, a child of the caller's where one was sent."""
    carrier = {name: value.decode("latin-1") for key, value in headers if (name := key.decode("latin-1")) in _CARRIED}
    with tracer.start_as_current_span(
        method,
        context=propagate.extract(carrier) if carrier else None,
        kind=SpanKind.SERVER,
        record_exception=False,  # Its message may repeat what the request held.
        set_status_on_exception=False,
    ) as span:
        yield span


def end_span(span: Span, method: str, route: str | None, status: int, request_id: str) -> None:
    """Name a span by its route and say how the request ended."""
    span.update_name(f"{method} {route or UNMATCHED}")
    span.set_attributes(
        {
            "http.request.method": method,
            "http.route": route or UNMATCHED,
            "http.response.status_code": status,
            "memoranda.request_id": request_id,
        }
    )
    if status >= 500:
        span.set_status(Status(StatusCode.ERROR))
