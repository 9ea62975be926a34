"""The application: the routes over an engine host, with whoever decides who is let in."""

from __future__ import annotations

from fastapi import FastAPI

from memoranda._version import __version__
from memoranda.runtime.hosting import EngineHost
from memoranda.server.access.principal import Gatekeeper
from memoranda.server.bodies import BodyLimit
from memoranda.server.errors import add_error_handlers
from memoranda.server.paths import RawPaths
from memoranda.server.routes import turns
from memoranda.server.settings import ServerSettings

HOSTED = "/api/v1/projects/{project_id}/memory"
FLAT = "/api/v1/memory"
NATIVE = "/api/v1"


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
    add_error_handlers(app)
    for prefix in (HOSTED, *([FLAT] if settings.flat_routes else [])):
        app.include_router(turns.router, prefix=prefix)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(RawPaths)
    return app
