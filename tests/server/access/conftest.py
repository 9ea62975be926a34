"""What the tests of access share: a store with two projects, its accounts and its keys, and a clock to set."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from memoranda.engine.records import ProjectRow
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked
from memoranda.server.access.accounts import AccountDraft, NewSecret
from memoranda.server.access.desk import TokenDesk
from memoranda.server.access.gatekeeper import Access, AccessGatekeeper
from memoranda.server.access.signing_keys import SigningKeys
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from memoranda.stores.sqlite import SqliteStore
from memoranda.testing.clock import ManualClock
from tests.server.live import serving

HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[SqliteStore]:
    """A store with the projects ``a`` and ``b``."""
    store = SqliteStore.open(tmp_path / "memory.db")
    for project_id in ("a", "b"):
        with store.write(project_id) as tx:
            tx.projects.put(ProjectRow(project_id=project_id, created_at=clock.now()))
    yield store
    store.close()


@pytest.fixture
def access(store: SqliteStore, tmp_path: Path, clock: ManualClock) -> Access:
    return Access.of(store, SigningKeys(tmp_path / "keys.json", clock), clock)


@pytest.fixture
def gatekeeper(access: Access) -> AccessGatekeeper:
    # Time does not pass at the token desk: what was spent stays spent.
    return AccessGatekeeper(access, TokenDesk(access.accounts, access.tokens, seconds=lambda: 0.0))


def made(access: Access, project_id: str = "a", *roles: str, **fields: object) -> NewSecret:
    """A new account; a developer's when no role is named."""
    return access.accounts.create(project_id, AccountDraft("app", roles or ("AGENT_DEVELOPER",), **fields))  # type: ignore[arg-type]


def bearer(access: Access, new: NewSecret, *, user_id: str | None = None) -> str:
    """The header of a new token of an account."""
    return f"Bearer {access.tokens.mint(new.account, user_id=user_id).access_token}"


@pytest.fixture
def host(store: SqliteStore, clock: ManualClock) -> Iterator[EngineHost]:
    host = EngineHost(store, asked=Asked(embedder=None, llm=None, reranker=None, clock=clock))
    yield host
    host.close()


@pytest.fixture
def app(host: EngineHost, gatekeeper: AccessGatekeeper) -> FastAPI:
    return create_app(host, gatekeeper, ServerSettings())


@pytest.fixture
def url(app: FastAPI) -> Iterator[str]:
    with serving(app) as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    """A client at 127.0.0.1."""
    with httpx.Client(base_url=url, timeout=60) as client:
        yield client


def authorized(access: Access, project_id: str = "a", *roles: str, user_id: str | None = None) -> dict[str, str]:
    """The headers of a new account; a developer's when no role is named."""
    return {"Authorization": bearer(access, made(access, project_id, *roles), user_id=user_id)}


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """The file of ``store``."""
    return tmp_path / "memory.db"
