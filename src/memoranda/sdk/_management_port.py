"""Memoranda's own part of the seam: what the shared contract has no calls for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from memoranda.sdk.models import (
    BulkItemResult,
    ChangePage,
    DeletionReport,
    FailureEntry,
    FailurePage,
    MemoryEntry,
    MemoryInput,
    MemoryPage,
    MemoryUpdate,
    PromoteSnapshotResult,
    StatusReport,
    TurnEntry,
    TurnInput,
    TurnPage,
    WriteTurnResult,
)


@runtime_checkable
class MemoryManagement(Protocol):
    """Memoranda's own surface: many at once, by id, history, deletion, background work, failures.

    A private record of another user is "not found" to a call with a `user_id`. Pages are in a stable order, and a
    cursor is an opaque string that stays valid across writes; a foreign one is a `MemoryBadRequestError`.
    """

    def record_turns(self, *, turns: Sequence[TurnInput]) -> list[WriteTurnResult]:
        """Store the turns, in order, in one transaction: all or none. Their identity is resolved already."""
        ...

    def save_many(self, *, items: Sequence[MemoryInput]) -> list[BulkItemResult]:
        """Save the items, in order, in one transaction: all or none. Their identity is resolved already."""
        ...

    def get_memory(
        self, *, memory_id: str, user_id: str | None = None, as_of: datetime | None = None
    ) -> MemoryEntry | None:
        """Return a memory of any kind and status, as it was at `as_of` when given, or None."""
        ...

    def list_memories(
        self,
        *,
        kind: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        metadata_filter: dict[str, Any] | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> MemoryPage:
        """Return a page of memories, latest first; conditions combine with AND."""
        ...

    def update_memory(self, *, memory_id: str, user_id: str | None = None, update: MemoryUpdate) -> MemoryEntry:
        """Apply exactly the changes that `update.model_fields_set` names and return the new version (the id stays).

        `MemoryNotFoundError` when there is none; `MemoryConflictError` when the new natural key is taken.
        """
        ...

    def delete_memory(self, *, memory_id: str, user_id: str | None = None) -> DeletionReport:
        """Remove a memory with its history, links and index rows. `MemoryNotFoundError` when there is none."""
        ...

    def history(self, *, memory_id: str, user_id: str | None = None) -> list[MemoryEntry]:
        """Return every state of the memory and of what it superseded, oldest first; empty when there is none."""
        ...

    def list_turns(
        self,
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> TurnPage:
        """Return a page of turns in session order."""
        ...

    def get_turn(self, *, turn_id: str, user_id: str | None = None) -> TurnEntry | None:
        """Return a turn, or None."""
        ...

    def delete_turn(self, *, turn_id: str, user_id: str | None = None) -> DeletionReport:
        """Remove a turn and what was derived from it alone. `MemoryNotFoundError` when there is none."""
        ...

    def delete_session(self, *, session_id: str, user_id: str | None = None) -> DeletionReport:
        """Remove a session and what was derived from it alone; without `user_id`, of every user who has that id."""
        ...

    def delete_user(self, *, user_id: str) -> DeletionReport:
        """Remove everything of a user, at any visibility. Later writes under the same id live."""
        ...

    def promote(self, *, session_id: str | None = None, user_id: str | None = None) -> list[PromoteSnapshotResult]:
        """Snapshot the unpromoted turns of one session, or of all that match; extraction follows in background."""
        ...

    def wait_until_idle(self, *, timeout: float | None = None, promote: bool = True) -> None:
        """Promote what waits (unless told not to) and return when no job is due; TimeoutError after `timeout` s."""
        ...

    def status(self) -> StatusReport:
        """Return the state of the project's store and queue."""
        ...

    def changes(self, *, after: str | None = None, limit: int = 100, wait: float = 0.0) -> ChangePage:
        """Return changes after a cursor, in the order of their positions, waiting up to `wait` seconds for the first.

        `MemoryBadRequestError` (`CURSOR_EXPIRED`) when some of them are no longer kept.
        """
        ...

    def list_failures(
        self, *, failure_class: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> FailurePage:
        """Return a page of failures, latest first."""
        ...

    def get_failure(self, *, failure_id: str) -> FailureEntry | None:
        """Return a failure, or None."""
        ...

    def retry_failures(self, *, ids: Sequence[str] | None = None, failure_class: str | None = None) -> int:
        """Queue the chosen failures again (neither given: all of them) and return how many."""
        ...

    def discard_failures(self, *, ids: Sequence[str] | None = None, failure_class: str | None = None) -> int:
        """Forget the chosen failures (neither given: all of them; the facade asks first) and return how many."""
        ...
