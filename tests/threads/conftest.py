"""Threads of a real embedded store, without a worker: what is due runs where the test waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.engine import MemoryEngine, Providers
from memoranda.engine.extraction.local import LocalExtractor
from memoranda.engine.scope import Scope
from memoranda.providers.tokens import estimate_tokens
from memoranda.stores.sqlite.store import SqliteStore
from memoranda.testing.clock import ManualClock
from memoranda.threads.apis import ILlm
from memoranda.threads.client_parts import ClientParts, ThreadLlm
from memoranda.threads.extraction import THREAD_EXTRACTOR, ThreadExtractor
from memoranda.threads.stored import Listing, StoredMemory
from memoranda.threads.thread_management import ThreadManagement
from tests.threads.scripted import ScriptedLlm
from tests.threads.watched_backend import WatchedBackend


class Threads(ThreadManagement):
    """The part of a client that has threads."""

    def __init__(self, parts: ClientParts) -> None:
        self.parts = parts

    def _thread_parts(self) -> ClientParts:
        return self.parts


@dataclass
class World:
    """A project with its engine, its clock, the client's model and its threads."""

    engine: MemoryEngine
    clock: ManualClock
    backend: WatchedBackend
    threads: Threads
    llm: ScriptedLlm

    def memories(self, **scope: str) -> list[str]:
        """Return what the memories of a scope say, oldest first."""
        return [each.content for each in self.records(**scope)]

    def records(self, **scope: str) -> list[StoredMemory]:
        found = self.backend.list_memories(Listing(scope=Scope(**scope)))
        return sorted(found, key=lambda each: (each.created_at, each.id))


OpenWorld = Callable[..., World]


@pytest.fixture
def open_world(tmp_path: Path) -> Iterator[OpenWorld]:
    with ExitStack() as stack:

        def open_one(llm: ThreadLlm | ScriptedLlm | None = None, clock: ManualClock | None = None) -> World:
            clock = clock or ManualClock()
            store = SqliteStore.open(tmp_path / "memory.db")
            providers = Providers(clock=clock, count_tokens=estimate_tokens, extractor=LocalExtractor())
            engine = MemoryEngine(store, "p", providers, config=ProjectConfig(), worker=False)
            stack.callback(store.close)
            stack.callback(engine.close)
            own = llm if isinstance(llm, ILlm) else None
            extractor = ThreadExtractor(own, clock=clock)
            engine.background.provide_extractor(THREAD_EXTRACTOR, extractor)
            backend = WatchedBackend(engine)
            parts = ClientParts(backend, llm=llm, extractor=extractor)
            return World(engine, clock, backend, Threads(parts), own or ScriptedLlm())  # type: ignore[arg-type]

        yield open_one


@pytest.fixture
def world(open_world: OpenWorld) -> World:
    """A project whose client has a scripted model."""
    return open_world(ScriptedLlm())
