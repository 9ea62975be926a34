"""Memoranda's own calls: many at once, by id, history, deletion, background work and its failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Final

from memoranda.sdk._bulk import resolve_memory, validated_memories
from memoranda.sdk._handle import Handle
from memoranda.sdk._values import given, require_json, require_page_size, require_wait
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
)
from memoranda.sdk.validation import as_of_option, require_text, write_options


class NotGiven(Enum):
    """The type of a parameter whose None means something."""

    NOT_GIVEN = "not given"


NOT_GIVEN: Final = NotGiven.NOT_GIVEN


class Memories(Handle):
    """The part of `Memory` that treats memories of any kind alike."""

    def save_many(
        self, items: Sequence[MemoryInput | Mapping[str, Any]], *, session_id: str | None = None
    ) -> list[BulkItemResult]:
        """Save memories of any kinds in order, in one transaction: all or none.

        Each item has a `kind` (`semantic`, `episodic`, `taxonomic`, `procedural`, `custom`) and the fields of the
        single call. A bad item is a ValueError naming its index, before anything is written.
        """
        memories = validated_memories(items)
        management = self._connection.management
        who = self._identity(session_id=session_id)
        return management.save_many(items=[resolve_memory(i, memory, who) for i, memory in enumerate(memories)])

    def get_memory(self, memory_id: str, *, as_of: datetime | str | None = None) -> MemoryEntry | None:
        """Return a memory of any kind, also a superseded one, or None when this handle's user may see none."""
        require_text(memory_id=memory_id)
        options = as_of_option(as_of)
        return self._connection.management.get_memory(memory_id=memory_id, user_id=self._reader().user_id, **options)

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
        as_of: datetime | str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> MemoryPage:
        """Return a page of memories, latest first; `cursor` is the `next_cursor` of the page before.

        Agent and session narrow only when given here.
        """
        require_page_size(limit)
        options = as_of_option(as_of)
        who = self._reader(user_id=user_id, visibility=visibility)
        return self._connection.management.list_memories(
            kind=kind,
            user_id=who.user_id,
            agent_id=agent_id,
            session_id=session_id,
            visibility=visibility,
            metadata_filter=metadata_filter,
            limit=limit,
            cursor=cursor,
            **given(include_superseded=include_superseded),
            **options,
        )

    def update_memory(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        label: str | None = None,
        visibility: str | None = None,
        metadata: dict[str, Any] | NotGiven | None = NOT_GIVEN,
        fields: Mapping[str, Any] | None = None,
        timestamp: datetime | str | None = None,
        ttl_days: float | NotGiven | None = NOT_GIVEN,
        embedding: Sequence[float] | None = None,
    ) -> MemoryEntry:
        """Change what is given and return the new version; the id stays and the old state goes to the history.

        `fields` changes single fields of the kind (`{"steps": [...]}`). `metadata=None` clears it, `ttl_days=None`
        keeps the memory forever. MemoryNotFoundError when there is none.
        """
        require_text(memory_id=memory_id)
        changes = given(content=content, label=label, visibility=visibility)
        changes |= write_options(timestamp=timestamp, embedding=embedding)
        changes |= {} if fields is None else {"fields": dict(fields)}
        changes |= {} if metadata is NOT_GIVEN else {"metadata": metadata}
        changes |= {} if ttl_days is NOT_GIVEN else {"ttl_days": None} | write_options(ttl_days=ttl_days)
        if not changes:
            raise ValueError("update_memory needs at least one change; name content, label, metadata, fields, …")
        require_json(metadata=changes.get("metadata"), fields=changes.get("fields"))
        return self._connection.management.update_memory(
            memory_id=memory_id, user_id=self._reader().user_id, update=MemoryUpdate(**changes)
        )

    def delete_memory(self, memory_id: str) -> DeletionReport:
        """Remove a memory with its history and links, and report what went; MemoryNotFoundError when there is none."""
        require_text(memory_id=memory_id)
        return self._connection.management.delete_memory(memory_id=memory_id, user_id=self._reader().user_id)

    def history(self, memory_id: str) -> list[MemoryEntry]:
        """Return every state of the memory and of what it superseded, oldest first."""
        require_text(memory_id=memory_id)
        return self._connection.management.history(memory_id=memory_id, user_id=self._reader().user_id)

    def delete_user(self, user_id: str) -> DeletionReport:
        """Remove everything of one user and report what went. The user must be named: a blank id is refused."""
        require_text(user_id=user_id)
        return self._connection.management.delete_user(user_id=user_id)


class Operations(Handle):
    """The part of `Memory` that an operator uses: background work and its failures."""

    def promote(self, session_id: str | None = None) -> list[PromoteSnapshotResult]:
        """Have the turns that wait extracted now: of one session, or of all (of the handle's user, when bound)."""
        who = self._reader()
        return self._connection.management.promote(session_id=session_id, user_id=who.user_id)

    def wait_until_idle(self, timeout: float | None = None, promote: bool = True) -> None:
        """Promote what waits, then wait until no background work is due; TimeoutError after `timeout` seconds."""
        if timeout is not None and not timeout >= 0:
            raise ValueError(f"timeout must be 0 or more seconds, got {timeout!r}; leave it out to wait without limit")
        self._connection.management.wait_until_idle(timeout=timeout, promote=promote)

    def status(self) -> StatusReport:
        """Return what the store holds, how long the queue is and lags, and how many failures there are."""
        return self._connection.management.status()

    def changes(self, *, after: str | None = None, limit: int = 100, wait: float = 0.0) -> ChangePage:
        """Return what changed in the project after a cursor, waiting up to `wait` seconds (0 to 20) for the first.

        `after` is the `next_cursor` of the page before; without it from the oldest entry that is kept. Whoever goes
        on from cursor to cursor misses nothing. MemoryBadRequestError (`CURSOR_EXPIRED`) when changes after it are no
        longer kept: then the project is to be read anew.
        """
        require_page_size(limit)
        require_wait(wait)
        return self._connection.management.changes(after=after, limit=limit, wait=wait)

    def list_failures(
        self, *, failure_class: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> FailurePage:
        """Return a page of failures, latest first."""
        require_page_size(limit)
        return self._connection.management.list_failures(failure_class=failure_class, limit=limit, cursor=cursor)

    def get_failure(self, failure_id: str) -> FailureEntry | None:
        """Return a failure with its reason and the raw reply, or None."""
        require_text(failure_id=failure_id)
        return self._connection.management.get_failure(failure_id=failure_id)

    def retry_failures(self, ids: Sequence[str] | None = None, *, failure_class: str | None = None) -> int:
        """Queue failures again, by id or class (neither: all), and return how many."""
        chosen = _chosen(ids)
        if chosen == []:
            return 0
        return self._connection.management.retry_failures(ids=chosen, failure_class=failure_class)

    def discard_failures(
        self, ids: Sequence[str] | None = None, *, failure_class: str | None = None, everything: bool = False
    ) -> int:
        """Forget failures, by id or class, and return how many; all of them only with `everything=True`."""
        chosen = _chosen(ids)
        if chosen is None and failure_class is None and not everything:
            raise ValueError("discard_failures needs ids, a failure_class, or everything=True to forget all of them")
        if chosen == []:
            return 0
        return self._connection.management.discard_failures(ids=chosen, failure_class=failure_class)


def _chosen(ids: Sequence[str] | None) -> list[str] | None:
    # A string is a sequence of strings too: without this, "f1" would name the failures "f" and "1".
    if isinstance(ids, str):
        raise ValueError(f"ids must be a list of failure ids, got {ids!r}; pass [{ids!r}]")
    return None if ids is None else list(ids)
