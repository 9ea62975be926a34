"""The backend over an engine, with what tests look into and what they make fail."""

from __future__ import annotations

from collections.abc import Sequence

from memoranda.engine.engine import MemoryEngine
from memoranda.threads.engine_backend import EngineBackend
from memoranda.threads.stored import JsonObject, NewMessage, StoredMessage


class WatchedBackend(EngineBackend):
    """Fails once, when told to, after messages were stored."""

    def __init__(self, engine: MemoryEngine) -> None:
        super().__init__(engine)
        self.fail_after_append: Exception | None = None

    def append_messages(
        self, thread_id: str, messages: Sequence[NewMessage], *, policy: JsonObject | None = None
    ) -> Sequence[StoredMessage]:
        stored = super().append_messages(thread_id, messages, policy=policy)
        if self.fail_after_append is not None:
            error, self.fail_after_append = self.fail_after_append, None
            raise error
        return stored

    def links(self, memory_id: str) -> list[tuple[str, str]]:
        """Return the links from a memory: their relation and their target."""
        with self._read() as tx:
            return [(link.relation, link.target_id) for link in tx.links.of([memory_id]) if link.source_id == memory_id]
