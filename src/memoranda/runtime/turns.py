"""Recording and reading turns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memoranda.engine.cursors import decode_cursor, encode_cursor
from memoranda.engine.records import Identity
from memoranda.engine.text import checked_json
from memoranda.engine.turns import RecordedTurn, TurnDraft
from memoranda.runtime.calls import EngineCalls, Json
from memoranda.runtime.entries import turn_entry
from memoranda.runtime.limits import page_size
from memoranda.runtime.reports import deletion_report
from memoranda.sdk.models import DeletionReport, TurnEntry, TurnInput, TurnPage, WriteTurnResult
from memoranda.engine.scope import blank_is_any


class TurnCalls(EngineCalls):
    """The calls of ``MemoryRuntime`` and ``MemoryManagement`` about turns and sessions."""

    def record_turn(
        self,
        *,
        role: str,
        content: str | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        tool_calls: list[Json] | None = None,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
        is_error: bool = False,
        model_name: str | None = None,
        metadata: Json | None = None,
        idempotency_key: str | None = None,
        timestamp: datetime | None = None,
        ttl_days: float | None = None,
    ) -> WriteTurnResult:
        draft = TurnDraft(
            identity=_identity(user_id, agent_id, session_id),
            role=role,
            content=content,
            model_name=model_name,
            tool_calls=tool_calls,
            tool_call_id=tool_call_id,
            tool_name=tool_name,
            is_error=is_error,
            metadata=metadata,
            idempotency_key=idempotency_key,
            event_time=timestamp,
            ttl_days=ttl_days,
        )
        return _result(self._engine.turns.record([draft])[0])

    def record_turns(self, *, turns: Sequence[TurnInput]) -> list[WriteTurnResult]:
        drafts = [
            TurnDraft(
                identity=_identity(turn.user_id, turn.agent_id, turn.session_id),
                role=turn.role,
                content=turn.content,
                model_name=turn.model_name,
                tool_calls=turn.tool_calls,
                tool_call_id=turn.tool_call_id,
                tool_name=turn.tool_name,
                is_error=turn.is_error,
                metadata=turn.metadata,
                idempotency_key=turn.idempotency_key,
                event_time=turn.timestamp,
                ttl_days=turn.ttl_days,
            )
            for turn in turns
        ]
        return [_result(recorded) for recorded in self._engine.turns.record(drafts)]
