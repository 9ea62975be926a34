"""``ThreadBackend`` over one engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memoranda.engine.records import Failure
from memoranda.engine.scope import Scope
from memoranda.threads.engine_backend.memories import EngineMemories
from memoranda.threads.engine_backend.owners import EngineImages, EngineProfiles
from memoranda.threads.engine_backend.searching import EngineSearch
from memoranda.threads.engine_backend.threads import EngineThreads
from memoranda.threads.observability import MEMORY_STORE
from memoranda.threads.observed import observable
from memoranda.threads.stored import ExtractionFailure

_PAGE: Final = 200


@observable(MEMORY_STORE)
class EngineBackend(EngineThreads, EngineMemories, EngineProfiles, EngineImages, EngineSearch):
    """Threads, messages, memories, links, profiles and images of one project of a store. Thread-safe."""

    def extract(self, thread_id: str) -> None:
        self.engine.background.promote(Scope(session_id=thread_id))

    def run_extraction(self, thread_id: str) -> None:
        with self._read() as tx:
            session = self._required(tx, thread_id)
        self.engine.background.run_session(session.user_id, thread_id)

    def wait(self, thread_id: str | None, timeout: float | None) -> bool:
        try:
            self.engine.background.wait_until_idle(timeout, promote=False, session_id=thread_id)
        except TimeoutError:
            return False
        return True

    def failures(self, thread_id: str | None = None) -> Sequence[ExtractionFailure]:
        found: list[Failure] = []
        while page := self.engine.background.failures(after=found[-1].id if found else "", limit=_PAGE):
            found += page
        return [_failure(each) for each in reversed(found) if thread_id in (None, each.session_id)]

    def close(self) -> None:
        self.engine.close()


def _failure(failure: Failure) -> ExtractionFailure:
    return ExtractionFailure(
        id=failure.id,
        kind=failure.job_kind.value,
        reason=failure.reason,
        failure_class=failure.failure_class,
        attempts=failure.attempts,
        last_seen=failure.last_seen,
        thread_id=failure.session_id or None,
        user_id=failure.user_id or None,
    )
