"""Serving: uvicorn over the application, with the fleet beside it, from the first connection to the last answer."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Final

import uvicorn
from fastapi import FastAPI
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict
from starlette.types import ASGIApp, Message

from memoranda.runtime.fleet import Fleet, FleetSettings
from memoranda.runtime.hosting import EngineHost
from memoranda.sdk.errors import MemoryConfigError
from memoranda.server.access.principal import Gatekeeper, OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.local_names import OnlyLocalNames
from memoranda.server.settings import ServerSettings

logger = logging.getLogger(__name__)

_LOCALHOST: Final = "localhost"
_NOWHERE: Final = "/api/v1/projects/-/memory/-/-/-/-/-"
_BACKLOG: Final = 2048
_LAST_SECONDS: Final = 1.0
"""How long closing waits for who still uses an engine: whatever that is has had its time, and was given back."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class ServingSettings(BaseSettings):
    """Where a server listens and how it ends; each has a variable ``MEMORANDA_SERVER_…``, which an argument overrides.

    ``port`` 0 takes a free one. ``worker_threads`` do background work in the server's process; 0 leaves it to
    ``memoranda worker``. On shutdown requests under way have ``shutdown_seconds`` to end, then jobs
    ``worker_shutdown_seconds``. Without authentication only loopback is listened on, unless
    ``allow_unauthenticated_remote``. ``trusted_proxies`` are addresses whose ``X-Forwarded-For`` and
    ``X-Forwarded-Proto`` are believed; nobody's are unless named.
    """

    model_config = SettingsConfigDict(frozen=True, env_prefix="MEMORANDA_SERVER_", extra="forbid")

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    worker_threads: int = Field(default=2, ge=0, le=64)
    shutdown_seconds: int = Field(default=30, ge=1)
    worker_shutdown_seconds: float = Field(default=10.0, ge=0)
    allow_unauthenticated_remote: bool = False
    trusted_proxies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Serving:
    """What is served: the store's projects, to those whom the gatekeeper lets in."""

    host: EngineHost
    gatekeeper: Gatekeeper
    server: ServerSettings
    settings: ServingSettings


def serve(serving: Serving, announce: Callable[[str], None]) -> None:
    """Serve until the process is told to end (SIGINT, SIGTERM); ``announce`` is called once with the URL.

    Then: accept no connection, answer what was accepted, finish or give back jobs, close the store. Raises
    ``MemoryConfigError`` when it would listen beyond loopback without authentication, ``OSError`` when it cannot.
    """
    host, settings = serving.host, serving.settings
    try:
        check_who_can_reach(serving)
        with listening(settings.host, settings.port) as listener, noting_signals():
            fleet = _fleet(host, settings)
            app = create_app(host, serving.gatekeeper, serving.server)
            try:
                if fleet is not None:
                    app.state.metrics.watch(fleet)
                    fleet.start()
                warm_up(app)
                server = _server(_guarded(app, serving), settings)
                url = url_of(settings.host, listener.getsockname()[1])
                announce(url)
                logger.info("server.started", extra={"url": url, "worker_threads": settings.worker_threads})
                server.run(sockets=[listener])
            finally:
                if fleet is not None:
                    fleet.stop(settings.worker_shutdown_seconds)
    finally:
        host.close(timeout=_LAST_SECONDS)
    logger.info("server.stopped")


def work(host: EngineHost, settings: ServingSettings, announce: Callable[[str], None]) -> None:
    """Do the background work of a store until the process is told to end (SIGINT, SIGTERM)."""
    try:
        with noting_signals() as told:
            fleet = Fleet(host, FleetSettings(threads=max(1, settings.worker_threads)))
            fleet.start()
            announce(host.store.describe().location)
            told.wait()
            fleet.stop(settings.worker_shutdown_seconds)
    finally:
        host.close(timeout=_LAST_SECONDS)


def warm_up(app: FastAPI) -> None:
    """Have the application build its table of routes, which it else does while the first request waits."""

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        """Nobody asked."""

    # No route is there, so that all are looked at, and nothing is counted or logged: this is below what observes.
    nowhere = {"type": "http", "method": "GET", "path": _NOWHERE, "root_path": "", "headers": [], "query_string": b""}
    asyncio.run(app.router(nowhere, receive, send))


def check_who_can_reach(serving: Serving) -> None:
    """Raise ``MemoryConfigError`` when everybody on a network could read and write all memory."""
    settings = serving.settings
    reachable = not is_loopback(settings.host)
    if isinstance(serving.gatekeeper, OpenGatekeeper) and reachable and not settings.allow_unauthenticated_remote:
        raise MemoryConfigError(
            f"{settings.host!r} can be reached from other machines, and this server asks nobody who they are: turn "
            "authentication on, listen on 127.0.0.1, or say --allow-unauthenticated-remote"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address; a name other than ``localhost`` counts as reachable."""
    if host.lower() == _LOCALHOST:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def url_of(host: str, port: int) -> str:
    """Return the URL under which a server can be reached from its own machine."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host.strip("[]"), host.strip("[]"))
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


@contextmanager
def noting_signals() -> Iterator[threading.Event]:
    """Note requests to end instead of dying of them, so that what is held can be let go; uvicorn heeds them itself."""
    told = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        told.set()

    if threading.current_thread() is not threading.main_thread():
        yield told
        return
    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _guarded(app: FastAPI, serving: Serving) -> ASGIApp:
    is_open = isinstance(serving.gatekeeper, OpenGatekeeper)
    return OnlyLocalNames(app) if is_open and is_loopback(serving.settings.host) else app


def _fleet(host: EngineHost, settings: ServingSettings) -> Fleet | None:
    if settings.worker_threads:
        return Fleet(host, FleetSettings(threads=settings.worker_threads, gives_way=True))
    host.leave_work_to(_nobody_here)
    return None


def _nobody_here(project_id: str) -> None:
    """The work is done by other processes, which look for it by themselves."""


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket that listens; port 0 takes a free one. Its connections send at once.

    The event loop sees to that only for sockets that name their protocol, which these do not: an answer of two packets
    would wait 40 ms for the other side's acknowledgement.
    """
    address = host.strip("[]")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, port), family=family, backlog=_BACKLOG) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listener


def _server(app: ASGIApp, settings: ServingSettings) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="off",
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=list(settings.trusted_proxies),
            timeout_graceful_shutdown=settings.shutdown_seconds,
        )
    )
