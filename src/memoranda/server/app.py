"""The application: the routes over an engine host, with whoever decides who is let in."""

from __future__ import annotations

from fastapi import FastAPI

from memoranda._version import __version__
from memoranda.runtime.hosting import EngineHost
from memoranda.server.access.gatekeeper import AccessGatekeeper
from memoranda.server.access.principal import Gatekeeper
from memoranda.server.bodies import BodyLimit
from memoranda.server.documents import document
from memoranda.server.errors import add_error_handlers
from memoranda.server.observability.requests import observe
from memoranda.server.paths import RawPaths
from memoranda.server.routes import (
    background,
    changes,
    configuration,
    custom,
    export,
    memories,
    oauth,
    operations,
    pages,
    reads,
    records,
    service_accounts,
    turns,
)
from memoranda.server.settings import ServerSettings
from memoranda.server.turn_writer import TurnWriter

PROJECT = "/api/v1/projects/{project_id}"
HOSTED = f"{PROJECT}/memory"
FLAT = "/api/v1/memory"
NATIVE = "/api/v1"

_OURS = (turns.router, reads.router, memories.router, background.router, changes.router, export.router)
"""What is served under the base paths alone; the busiest first, for routes are tried in turn."""
_NATIVE = (turns.native, reads.native, records.native, custom.native)
"""What is served under the base paths and under the memory server's own prefix."""


def create_app(host: EngineHost, gatekeeper: Gatekeeper, settings: ServerSettings) -> FastAPI:
    """Return the application. It does not own the host: whoever made that closes it."""
    app = FastAPI(
        title="Memoranda",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json" if settings.docs else None,
        redirect_slashes=False,
    )
    app.state.host, app.state.gatekeeper, app.state.settings = host, gatekeeper, settings
    app.state.turn_writer = TurnWriter(host)
    add_error_handlers(app)
    # By router, not by prefix: the busiest route is found at once under each prefix.
    for router in (*_OURS, *_NATIVE, configuration.router):
        for prefix in (HOSTED, *([FLAT] if settings.flat_routes else [])):
            app.include_router(router, prefix=prefix)
    if settings.native_routes:
        for router in _NATIVE:
            app.include_router(router, prefix=NATIVE)
    app.include_router(operations.router)
    if isinstance(gatekeeper, AccessGatekeeper):
        app.include_router(oauth.router, prefix=NATIVE)
        app.include_router(service_accounts.router, prefix=PROJECT)
    if settings.docs:
        app.include_router(pages.router)
    document(app)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(RawPaths)
    observe(app, host)
    return app
