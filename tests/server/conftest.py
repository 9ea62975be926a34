"""Fixtures of the server's tests: a store in a temporary folder, served on loopback to everybody."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from memoranda.runtime.hosting import EngineHost
from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from tests.server.live import open_host, serving


@pytest.fixture
def host(tmp_path: Path) -> Iterator[EngineHost]:
    with closing(open_host(tmp_path)) as host:
        yield host


@pytest.fixture
def url(host: EngineHost) -> Iterator[str]:
    """The URL of a server without authentication over ``host``."""
    with serving(create_app(host, OpenGatekeeper(), ServerSettings())) as url:
        yield url


@pytest.fixture
def own_http(url: str) -> Iterator[httpx.Client]:
    """A client of the flat routes of ``url``, for tests that look into ``host`` as well."""
    with httpx.Client(base_url=f"{url}/api/v1/memory", timeout=30) as client:
        yield client


@pytest.fixture(scope="package")
def shared_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of one server without authentication for all tests that bring a project of their own."""
    with (
        closing(open_host(tmp_path_factory.mktemp("shared"))) as host,
        serving(create_app(host, OpenGatekeeper(), ServerSettings())) as url,
    ):
        yield url


@pytest.fixture
def http(shared_url: str) -> Iterator[httpx.Client]:
    """A client of a new project of the shared server: ``http.post("/turns", json=…)``."""
    with httpx.Client(base_url=f"{shared_url}/api/v1/projects/{uuid.uuid4()}/memory", timeout=30) as client:
        yield client
