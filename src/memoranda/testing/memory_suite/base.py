"""What the classes of the front door suite share: the fixture that an adapter gives, and those made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from memoranda.engine.extraction.items import Extractor
from memoranda.sdk.memory import Memory
from memoranda.sdk.protocol import MemoryRequestContext
from memoranda.testing.clock import ManualClock
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.extractors import QuietExtractor

OpenMemory: TypeAlias = Callable[..., Memory]

NOTE = "note"
CONFIG: dict[str, Any] = {
    "memory": {
        "custom_memory_types": [
            {"name": NOTE, "collection": "notes", "tags": [{"name": "place"}]},
        ],
        "metadata_partition_key": [
            {"name": "ok", "type": "boolean"},
            {"name": "n", "type": "number"},
            {"name": "tag", "type": "string"},
            {"name": "x", "type": "string"},
            {"name": "owner", "type": "string"},
        ],
    }
}


def user(memory: Memory, name: str, session: str | None = "s1", agent: str | None = None) -> Memory:
    """Return a handle for a user."""
    return memory.bind(MemoryRequestContext(user_id=name, session_id=session, agent_id=agent))


class MemoryRules:
    """Base of every class of the suite. The adapter's subclass gives ``open_memory``."""

    @pytest.fixture
    def open_memory(self) -> OpenMemory:
        """Return a function that opens the test's store, every time the same, with the arguments of ``Memory.open``."""
        raise NotImplementedError("give a fixture `open_memory`")

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def embedder(self) -> HashedEmbedder:
        return HashedEmbedder()

    @pytest.fixture
    def extractor(self) -> Extractor:
        """Return what distils turns; a class overrides this."""
        return QuietExtractor()

    @pytest.fixture
    def options(self, clock: ManualClock, embedder: HashedEmbedder, extractor: Extractor) -> dict[str, Any]:
        """Return the arguments that a test opens its store with; work is done when a test waits for it."""
        return {"config": CONFIG, "clock": clock, "embedder": embedder, "llm": extractor, "worker": False}

    @pytest.fixture
    def memory(self, open_memory: OpenMemory, options: dict[str, Any]) -> Iterator[Memory]:
        with open_memory(**options) as memory:
            yield memory

    @pytest.fixture
    def alice(self, memory: Memory) -> Memory:
        return user(memory, "alice")

    @pytest.fixture
    def bob(self, memory: Memory) -> Memory:
        return user(memory, "bob")
