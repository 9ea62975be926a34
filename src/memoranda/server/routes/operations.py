"""What watches a server asks: does it live, is it ready, how does it fare."""

from __future__ import annotations

import logging

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from memoranda._version import __version__
from memoranda.runtime.hosting import EngineHost
from memoranda.sdk.errors import MemoryStoreError
from memoranda.server.documents import Tag, told
from memoranda.server.observability.metrics import ServerMetrics

logger = logging.getLogger(__name__)

router = APIRouter()

_READY = {"status": "ready", "version": __version__, "schema_version": "0001"}


# Some probes ask by HEAD.
@router.head("/health/live", include_in_schema=False)
@router.get("/health/live", **told(Tag.OPERATIONS, {"status": "live", "version": __version__}))
async def live() -> JSONResponse:
    """Say that the process answers. It touches nothing else: restarting helps when this fails, and only then."""
    return JSONResponse({"status": "live", "version": __version__})


@router.head("/health/ready", include_in_schema=False)
@router.get("/health/ready", **told(Tag.OPERATIONS, _READY))
def ready(request: Request) -> JSONResponse:
    """Say whether requests can be served: the store is there and has the schema that this version knows."""
    host: EngineHost = request.app.state.host
    told = {"version": __version__, "schema_version": host.store.describe().schema_version}
    try:
        with host.store.read("") as tx:
            tx.projects.get()
    except (MemoryStoreError, RuntimeError) as error:
        logger.warning("health.not_ready", extra={"error": type(error).__name__})
        return JSONResponse({"status": "not_ready", "reason": "the store cannot be read", **told}, status_code=503)
    return JSONResponse({"status": "ready", **told})


@router.get("/metrics", include_in_schema=False)
def metrics(request: Request) -> Response:
    """Return the metrics in Prometheus' text format."""
    found: ServerMetrics = request.app.state.metrics
    return Response(found.text(), media_type=CONTENT_TYPE_LATEST)
