"""Threads and their messages, over the engine's sessions and turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from memoranda.engine.drafts import UNSET
from memoranda.engine.filters import matches
from memoranda.engine.images import ImageChanges
from memoranda.engine.ports import Transaction
from memoranda.engine.records import Identity, Session, Turn
from memoranda.engine.scope import Scope
from memoranda.engine.text import clean_object, require_storable_id
from memoranda.engine.turns import TurnChanges, TurnDraft
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryNotFoundError
from memoranda.threads.engine_backend.base import PAGE, EngineParts, filter_of, newest_first
from memoranda.threads.engine_backend.forms import message_of, thread_of, timestamp_of, turn_parts
from memoranda.threads.stored import (
    Given,
    JsonObject,
    Listing,
    MessageUpdate,
    NewMessage,
    NewThread,
    Removed,
    StoredMessage,
    StoredThread,
    ThreadUpdate,
    Window,
)
from memoranda.threads.times import moment_of


class EngineThreads(EngineParts):
    """``ThreadRows`` over an engine."""

    def create_thread(self, new: NewThread) -> StoredThread:
        for name, value in (("thread_id", new.thread_id), ("user_id", new.user_id), ("agent_id", new.agent_id)):
            if value is not None and not require_storable_id(name, value).strip():
                raise MemoryBadRequestError(f"{name} is blank; name it or leave it out", code="INVALID_REQUEST")
        now = self._now()
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
            metadata=_object("metadata", new.metadata),
            extraction_policy=_object("extraction_policy", new.extraction_policy),
            runtime_config=_object("runtime_config", new.runtime_config),
            runtime_state=_object("runtime_state", new.runtime_state),
        )
        with self._write() as tx:
            if tx.sessions.owners(new.thread_id):
                raise MemoryConflictError(
                    f"there is a thread {new.thread_id!r} already; open it, or choose another id", code="THREAD_EXISTS"
                )
            tx.sessions.insert(session)
        return thread_of(session)

    def get_thread(self, thread_id: str) -> StoredThread | None:
        with self._read() as tx:
            session = self._session(tx, thread_id)
        return None if session is None else thread_of(session)

    def update_thread(self, thread_id: str, update: ThreadUpdate) -> StoredThread:
        with self._write() as tx:
            session = self._required(tx, thread_id)
            if update.if_summary is not None and session.summary != update.if_summary.value:
                raise MemoryConflictError(
                    f"the summary of thread {thread_id!r} was changed meanwhile; read it again", code="SUMMARY_CHANGED"
                )
            session = replace(
                session,
                metadata=_set("metadata", session.metadata, update.metadata),
                extraction_policy=_set("extraction_policy", session.extraction_policy, update.extraction_policy),
                runtime_config=_set("runtime_config", session.runtime_config, update.runtime_config),
                runtime_state=_set("runtime_state", session.runtime_state, update.runtime_state),
                summary=_set("summary", session.summary, update.summary),
                updated_at=self._now(),
            )
            tx.sessions.update(session)
        return thread_of(session)

    def list_threads(self, listing: Listing) -> Sequence[StoredThread]:
        where = filter_of(listing)
        limit = None if listing.limit is None else max(listing.limit, 0)
        with self._read() as tx:
            sessions = tx.sessions.query(listing.scope, limit if where is None else None)
        kept = [each for each in sessions if where is None or matches(where, each.metadata or {}, each.agent_id)]
        return [thread_of(each) for each in reversed(kept if limit is None else kept[:limit])]

    def delete_thread(self, thread_id: str) -> Removed:
        if not thread_id.strip():
            return Removed(found=False)
        with self._read() as tx:
            found = self._session(tx, thread_id) is not None
        counts = self.engine.deletion.delete_session(thread_id, written=True)
        return Removed(found=found, counts=asdict(counts))

    # --- messages

    def append_messages(
        self, thread_id: str, messages: Sequence[NewMessage], *, policy: JsonObject | None = None
    ) -> Sequence[StoredMessage]:
        with self._read() as tx:
            session = self._required(tx, thread_id)
        identity = Identity(session.user_id, session.agent_id, thread_id)
        drafts = [self._turn_draft(identity, each, policy) for each in messages]
        return [message_of(recorded.turn) for recorded in self.engine.turns.record(drafts)]

    def _turn_draft(self, identity: Identity, new: NewMessage, policy: JsonObject | None) -> TurnDraft:
        return TurnDraft(
            identity,
            new.role,
            new.content,
            metadata=new.metadata,
            idempotency_key=new.id,
            event_time=moment_of(new.timestamp_text),
            extraction_policy=policy,
            id=new.id,
            parts=turn_parts(new.parts, new.timestamp_text),
            expires_at=self._ends(new.lifetime, self._now(), new.timestamp_text),
        )

    def window(self, thread_id: str, window: Window) -> Sequence[StoredMessage]:
        with self._read() as tx:
            session, now = self._required(tx, thread_id), self._now()
            total = tx.turns.count(session.user_id, thread_id, now)
            first, last, _ = slice(window.start, window.end).indices(total)
            if last <= first:
                return []
            turns = tx.turns.slice(session.user_id, thread_id, skip=first, limit=last - first, now=now)
        return [message_of(turn) for turn in turns]

    def messages_after(self, thread_id: str, seq_no: int, limit: int) -> Sequence[StoredMessage]:
        with self._read() as tx:
            session, now = self._required(tx, thread_id), self._now()
            scope = Scope(user_id=session.user_id, session_id=thread_id)
            turns = tx.turns.page(scope, (session.user_id, thread_id, seq_no), limit, now)
        return [message_of(turn) for turn in turns]

    def count_messages(self, thread_id: str) -> int:
        with self._read() as tx:
            session = self._required(tx, thread_id)
            return tx.turns.count(session.user_id, thread_id, self._now())

    def get_message(self, message_id: str) -> StoredMessage | None:
        turn = self.engine.turns.get(message_id)
        return None if turn is None else message_of(turn)

    def update_message(self, message_id: str, update: MessageUpdate) -> StoredMessage:
        before = self.engine.turns.get(message_id)
        if before is None:
            raise MemoryNotFoundError(f"there is no message {message_id!r}", code="NOT_FOUND")
        said = timestamp_of(before)
        ends = UNSET if update.lifetime is None else self._ends(update.lifetime, before.created_at, said)
        text = (before.parts or {}).get("timestamp")
        parts = (
            UNSET if update.parts is None else turn_parts(update.parts.value, text if isinstance(text, str) else None)
        )
        changes = TurnChanges(
            content=UNSET if update.content is None else update.content.value,
            parts=parts,
            metadata=UNSET if update.metadata is None else update.metadata.value,
            expires_at=ends,
        )
        turn = self.engine.turns.update(message_id, changes)
        if turn.expires_at != before.expires_at:
            # Images end with their message.
            for image in self.engine.images.of_turns([message_id]):
                self.engine.images.update(image.id, ImageChanges(expires_at=turn.expires_at))
        return message_of(turn)

    def delete_message(self, message_id: str, *, remove_derived: bool = False) -> Removed:
        if self.engine.turns.get(message_id) is None:
            return Removed(found=False)
        counts = self.engine.deletion.delete_turn(message_id, keep_derived=not remove_derived)
        return Removed(found=True, counts=asdict(counts))

    def list_messages(self, listing: Listing) -> Sequence[StoredMessage]:
        where, now = filter_of(listing), self._now()
        with self._read() as tx:

            def page(below: int | None) -> Sequence[Turn]:
                return tx.turns.newest(listing.scope, where, below, PAGE, now)

            turns = newest_first(page, lambda turn: turn.key, listing.limit)
        wanted = set(listing.ids)
        return [message_of(turn) for turn in turns if not wanted or turn.id in wanted]

    # --- parts

    def _session(self, tx: Transaction, thread_id: str) -> Session | None:
        owners = tx.sessions.owners(thread_id)
        if len(owners) > 1:
            names = ", ".join(repr(session.user_id) for session in owners)
            raise MemoryConflictError(
                f"several users have a session {thread_id!r} ({names}), so that it is no thread of one of them; read "
                "them by their user, or delete all but one with delete_session(session_id, user_id=...)",
                code="THREAD_AMBIGUOUS",
            )
        return owners[0] if owners else None

    def _required(self, tx: Transaction, thread_id: str) -> Session:
        session = self._session(tx, thread_id)
        if session is None:
            raise MemoryNotFoundError(f"there is no thread {thread_id!r}", code="NOT_FOUND")
        return session


def _set(name: str, before: JsonObject | None, given: Given[JsonObject | None] | None) -> JsonObject | None:
    return before if given is None else _object(name, given.value)


def _object(name: str, value: JsonObject | None) -> JsonObject | None:
    return None if value is None else clean_object(name, value)
