"""Plain records for tests, written through the store port the way the engine writes them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from memoranda.engine.analyser import Analyser
from memoranda.engine.natural_keys import slot_of
from memoranda.engine.ports import SessionAdvance, Store, Transaction
from memoranda.engine.records import (
    PRIVATE,
    SEMANTIC,
    STM,
    Identity,
    IndexedValue,
    IndexEntry,
    IndexState,
    Job,
    JobKind,
    JsonObject,
    MemoryRecord,
    MemoryStatus,
    ProjectRow,
    Snapshot,
    SnapshotState,
    Turn,
    VectorState,
)

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
PROJECT = "project-1"


def later(**step: float) -> datetime:
    """Return ``NOW`` plus a step: ``later(days=1)``."""
    return NOW + timedelta(**step)


class Scribe:
    """Writes sample records into one project of a store. Ids are ``<noun>-<number>``, unique over a scribe's life."""

    def __init__(self, store: Store, project_id: str = PROJECT) -> None:
        self.store = store
        self.project_id = project_id
        self.analyser = Analyser()
        self._numbers = itertools.count(1)
        with store.write(project_id) as tx:
            if tx.projects.get() is None:
                tx.projects.put(ProjectRow(project_id, NOW))

    def _id(self, noun: str) -> str:
        return f"{noun}-{self.project_id}-{next(self._numbers)}"

    def turn(self, content: str | None, user: str = "alice", session: str = "s1", **fields: object) -> Turn:
        """Record one turn with its index row; ``fields`` replace fields of the turn."""
        with self.store.write(self.project_id) as tx:
            return self.turn_in(tx, content, user, session, **fields)

    def turn_in(
        self, tx: Transaction, content: str | None, user: str = "alice", session: str = "s1", **fields: object
    ) -> Turn:
        """Record one turn inside a transaction that is open already."""
        numbered = tx.sessions.advance(SessionAdvance(Identity(user, "", session), 1, NOW))
        turn = Turn(
            id=self._id("turn"),
            key=tx.projects.allocate_keys(1),
            user_id=user,
            session_id=session,
            turn_seq=numbered.last_seq,
            role="user",
            content=content,
            created_at=NOW,
            event_time=NOW,
        )
        turn = replace(turn, **fields)  # type: ignore[arg-type]  # fields of a Turn, by the caller's word
        tx.turns.insert([turn])
        tx.index.add([self.entry_of_turn(turn)])
        return turn

    def entry_of_turn(self, turn: Turn) -> IndexEntry:
        """Return the index row of a turn."""
        analysed = self.analyser.analyse(turn.content or "")
        return IndexEntry(
            turn.key,
            turn.id,
            STM,
            IndexState.CURRENT,
            PRIVATE,
            turn.user_id,
            turn.agent_id,
            turn.session_id,
            analysed.terms,
            analysed.length,
            expires_at=turn.expires_at,
        )

    def memory(
        self,
        content: str,
        user: str = "alice",
        *,
        values: Sequence[IndexedValue] = (),
        vector_state: VectorState = VectorState.NONE,
        **fields: object,
    ) -> MemoryRecord:
        """Save one memory (semantic, private) with its index row; ``fields`` replace fields of the record."""
        with self.store.write(self.project_id) as tx:
            record = self.record(tx, content, user, **fields)
            tx.memories.insert([record])
            tx.index.add([self.entry_of_memory(record, values=values, vector_state=vector_state)])
        return record

    def record(self, tx: Transaction, content: str, user: str = "alice", **fields: object) -> MemoryRecord:
        """Return a memory that is not stored yet, with a key of its own and the slot of its name."""
        memory_id = self._id("memory")
        plain = MemoryRecord(
            id=memory_id,
            key=tx.projects.allocate_keys(1),
            kind=SEMANTIC,
            content=content,
            user_id=user,
            visibility=PRIVATE,
            created_at=NOW,
            updated_at=NOW,
            event_time=NOW,
            valid_from=NOW,
        )
        record = replace(plain, **fields)  # type: ignore[arg-type]  # fields of a MemoryRecord, by the caller's word
        slot = slot_of(record.kind, record.domain, record.name) if record.name else record.id
        return record if record.slot else replace(record, slot=slot)

    def entry_of_memory(
        self,
        record: MemoryRecord,
        *,
        values: Sequence[IndexedValue] = (),
        vector_state: VectorState = VectorState.NONE,
    ) -> IndexEntry:
        """Return the index row of a memory."""
        analysed = self.analyser.analyse(record.content)
        current = record.status is MemoryStatus.CURRENT
        return IndexEntry(
            key=record.key,
            record_id=record.id,
            source=record.kind,
            state=IndexState.CURRENT if current else IndexState.SUPERSEDED,
            visibility=record.visibility,
            user_id=record.user_id,
            agent_id=record.agent_id,
            session_id=record.session_id,
            terms=analysed.terms,
            length=analysed.length,
            values=tuple(values),
            expires_at=record.expires_at,
            vector_state=vector_state,
        )

    def snapshot(self, user: str = "alice", session: str = "s1", first: int = 1, last: int = 1) -> Snapshot:
        """Store a pending snapshot over turns ``first`` to ``last``, and mark them."""
        found = sample_snapshot(self._id("snapshot"), user=user, session=session, first=first, last=last)
        with self.store.write(self.project_id) as tx:
            tx.snapshots.insert(found)
            tx.turns.mark_promoted(user, session, first, last, found.id)
        return found


def sample_snapshot(
    snapshot_id: str, *, user: str = "alice", session: str = "s1", first: int = 1, last: int = 1
) -> Snapshot:
    """Return a pending snapshot."""
    return Snapshot(
        id=snapshot_id,
        user_id=user,
        session_id=session,
        agent_id="",
        first_seq=first,
        last_seq=last,
        message_count=last - first + 1,
        reason="manual",
        state=SnapshotState.PENDING,
        created_at=NOW,
        updated_at=NOW,
    )


def sample_job(job_id: str, payload: JsonObject | None = None, **fields: object) -> Job:
    """Return a pending job (embed, no lane, due at ``NOW``); ``fields`` replace its fields."""
    job = Job(id=job_id, seq=0, kind=JobKind.EMBED, lane="", payload=payload or {}, run_at=NOW, created_at=NOW)
    return replace(job, **fields)  # type: ignore[arg-type]  # fields of a Job, by the caller's word


def string_values(values: Mapping[str, str]) -> tuple[IndexedValue, ...]:
    """Return filterable strings."""
    return tuple(IndexedValue(name, "string", value) for name, value in values.items())
