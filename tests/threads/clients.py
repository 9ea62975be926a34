"""Clients over a real store in a file, whose clock stands still and whose work runs where a test waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.engine import MemoryEngine, Providers
from memoranda.engine.extraction.local import LocalExtractor
from memoranda.engine.ports import Embedder
from memoranda.providers.tokens import estimate_tokens
from memoranda.stores.sqlite import SqliteStore
from memoranda.testing.clock import ManualClock
from memoranda.threads import AgentMemory, SearchResult

EngineOpener = Callable[..., MemoryEngine]
ClientOpener = Callable[..., AgentMemory]


@dataclass
class Bench:
    """Opens engines and clients over one file."""

    path: Path
    clock: ManualClock
    stack: ExitStack

    def engine(self, embedder: Embedder | None = None) -> MemoryEngine:
        store = SqliteStore.open(self.path)
        providers = Providers(
            clock=self.clock, count_tokens=estimate_tokens, extractor=LocalExtractor(), embedder=embedder
        )
        engine = MemoryEngine(store, "default", providers, config=ProjectConfig(), worker=False)
        self.stack.callback(store.close)
        self.stack.callback(engine.close)
        return engine

    def client(self, embedder: Embedder | None = None, **options: Any) -> AgentMemory:
        return AgentMemory(store=self.engine(embedder), **options)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with ExitStack() as stack:
        yield Bench(tmp_path / "memory.db", ManualClock(), stack)


@pytest.fixture
def client(bench: Bench) -> AgentMemory:
    """A client without a model: threads have to be opened without extraction, or with ``llm="local"``."""
    return bench.client()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[ClientOpener]:
    """Opens clients by their connection, one file for all; what they started ends with the test."""
    clients: list[AgentMemory] = []

    def open_one(**options: Any) -> AgentMemory:
        given = {"connection": tmp_path / "memory.db", "embedder": None, "schema_policy": "create_if_necessary"}
        clients.append(AgentMemory(**{**given, **options}))
        return clients[-1]

    yield open_one
    for client in clients:
        client._finalizer()


def said(results: list[SearchResult]) -> set[object]:
    """Return what the results of a search say."""
    return {each.content for each in results}
