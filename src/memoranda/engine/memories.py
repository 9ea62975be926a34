"""Writing memories: a record with its history, links, sources and index rows, all in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memoranda.engine.analyser import Analyser
from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.deletion_counts import DeletionCounts
from memoranda.engine.draft_checks import (
    check_texts,
    check_ttl_days,
    checked_body,
    checked_metadata,
    checked_visibility,
)
from memoranda.engine.drafts import MemoryChanges, MemoryDraft, SaveStatus, Unset, Written
from memoranda.engine.feed.log import ChangeLog
from memoranda.engine.feed.rows import Operation
from memoranda.engine.ids import new_id
from memoranda.engine.indexing import entry_for_memory
from memoranda.engine.jobs.planner import JobPlanner
from memoranda.engine.memory_states import (
    by_hand,
    expiry,
    is_expired,
    needs_reindexing,
    new_record,
    said_at,
    same_state,
    slot_after,
    slot_taken,
    state_then,
)
from memoranda.engine.ports import Clock, Transaction
from memoranda.engine.records import (
    IndexState,
    Link,
    MemoryRecord,
    MemoryStatus,
    RecordVectors,
    VectorState,
)
from memoranda.engine.text import clean_text, normal_statement
from memoranda.sdk.errors import MemoryConflictError

INVERSES = {
    "supersedes": "superseded_by",
    "refines": "refined_by",
    "duplicates": "duplicated_by",
    "contradicts": "contradicted_by",
    "supports": "supported_by",
}
"""The relations between memories, and how each reads from its target."""
RETIRING = frozenset({"supersedes", "refines", "duplicates"})
"""The relations whose target is no longer current."""

Vectors = RecordVectors | VectorState | None
"""A record's vectors (their key is set here), why there are none, or None: a job is to embed it."""


class MemoryWriter:
    """Writes memories inside a transaction that is the caller's. Drafts are taken as checked (``checked_draft``)."""

    def __init__(self, analyser: Analyser, clock: Clock, config: ProjectConfig, planner: JobPlanner) -> None:
        self._analyser = analyser
        self._clock = clock
        self._config = config
        self._planner = planner
        self.changes = ChangeLog(clock, config.change_feed)

    # --- adding

    def save(self, tx: Transaction, draft: MemoryDraft, *, vectors: Vectors = None) -> Written:
        """Write a draft the way it asks for: as the new state of its natural key's record, or beside what there is."""
        return self.upsert(tx, draft, vectors=vectors) if draft.upsert else self.insert(tx, draft, vectors=vectors)

    def insert(self, tx: Transaction, draft: MemoryDraft, *, vectors: Vectors = None) -> Written:
        """Add a record; ``MemoryConflictError`` when its slot is taken (``PROCEDURE_EXISTS`` for a procedure)."""
        slot = draft.natural_slot
        taken = self.current_in_slot(tx, draft.kind, draft.user_id, slot) if slot else None
        if taken is not None:
            raise slot_taken(taken)
        return self._add(tx, draft, vectors)

    def upsert(self, tx: Transaction, draft: MemoryDraft, *, vectors: Vectors = None) -> Written:
        """Write the draft as the state of its natural key's record from its event time on.

        What says the same as the state of its time counts as repeated; what is older than the current state goes into
        the history.
        """
        draft = replace(draft, upsert=True)
        slot = draft.natural_slot
        found = self.current_in_slot(tx, draft.kind, draft.user_id, slot) if slot else None
        if found is None:
            return self._add(tx, draft, vectors)
        if draft.event_time is not None and draft.event_time < found.valid_from:
            return self._add_earlier_state(tx, found, draft)
        if same_state(found, draft):
            return self._repeat(tx, found, draft, vectors)
        return self._replace(tx, found, draft, vectors)

    def supersede(
        self,
        tx: Transaction,
        old: MemoryRecord,
        draft: MemoryDraft,
        *,
        relation: str = "supersedes",
        vectors: Vectors = None,
    ) -> Written:
        """Add a record that takes the place of ``old``, which stays as a record that is no longer current."""
        began = _began(draft, old, self._clock.now())
        if relation in RETIRING:
            self.retire(tx, old, began)
        written = self.insert(tx, replace(draft, event_time=began), vectors=vectors)
        _link(tx, written.record, old, relation, self._clock.now())
        return written

    def insert_superseded(
        self, tx: Transaction, draft: MemoryDraft, successor: MemoryRecord, *, vectors: Vectors = None
    ) -> Written:
        """Add a record about an earlier time that ``successor`` already superseded."""
        began = min(draft.event_time or self._clock.now(), successor.valid_from)
        written = self._add(tx, replace(draft, event_time=began), vectors, retired_at=successor.valid_from)
        _link(tx, successor, written.record, "supersedes", self._clock.now())
        return written

    def _add(
        self, tx: Transaction, draft: MemoryDraft, vectors: Vectors, *, retired_at: datetime | None = None
    ) -> Written:
        now = self._clock.now()
        self._free_id(tx, draft.id)
        record = new_record(draft, key=tx.projects.allocate_keys(1), now=now)
        if not draft.valid:
            record = by_hand(replace(record, status=MemoryStatus.SUPERSEDED, valid_to=max(now, record.valid_from)))
        if retired_at is not None:
            record = replace(record, status=MemoryStatus.SUPERSEDED, valid_to=retired_at)
        tx.memories.insert([record])
        tx.sources.add(record.id, draft.turn_ids, draft.snapshot_id)
        self.changes.memory(tx, Operation.CREATED, record)
        state = self._index(tx, record, vectors)
        return Written(record, SaveStatus.CREATED, state)

    def _free_id(self, tx: Transaction, memory_id: str | None) -> None:
        """Raise when a caller's id is another memory's; one whose lifetime has ended is removed."""
        for taken in tx.memories.get([memory_id]) if memory_id is not None else ():
            if not is_expired(taken, self._clock.now()):
                raise MemoryConflictError(
                    f"there is a memory {memory_id!r} already; update it or choose another id", code="MEMORY_EXISTS"
                )
            self.remove(tx, [taken])

    # --- changing

    def update(
        self, tx: Transaction, record: MemoryRecord, changes: MemoryChanges, *, vectors: Vectors = None
    ) -> Written:
        """Write a new version with these changes; the state before goes into the history.

        Raises ``MemoryConflictError`` when the new natural key is another record's.
        """
        changed = self.changed(record, changes)
        if changed.slot != record.slot:
            taken = self.current_in_slot(tx, changed.kind, changed.user_id, changed.slot)
            if taken is not None and taken.id != record.id:
                raise slot_taken(taken)
        if changed == record:
            written = Written(record, SaveStatus.REPEATED, self._keep_vectors(tx, record, vectors))
        else:
            written = self._write_version(tx, record, changed, vectors)
        if isinstance(changes.valid, Unset):
            return written
        return replace(written, record=self.set_valid(tx, written.record, valid=changes.valid))

    def changed(self, record: MemoryRecord, changes: MemoryChanges) -> MemoryRecord:
        """Return the record as these changes leave it (version and times of the write aside), checked."""
        texts = {name: clean_text(value) for name, value in changes.columns(record).items()}
        changed = replace(
            record,
            content=texts.get("content", record.content),
            name=texts.get("name", record.name),
            domain=texts.get("domain", record.domain),
            visibility=checked_visibility(texts.get("visibility", record.visibility), record.user_id),
            body=checked_body(record.kind, changes.body(record), self._config),
        )
        if not isinstance(changes.metadata, Unset):
            changed = replace(changed, metadata=checked_metadata(changes.metadata))
        if not isinstance(changes.ttl_days, Unset):
            check_ttl_days(changes.ttl_days)
            changed = replace(changed, expires_at=expiry(changes.ttl_days, self._clock.now()))
        if not isinstance(changes.expires_at, Unset):
            changed = replace(changed, expires_at=changes.expires_at)
        if not isinstance(changes.event_time, Unset):
            changed = replace(changed, event_time=changes.event_time)
        if not isinstance(changes.said_at, Unset):
            changed = replace(changed, provenance=said_at(changed.provenance, changes.said_at))
        if not changes.may_be_blank:
            check_texts(changed.kind, changed.content, changed.domain, changed.name)
        return replace(changed, slot=slot_after(record, changed))

    def _write_version(self, tx: Transaction, old: MemoryRecord, changed: MemoryRecord, vectors: Vectors) -> Written:
        now = self._clock.now()
        began = old.valid_from
        if old.status is MemoryStatus.CURRENT:
            moved = changed.event_time if changed.event_time != old.event_time else now
            began = max(moved, old.valid_from)
        tx.memories.add_history(replace(old, valid_to=began), now)
        record = replace(changed, version=old.version + 1, valid_from=began, updated_at=now)
        self.changes.update_memory(tx, record)
        return Written(record, SaveStatus.UPDATED, self._reindex(tx, old, record, vectors))

    def _replace(self, tx: Transaction, old: MemoryRecord, draft: MemoryDraft, vectors: Vectors) -> Written:
        """Write the draft's state over the old one, which goes into the history until the draft's event time."""
        now = self._clock.now()
        began = _began(draft, old, now)
        tx.memories.add_history(replace(old, valid_to=began), now)
        stated_again = normal_statement(old.content) == normal_statement(draft.content)
        record = replace(
            new_record(replace(draft, event_time=began), key=old.key, now=now),
            id=old.id,
            version=old.version + 1,
            occurrences=old.occurrences + 1 if stated_again else 1,
            created_at=old.created_at,
            # What a caller once wrote directly does not go with a turn that spoke of it later.
            origin="direct" if old.origin == "direct" else draft.origin,
        )
        self.changes.update_memory(tx, record)
        tx.sources.add(record.id, draft.turn_ids, draft.snapshot_id)
        return Written(record, SaveStatus.UPDATED, self._reindex(tx, old, record, vectors))

    def _add_earlier_state(self, tx: Transaction, current: MemoryRecord, draft: MemoryDraft) -> Written:
        """Keep a state that held before the current one, and end the one that it followed; once, if it is known."""
        now = self._clock.now()
        past = replace(
            new_record(draft, key=current.key, now=now),
            id=current.id,
            version=current.version,
            created_at=current.created_at,
        )
        states = tx.memories.history(current.id)
        known = state_then(states, past.valid_from)
        if known is not None and same_state(known, draft):
            tx.sources.add(current.id, draft.turn_ids, draft.snapshot_id)
            return Written(current, SaveStatus.REPEATED, self._vector_state(tx, current))
        ends = min((state.valid_from for state in states if state.valid_from > past.valid_from), default=None)
        for state in states:
            if state.valid_from <= past.valid_from and (state.valid_to is None or state.valid_to > past.valid_from):
                tx.memories.add_history(replace(state, valid_to=past.valid_from), now)
        tx.memories.add_history(replace(past, valid_to=ends or current.valid_from), now)
        record = replace(current, version=current.version + 1, updated_at=now)
        self.changes.update_memory(tx, record)
        tx.sources.add(record.id, draft.turn_ids, draft.snapshot_id)
        return Written(record, SaveStatus.UPDATED, self._vector_state(tx, record))

    def _repeat(self, tx: Transaction, found: MemoryRecord, draft: MemoryDraft, vectors: Vectors) -> Written:
        """Count the same statement once more; a lifetime given with it starts anew."""
        now = self._clock.now()
        record = replace(found, occurrences=found.occurrences + 1, updated_at=now)
        if draft.ttl_days is not None or found.expires_at is not None:
            record = replace(record, expires_at=expiry(draft.ttl_days, now))
        self.changes.update_memory(tx, record)
        tx.sources.add(record.id, draft.turn_ids, draft.snapshot_id)
        if record.expires_at == found.expires_at:
            return Written(record, SaveStatus.REPEATED, self._vector_state(tx, record))
        return Written(record, SaveStatus.REPEATED, self._reindex(tx, found, record, vectors))

    def reinforce(
        self, tx: Transaction, record: MemoryRecord, *, turn_ids: Sequence[str] = (), snapshot_id: str = ""
    ) -> Written:
        """Count that a record was stated once more, by these sources."""
        record = replace(record, occurrences=record.occurrences + 1, updated_at=self._clock.now())
        self.changes.update_memory(tx, record)
        tx.sources.add(record.id, turn_ids, snapshot_id)
        return Written(record, SaveStatus.REPEATED, self._vector_state(tx, record))

    # --- status

    def retire(self, tx: Transaction, record: MemoryRecord, at: datetime) -> MemoryRecord:
        """End a record's validity (not before it began) and move it out of what is current."""
        ends = max(at, record.valid_from)
        if record.valid_to is not None:
            ends = min(ends, record.valid_to)
        retired = replace(record, status=MemoryStatus.SUPERSEDED, valid_to=ends, updated_at=self._clock.now())
        self.changes.update_memory(tx, retired, Operation.SUPERSEDED)
        tx.index.set_state([record.key], IndexState.SUPERSEDED)
        return retired

    def restore(self, tx: Transaction, record: MemoryRecord) -> MemoryRecord:
        """Make a record current again; where its natural key is another's by now, it stands beside that one."""
        taken = self.current_in_slot(tx, record.kind, record.user_id, record.slot)
        restored = replace(
            record,
            status=MemoryStatus.CURRENT,
            valid_to=None,
            slot=record.slot if taken is None else record.id,
            updated_at=self._clock.now(),
        )
        self.changes.update_memory(tx, restored)
        tx.index.set_state([record.key], IndexState.CURRENT)
        return restored

    def set_valid(self, tx: Transaction, record: MemoryRecord, *, valid: bool) -> MemoryRecord:
        """Say by hand whether a record is current; links that are deleted later do not undo it."""
        if valid and record.status is MemoryStatus.CURRENT:
            return record
        if valid:
            return self.restore(tx, by_hand(record, retired=False))
        retired = self.retire(tx, record, self._clock.now()) if record.status is MemoryStatus.CURRENT else record
        marked = by_hand(retired)
        tx.memories.update(marked)
        return marked

    def current_in_slot(self, tx: Transaction, kind: str, user_id: str, slot: str) -> MemoryRecord | None:
        """Return the record in a slot. One that is expired or hidden by a deletion is removed first."""
        found = tx.memories.in_slot(kind, user_id, slot)
        if found is None:
            return None
        if is_expired(found, self._clock.now()) or not tx.memories.get([found.id]):
            self.remove(tx, [found])
            return None
        return found

    # --- removing

    def delete(self, tx: Transaction, ids: Sequence[str]) -> DeletionCounts:
        """Remove records with history, links, sources and index rows; what they superseded stays superseded."""
        return self.remove(tx, tx.memories.get(ids)) if ids else DeletionCounts()

    def remove(self, tx: Transaction, records: Sequence[MemoryRecord]) -> DeletionCounts:
        """Remove these records, hidden ones too."""
        if not records:
            return DeletionCounts()
        ids, keys = [record.id for record in records], [record.key for record in records]
        history = sum(len(tx.memories.history(record.id)) for record in records if record.version > 1)
        rows = tx.search.documents(keys)
        links = [link.id for link in tx.links.of(ids)]
        tx.sources.remove_memories(ids)
        self.changes.memories_deleted(tx, ids)
        return DeletionCounts(
            links=tx.links.delete(links),
            history=history,
            postings=tx.index.remove(keys),
            vectors=sum(row.vector_state is VectorState.PRESENT for row in rows),
            memories=tx.memories.delete(ids),
        )

    # --- the index

    def _index(self, tx: Transaction, record: MemoryRecord, vectors: Vectors) -> VectorState:
        embed = vectors is None and self._planner.embeds_memories
        entry = entry_for_memory(record, self._analyser, self._config, embed=embed)
        if isinstance(vectors, VectorState):
            entry = replace(entry, vector_state=vectors)
        tx.index.add([entry])
        now = self._clock.now()
        self._planner.after_lifetimes(tx, [record.expires_at], now)
        if isinstance(vectors, RecordVectors):
            tx.index.put_vectors([replace(vectors, key=record.key)])
            return VectorState.PRESENT
        if entry.vector_state is VectorState.PENDING:
            self._planner.after_memories(tx, record.user_id, now)
        return entry.vector_state

    def _reindex(self, tx: Transaction, old: MemoryRecord, record: MemoryRecord, vectors: Vectors) -> VectorState:
        if needs_reindexing(old, record):
            tx.index.remove([old.key])
            return self._index(tx, record, vectors)
        tx.index.replace_values([entry_for_memory(record, self._analyser, self._config)])
        return self._keep_vectors(tx, record, vectors)

    def _keep_vectors(self, tx: Transaction, record: MemoryRecord, vectors: Vectors) -> VectorState:
        """Store vectors of a record whose index rows stay as they are."""
        if isinstance(vectors, RecordVectors):
            tx.index.put_vectors([replace(vectors, key=record.key)])
        return self._vector_state(tx, record)

    def _vector_state(self, tx: Transaction, record: MemoryRecord) -> VectorState:
        rows = tx.search.documents([record.key])
        return rows[0].vector_state if rows else VectorState.NONE


def _began(draft: MemoryDraft, old: MemoryRecord, now: datetime) -> datetime:
    """Return when a state that follows ``old`` began; never before it, even where a clock went back."""
    return max(draft.event_time or now, old.valid_from)


def _link(tx: Transaction, source: MemoryRecord, target: MemoryRecord, relation: str, now: datetime) -> None:
    tx.links.insert(
        Link(
            id=new_id(),
            source_id=source.id,
            target_id=target.id,
            relation=relation,
            inverse=INVERSES[relation],
            created_at=now,
            event_time=source.event_time,
        )
    )
