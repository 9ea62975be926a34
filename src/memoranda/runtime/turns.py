"""Recording and reading turns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memoranda.engine.cursors import decode_cursor, encode_cursor
from memoranda.engine.records import Identity
from memoranda.engine.scope import blank_is_any
from memoranda.engine.turns import RecordedTurn, TurnDraft
from memoranda.runtime.calls import EngineCalls, Json
from memoranda.runtime.entries import turn_entry
from memoranda.runtime.limits import page_size
from memoranda.runtime.reports import deletion_report
from memoranda.sdk.models import DeletionReport, TurnEntry, TurnInput, TurnPage, WriteTurnResult


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

    def get_turn(self, *, turn_id: str, user_id: str | None = None) -> TurnEntry | None:
        turn = self._engine.turns.get(turn_id, user_id=blank_is_any(user_id))
        return None if turn is None else turn_entry(turn)

    def delete_turn(self, *, turn_id: str, user_id: str | None = None) -> DeletionReport:
        return deletion_report(self._engine.deletion.delete_turn(turn_id, user_id=blank_is_any(user_id)))

    def delete_session(self, *, session_id: str, user_id: str | None = None) -> DeletionReport:
        return deletion_report(self._engine.deletion.delete_session(session_id, user_id=blank_is_any(user_id)))

    def delete_user(self, *, user_id: str) -> DeletionReport:
        return deletion_report(self._engine.deletion.delete_user(user_id))

    def list_turns(
        self,
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> TurnPage:
        scope, wanted = self._scope(user_id=user_id, session_id=session_id), page_size(limit)
        after = None
        if blank_is_any(cursor) is not None:
            user, session, seq = decode_cursor(("turns", scope), cursor or "", (str, str, int))
            after = (str(user), str(session), int(seq))
        found = self._engine.turns.page(scope, after, wanted + 1)
        page = found[:wanted]
        last = page[-1] if len(found) > wanted else None
        place = None if last is None else (last.user_id, last.session_id, last.turn_seq)
        return TurnPage(
            items=[turn_entry(turn) for turn in page],
            next_cursor=None if place is None else encode_cursor(("turns", scope), place),
        )


def _identity(user_id: str | None, agent_id: str | None, session_id: str | None) -> Identity:
    """Return who a turn is for; blank is absent."""
    return Identity(blank_is_any(user_id) or "", blank_is_any(agent_id) or "", blank_is_any(session_id) or "")


def _result(recorded: RecordedTurn) -> WriteTurnResult:
    turn = recorded.turn
    return WriteTurnResult(id=turn.id, session_id=turn.session_id, turn_seq=turn.turn_seq, repeated=recorded.repeated)
