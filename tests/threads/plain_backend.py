"""As much of a backend over a real engine as the handling of a thread needs; search counts common words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta

from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.engine import MemoryEngine
from memoranda.engine.ports import MemoryQuery, Transaction
from memoranda.engine.records import ORG, PRIVATE, Identity, MemoryRecord, MemoryStatus, Session, Turn
from memoranda.engine.scope import Scope
from memoranda.engine.turns import TurnDraft
from memoranda.sdk.errors import MemoryConflictError, MemoryNotFoundError
from memoranda.threads.stored import (
    ExtractionFailure,
    FoundRecord,
    JsonObject,
    Listing,
    MessageUpdate,
    NewMemory,
    NewMessage,
    NewThread,
    Removed,
    StoredMemory,
    StoredMessage,
    StoredThread,
    ThreadSearch,
    ThreadUpdate,
    Window,
)


class PlainBackend:
    """Threads, messages, memories and extraction of one engine."""

    def __init__(self, engine: MemoryEngine) -> None:
        self.engine = engine
        self.fail_after_append: Exception | None = None

    def _write(self) -> AbstractContextManager[Transaction]:
        return self.engine.store.write(self.engine.project_id)

    def _read(self) -> AbstractContextManager[Transaction]:
        return self.engine.store.read(self.engine.project_id)

    def _session(self, tx: Transaction, thread_id: str) -> Session | None:
        owners = tx.sessions.owners(thread_id)
        return owners[0] if owners else None

    def create_thread(self, new: NewThread) -> StoredThread:
        now = self.engine.clock.now()
        session = Session(
            user_id=new.user_id or "",
            session_id=new.thread_id,
            agent_id=new.agent_id or "",
            last_seq=0,
            promoted_seq=0,
            first_turn_at=now,
            last_turn_at=now,
            created_at=now,
            updated_at=now,
            metadata=new.metadata,
            extraction_policy=new.extraction_policy,
            runtime_config=new.runtime_config,
        )
        with self._write() as tx:
            if not tx.sessions.insert(session):
                raise MemoryConflictError("taken")
        return _thread(session)

    def get_thread(self, thread_id: str) -> StoredThread | None:
        with self._read() as tx:
            session = self._session(tx, thread_id)
        return None if session is None else _thread(session)

    def update_thread(self, thread_id: str, update: ThreadUpdate) -> StoredThread:
        with self._write() as tx:
            session = self._session(tx, thread_id)
            if session is None:
                raise MemoryNotFoundError("no thread")
            if update.if_summary is not None and session.summary != update.if_summary.value:
                raise MemoryConflictError("another summary")
            names = ("metadata", "runtime_config", "runtime_state", "extraction_policy", "summary")
            given = {name: value.value for name in names if (value := getattr(update, name)) is not None}
            session = replace(session, **given)
            tx.sessions.update(session)
        return _thread(session)

    def append_messages(
        self, thread_id: str, messages: Sequence[NewMessage], *, policy: JsonObject | None = None
    ) -> Sequence[StoredMessage]:
        thread = self.get_thread(thread_id)
        assert thread is not None
        identity = Identity(thread.user_id or "", thread.agent_id or "", thread_id)
        drafts = [
            TurnDraft(
                identity,
                each.role,
                each.content,
                metadata=each.metadata,
                idempotency_key=each.id,
                event_time=_time(each.timestamp_text),
                ttl_days=None if each.lifetime.days is None else each.lifetime.days.value,
                extraction_policy=policy,
            )
            for each in messages
        ]
        stored = [_message(each.turn) for each in self.engine.turns.record(drafts)]
        if self.fail_after_append is not None:
            error, self.fail_after_append = self.fail_after_append, None
            raise error
        return stored

    def _messages(self, thread_id: str) -> list[StoredMessage]:
        thread = self.get_thread(thread_id)
        assert thread is not None
        with self._read() as tx:
            return [_message(each) for each in tx.turns.run(thread.user_id or "", thread_id, 1, thread.last_seq)]

    def window(self, thread_id: str, window: Window) -> Sequence[StoredMessage]:
        return self._messages(thread_id)[window.start : window.end]

    def messages_after(self, thread_id: str, seq_no: int, limit: int) -> Sequence[StoredMessage]:
        return [each for each in self._messages(thread_id) if each.seq_no > seq_no][:limit]

    def get_message(self, message_id: str) -> StoredMessage | None:
        return next((_message(each) for each in self._turns() if each.idempotency_key == message_id), None)

    def _turns(self) -> Sequence[Turn]:
        with self._read() as tx:
            return tx.turns.page(Scope(), None, 10_000, self.engine.clock.now())

    def update_message(self, message_id: str, update: MessageUpdate) -> StoredMessage:
        with self._write() as tx:
            turn = next(each for each in self._turns() if each.idempotency_key == message_id)
            if update.content is not None:
                turn = replace(turn, content=update.content.value)
            if update.metadata is not None:
                turn = replace(turn, metadata=update.metadata.value)
            tx.turns.update(turn, self.engine.clock.now())
            session = tx.sessions.get(turn.user_id, turn.session_id)
            if update.content is not None and session is not None:
                self.engine.turns._planner.after_edit(tx, session, turn.turn_seq, self.engine.clock.now())
        return _message(turn)

    def delete_message(self, message_id: str, *, remove_derived: bool = False) -> Removed:
        turn = next(each for each in self._turns() if each.idempotency_key == message_id)
        if remove_derived:
            self.engine.deletion.delete_turn(turn.id)
        else:
            with self._write() as tx:
                tx.turns.delete([turn.id])
        return Removed(True)

    def list_images(self, listing: Listing, *, message_id: str | None = None) -> Sequence[object]:
        return []

    def add_memory(self, new: NewMemory) -> StoredMemory:
        draft = MemoryDraft(
            kind="semantic",
            content=new.content,
            user_id=new.user_id or "",
            agent_id=new.agent_id or "",
            session_id=new.thread_id or "",
            record_type=new.record_type,
            metadata=new.metadata,
            visibility=PRIVATE if new.user_id else ORG,
        )
        return _memory(self.engine.memories.save(draft).record)

    def list_memories(self, listing: Listing) -> Sequence[StoredMemory]:
        query = MemoryQuery(
            scope=listing.scope,
            now=self.engine.clock.now(),
            kind="semantic",
            statuses=(MemoryStatus.CURRENT, MemoryStatus.SUPERSEDED),
            limit=1000,
        )
        with self._read() as tx:
            found = [_memory(each) for each in tx.memories.query(query)]
        return [each for each in found if not listing.record_types or each.record_type in listing.record_types]

    def search(self, search: ThreadSearch) -> Sequence[FoundRecord]:
        types = search.record_types or ("memory", "fact", "preference", "guideline", "message")
        memories = [each for each in self.list_memories(Listing(scope=search.scope)) if each.record_type in types]
        turns = [_message(each) for each in self._turns() if "message" in types]
        messages = [each for each in turns if search.scope.session_id in (None, each.thread_id)]
        words = set(search.query.lower().split())
        records: list[StoredMemory | StoredMessage] = [*memories, *messages]
        found = [FoundRecord(each, 1 - len(words & set(each.content.lower().split())) / len(words)) for each in records]
        return sorted(found, key=lambda each: each.distance)[: search.k]

    def links(self, memory_id: str) -> list[tuple[str, str]]:
        with self._read() as tx:
            return [(link.relation, link.target_id) for link in tx.links.of([memory_id]) if link.source_id == memory_id]

    def extract(self, thread_id: str) -> None:
        self.engine.background.promote(Scope(session_id=thread_id))

    def run_extraction(self, thread_id: str) -> None:
        thread = self.get_thread(thread_id)
        assert thread is not None
        self.engine.background.run_session(thread.user_id or "", thread_id)

    def wait(self, thread_id: str | None, timeout: float | None) -> bool:
        end = None if timeout is None else time.monotonic() + timeout
        try:
            left = None if end is None else end - time.monotonic()
            self.engine.background.wait_until_idle(left, promote=False)
        except TimeoutError:
            return False
        return True

    def failures(self, thread_id: str | None = None) -> Sequence[ExtractionFailure]:
        return [
            ExtractionFailure(
                each.id, each.job_kind.value, each.reason, each.failure_class, each.attempts, each.last_seen
            )
            for each in self.engine.background.failures()
            if thread_id in (None, each.session_id)
        ]


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _thread(session: Session) -> StoredThread:
    return StoredThread(
        session.session_id,
        session.created_at,
        session.updated_at,
        session.user_id or None,
        session.agent_id or None,
        session.metadata,
        session.runtime_config,
        session.runtime_state,
        session.extraction_policy,
        session.summary,
        session.last_seq,
        session.promoted_seq,
    )


def _message(turn: Turn) -> StoredMessage:
    return StoredMessage(
        id=turn.idempotency_key or turn.id,
        thread_id=turn.session_id,
        seq_no=turn.turn_seq,
        role=turn.role,
        content=turn.content or "",
        created_at=turn.created_at,
        updated_at=turn.created_at,
        event_time=turn.event_time,
        user_id=turn.user_id or None,
        agent_id=turn.agent_id or None,
        metadata=turn.metadata,
        extracted=turn.snapshot_id is not None,
    )


def _memory(record: MemoryRecord) -> StoredMemory:
    return StoredMemory(
        id=record.id,
        record_type=record.record_type,
        content=record.content,
        created_at=record.created_at,
        updated_at=record.updated_at,
        event_time=record.event_time,
        user_id=record.user_id or None,
        agent_id=record.agent_id or None,
        thread_id=record.session_id or None,
        metadata=record.metadata,
        valid=record.status is MemoryStatus.CURRENT,
        expires_at=record.expires_at,
    )


ONE_DAY = timedelta(days=1)
