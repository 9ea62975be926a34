"""What the server listens on, and what it does before."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from memoranda.server.serving import listening, warm_up
from tests.server.live import serving


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_connections_send_at_once(host: str) -> None:
    """Else each answer waits for the acknowledgement of its first packet, 40 ms on Linux."""
    with listening(host, 0) as listener, socket.create_connection(listener.getsockname()[:2]):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_first_request_finds_the_routes_built() -> None:
    built: list[str] = []

    class Noting(APIRoute):
        def get_route_handler(self) -> Callable[..., Any]:
            built.append(self.path)
            return super().get_route_handler()

    async def here() -> None:
        return None

    router, app = APIRouter(route_class=Noting), FastAPI()
    router.add_api_route("/here", here)
    app.include_router(router, prefix="/a/{project_id}")
    warm_up(app)
    ready = len(built)
    with serving(app) as url:
        assert httpx.get(f"{url}/a/1/here").status_code == 200
    assert len(built) == ready
