"""Turns: record one or many, list, get and delete them and their sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memoranda.sdk._bulk import resolve_turn, validated_turns
from memoranda.sdk._handle import Handle
from memoranda.sdk._values import require_json, require_page_size
from memoranda.sdk.models import DeletionReport, TurnEntry, TurnInput, TurnPage, WriteTurnResult
from memoranda.sdk.validation import require_text, write_options


class Turns(Handle):
    """The part of `Memory` that concerns turns and sessions."""

    def record_turn(
        self,
        *,
        role: str,
        content: str | None = None,
        session_id: str | None = None,
        tool_calls: list[dict[str, Any]] | None = None,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
        is_error: bool = False,
        model_name: str | None = None,
        metadata: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        timestamp: datetime | str | None = None,
        ttl_days: float | None = None,
    ) -> WriteTurnResult:
        """Record one turn; when this returns it is durable and readable.

        User, agent and session come from the handle unless `session_id` is given. The same `idempotency_key` in the
        session returns the same turn, with other content it is a `MemoryConflictError`. `timestamp` is when it was
        said (default now; naive is UTC), `ttl_days` how long it is kept.
        """
        options = write_options(timestamp=timestamp, ttl_days=ttl_days)
        require_json(tool_calls=tool_calls, metadata=metadata)
        who = self._identity(session_id=session_id)
        return self._connection.runtime.record_turn(
            role=role,
            content=content,
            session_id=who.session_id,
            user_id=who.user_id,
            agent_id=who.agent_id,
            tool_calls=tool_calls,
            tool_call_id=tool_call_id,
            tool_name=tool_name,
            is_error=is_error,
            model_name=model_name,
            metadata=metadata,
            idempotency_key=idempotency_key,
            **options,
        )

    def record_turns(
        self, turns: Sequence[TurnInput | Mapping[str, Any]], *, session_id: str | None = None
    ) -> list[WriteTurnResult]:
        """Record many turns in order, in one transaction: all or none.

        Each item has the fields of `record_turn` and may name its own user, agent and session. A bad item is a
        ValueError naming its index, before anything is written.
        """
        items = validated_turns(turns)
        management = self._connection.management
        who = self._identity(session_id=session_id)
        return management.record_turns(turns=[resolve_turn(item, who) for item in items])

    def list_turns(
        self,
        session_id: str | None = None,
        *,
        user_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> TurnPage:
        """Return a page of turns in order: of the session given or bound, else of all sessions of the user."""
        require_page_size(limit)
        who = self._reader(user_id=user_id, session_id=session_id)
        return self._connection.management.list_turns(
            session_id=who.session_id, user_id=who.user_id, limit=limit, cursor=cursor
        )

    def get_turn(self, turn_id: str) -> TurnEntry | None:
        """Return a turn, or None when there is none that this handle's user may see."""
        require_text(turn_id=turn_id)
        return self._connection.management.get_turn(turn_id=turn_id, user_id=self._reader().user_id)

    def delete_turn(self, turn_id: str) -> DeletionReport:
        """Remove a turn and what was derived from it alone; MemoryNotFoundError when there is none."""
        require_text(turn_id=turn_id)
        return self._connection.management.delete_turn(turn_id=turn_id, user_id=self._reader().user_id)

    def delete_session(self, session_id: str, *, user_id: str | None = None) -> DeletionReport:
        """Remove a session and what was derived from it alone, and report what went.

        A session belongs to one user; with no user given or bound, every user's session of that id goes.
        """
        require_text(session_id=session_id)
        who = self._reader(user_id=user_id)
        return self._connection.management.delete_session(session_id=session_id, user_id=who.user_id)
