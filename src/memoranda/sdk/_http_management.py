"""Memoranda's own calls over HTTP: many at once, by id, history, deletion, background work, failures."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from memoranda.sdk._responses import model_in, models_in, object_in
from memoranda.sdk._transport import Transport
from memoranda.sdk._wire import Json, keyed_turn, own, present, segment
from memoranda.sdk.errors import MemoryNotFoundError
from memoranda.sdk.models import (
    BulkItemResult,
    ChangeEntry,
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

LONGEST_WAIT: Final = 20.0
"""Seconds that one request waits for background work; the call sends as many as it needs."""


class HttpManagement:
    """`MemoryManagement` of a Memoranda server; of any other service its calls are a `MemoryNotSupportedError`."""

    _transport: Transport

    def record_turns(self, *, turns: Sequence[TurnInput]) -> list[WriteTurnResult]:
        request = own("POST", "turns/bulk", body={"turns": [keyed_turn(turn) for turn in turns]}, again=True)
        return models_in(WriteTurnResult, self._transport.send(request), "results")

    def save_many(self, *, items: Sequence[MemoryInput]) -> list[BulkItemResult]:
        body = {"items": [item.model_dump(mode="json", exclude_none=True) for item in items]}
        return models_in(BulkItemResult, self._transport.send(own("POST", "memories/bulk", body=body)), "results")

    def get_memory(
        self, *, memory_id: str, user_id: str | None = None, as_of: datetime | None = None
    ) -> MemoryEntry | None:
        request = own("GET", _memory(memory_id), params={"user_id": user_id, "as_of": as_of})
        try:
            return model_in(MemoryEntry, self._transport.send(request))
        except MemoryNotFoundError:
            return None

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
        params = {
            "kind": kind,
            "user_id": user_id,
            "agent_id": agent_id,
            "session_id": session_id,
            "visibility": visibility,
            "metadata_filter": None if metadata_filter is None else json.dumps(metadata_filter, allow_nan=False),
            "include_superseded": include_superseded,
            "as_of": as_of,
            "limit": limit,
            "cursor": cursor,
        }
        return model_in(MemoryPage, self._transport.send(own("GET", "memories", params=params)))

    def update_memory(self, *, memory_id: str, user_id: str | None = None, update: MemoryUpdate) -> MemoryEntry:
        body = update.model_dump(mode="json", exclude_unset=True)
        request = own("PATCH", _memory(memory_id), params={"user_id": user_id}, body=body)
        return model_in(MemoryEntry, self._transport.send(request))

    def delete_memory(self, *, memory_id: str, user_id: str | None = None) -> DeletionReport:
        return self._deleted(_memory(memory_id), user_id)

    def history(self, *, memory_id: str, user_id: str | None = None) -> list[MemoryEntry]:
        request = own("GET", f"{_memory(memory_id)}/history", params={"user_id": user_id})
        return models_in(MemoryEntry, self._transport.send(request), "entries")

    def list_turns(
        self,
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> TurnPage:
        params = {"session_id": session_id, "user_id": user_id, "limit": limit, "cursor": cursor}
        return model_in(TurnPage, self._transport.send(own("GET", "turns", params=params)))

    def get_turn(self, *, turn_id: str, user_id: str | None = None) -> TurnEntry | None:
        request = own("GET", f"turns/{segment(turn_id)}", params={"user_id": user_id})
        try:
            return model_in(TurnEntry, self._transport.send(request))
        except MemoryNotFoundError:
            return None

    def delete_turn(self, *, turn_id: str, user_id: str | None = None) -> DeletionReport:
        return self._deleted(f"turns/{segment(turn_id)}", user_id)

    def delete_session(self, *, session_id: str, user_id: str | None = None) -> DeletionReport:
        return self._deleted(f"sessions/{segment(session_id)}", user_id)

    def delete_user(self, *, user_id: str) -> DeletionReport:
        return self._deleted(f"users/{segment(user_id)}", None)

    def _deleted(self, path: str, user_id: str | None) -> DeletionReport:
        return model_in(DeletionReport, self._transport.send(own("DELETE", path, params={"user_id": user_id})))

    # --- background work

    def promote(self, *, session_id: str | None = None, user_id: str | None = None) -> list[PromoteSnapshotResult]:
        request = own("POST", "promote", body=present(session_id=session_id, user_id=user_id))
        return models_in(PromoteSnapshotResult, self._transport.send(request), "results")

    def wait_until_idle(self, *, timeout: float | None = None, promote: bool = True) -> None:
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = LONGEST_WAIT if deadline is None else min(LONGEST_WAIT, max(0.0, deadline - time.monotonic()))
            request = own("POST", "wait", body={"timeout": left, "promote": promote}, again=True)
            if object_in(self._transport.send(request)).get("idle"):
                return
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"background work is still due or running after {timeout:g} s; it goes on")
            promote = False

    def status(self) -> StatusReport:
        return model_in(StatusReport, self._transport.send(own("GET", "status")))

    def changes(self, *, after: str | None = None, limit: int = 100, wait: float = 0.0) -> ChangePage:
        request = own("GET", "changes", params={"after": after, "limit": limit, "wait": wait or None})
        response = self._transport.send(request)
        return ChangePage(items=models_in(ChangeEntry, response, "changes"), next_cursor=object_in(response)["next"])

    def list_failures(
        self, *, failure_class: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> FailurePage:
        params = {"failure_class": failure_class, "limit": limit, "cursor": cursor}
        return model_in(FailurePage, self._transport.send(own("GET", "failures", params=params)))

    def get_failure(self, *, failure_id: str) -> FailureEntry | None:
        try:
            return model_in(FailureEntry, self._transport.send(own("GET", f"failures/{segment(failure_id)}")))
        except MemoryNotFoundError:
            return None

    def retry_failures(self, *, ids: Sequence[str] | None = None, failure_class: str | None = None) -> int:
        return self._counted("failures/retry", ids, failure_class)

    def discard_failures(self, *, ids: Sequence[str] | None = None, failure_class: str | None = None) -> int:
        return self._counted("failures/discard", ids, failure_class)

    def _counted(self, path: str, ids: Sequence[str] | None, failure_class: str | None) -> int:
        chosen: Json = present(ids=None if ids is None else list(ids), failure_class=failure_class)
        return int(object_in(self._transport.send(own("POST", path, body=chosen)))["count"])


def _memory(memory_id: str) -> str:
    return f"memories/{segment(memory_id)}"
