"""What Memoranda has beyond the shared contract: by id, in pages, through time, in bulk, and the background work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memoranda.engine.cursors import decode_cursor, encode_cursor
from memoranda.engine.drafts import UNSET, MemoryChanges
from memoranda.engine.memory_reads import MemoryListing, MemoryView
from memoranda.engine.memory_service import SaveRequest
from memoranda.engine.project import searched_kinds
from memoranda.engine.scope import blank_is_any
from memoranda.runtime.calls import EngineCalls, Json
from memoranda.runtime.drafts import draft_of
from memoranda.runtime.entries import change_entry, failure_entry, memory_entry
from memoranda.runtime.limits import page_size
from memoranda.runtime.reports import deletion_report, promotion, status_report
from memoranda.sdk.errors import MemoryBadRequestError, MemoryNotFoundError
from memoranda.sdk.models import (
    BulkItemResult,
    ChangePage,
    CustomInput,
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

_FEED = "changes"


class ManagementCalls(EngineCalls):
    """The calls of ``MemoryManagement`` about memories, background work and failures."""

    def save_many(self, *, items: Sequence[MemoryInput]) -> list[BulkItemResult]:
        for index, item in enumerate(items):
            self._check_type(index, item)
        requests = [SaveRequest(draft_of(item), item.idempotency_key, item.embedding) for item in items]
        return [
            BulkItemResult(
                index=index,
                id=written.record.id,
                kind=written.record.kind,
                status=written.status.value,
                version=written.record.version,
                has_embedding=written.has_embedding,
            )
            for index, written in enumerate(self._engine.memories.save_many(requests))
        ]

    def _check_type(self, index: int, item: MemoryInput) -> None:
        """Refuse a custom item of a type that is not declared, a built-in kind above all."""
        if isinstance(item, CustomInput):
            try:
                self._engine.custom_type(item.memory_type)
            except MemoryBadRequestError as error:
                raise MemoryBadRequestError(f"item {index}: {error.message}", code=error.code) from error

    def get_memory(
        self, *, memory_id: str, user_id: str | None = None, as_of: datetime | None = None
    ) -> MemoryEntry | None:
        view = self._engine.memories.get(memory_id, user_id=blank_is_any(user_id), as_of=as_of)
        return None if view is None else _entry(view)

    def list_memories(
        self,
        *,
        kind: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        metadata_filter: Json | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> MemoryPage:
        wanted = blank_is_any(kind)
        if wanted is not None:
            self._engine.check_kind(wanted)
        listing = MemoryListing(
            scope=self._scope(user_id=user_id, visibility=visibility, session_id=session_id, agent_id=agent_id),
            kind=wanted,
            where=self._filter(metadata_filter, [wanted] if wanted else searched_kinds(self._engine.config)),
            include_superseded=include_superseded,
            as_of=as_of,
        )
        page = self._engine.memories.page(listing, limit=page_size(limit), cursor=blank_is_any(cursor))
        return MemoryPage(items=[_entry(view) for view in page.views], next_cursor=page.next_cursor)

    def update_memory(self, *, memory_id: str, user_id: str | None = None, update: MemoryUpdate) -> MemoryEntry:
        given = update.model_fields_set
        changes = MemoryChanges(
            content=UNSET if update.content is None else update.content,
            name=UNSET if update.label is None else update.label,
            visibility=UNSET if update.visibility is None else update.visibility,
            metadata=update.metadata if "metadata" in given else UNSET,
            fields=update.fields,
            event_time=UNSET if update.timestamp is None else update.timestamp,
            ttl_days=update.ttl_days if "ttl_days" in given else UNSET,
        )
        user = blank_is_any(user_id)
        self._engine.memories.update(memory_id, changes, user_id=user, embedding=update.embedding)
        view = self._engine.memories.get(memory_id, user_id=user)
        if view is None:
            raise MemoryNotFoundError(f"memory {memory_id!r} was deleted while it was updated", code="NOT_FOUND")
        return _entry(view)

    def delete_memory(self, *, memory_id: str, user_id: str | None = None) -> DeletionReport:
        return deletion_report(self._engine.memories.delete(memory_id, user_id=blank_is_any(user_id)))

    def history(self, *, memory_id: str, user_id: str | None = None) -> list[MemoryEntry]:
        states = self._engine.memories.history(memory_id, user_id=blank_is_any(user_id))
        return [memory_entry(state) for state in states]

    # --- background work

    def promote(self, *, session_id: str | None = None, user_id: str | None = None) -> list[PromoteSnapshotResult]:
        scope = self._scope(user_id=user_id, session_id=session_id)
        return [promotion(snapshot) for snapshot in self._engine.background.promote(scope)]

    def wait_until_idle(self, *, timeout: float | None = None, promote: bool = True) -> None:
        self._engine.background.wait_until_idle(timeout, promote=promote)

    def status(self) -> StatusReport:
        return status_report(self._engine)

    def changes(self, *, after: str | None = None, limit: int = 100, wait: float = 0.0) -> ChangePage:
        position = int(decode_cursor(_FEED, after, (int,))[0]) if after else None
        page = self._engine.feed.wait(position, page_size(limit), wait)
        items = [change_entry(change) for change in page.changes]
        return ChangePage(items=items, next_cursor=encode_cursor(_FEED, (page.last,)))

    def list_failures(
        self, *, failure_class: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> FailurePage:
        question, wanted = ("failures", failure_class), page_size(limit)
        after = str(decode_cursor(question, cursor, (str,))[0]) if cursor else ""
        found = self._engine.background.failures(failure_class=failure_class, after=after, limit=wanted + 1)
        page = found[:wanted]
        more = encode_cursor(question, (page[-1].id,)) if len(found) > wanted else None
        return FailurePage(items=[failure_entry(failure) for failure in page], next_cursor=more)

    def get_failure(self, *, failure_id: str) -> FailureEntry | None:
        try:
            return failure_entry(self._engine.background.failure(failure_id))
        except MemoryNotFoundError:
            return None

    def retry_failures(self, *, ids: Sequence[str] | None = None, failure_class: str | None = None) -> int:
        return self._engine.background.retry_failures(ids, failure_class=failure_class)

    def discard_failures(self, *, ids: Sequence[str] | None = None, failure_class: str | None = None) -> int:
        return self._engine.background.discard_failures(ids, failure_class=failure_class)


def _entry(view: MemoryView) -> MemoryEntry:
    return memory_entry(
        view.record, superseded_by=view.superseded_by, has_embedding=view.has_embedding, turn_ids=view.turn_ids
    )
