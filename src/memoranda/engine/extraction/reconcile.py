"""Settling what was extracted against what is known: repeats, supersession by event time, additions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memoranda.engine.analyser import Analyser
from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.extraction.items import ExtractedItem
from memoranda.engine.extraction.timeline import (
    Add,
    Interrupt,
    Precede,
    Repeat,
    Statement,
    Supersede,
    decide,
    stated_at,
    with_stated_at,
)
from memoranda.engine.extraction.verdicts import Verdicts, standing_verdicts
from memoranda.engine.ids import new_id
from memoranda.engine.memories import MemoryWriter
from memoranda.engine.natural_keys import slot_of
from memoranda.engine.ports import Clock, LegQuery, MemoryQuery, Transaction
from memoranda.engine.records import (
    EPISODIC,
    PRIVATE,
    PROCEDURAL,
    SEMANTIC,
    IndexState,
    Link,
    MemoryRecord,
    MemoryStatus,
)
from memoranda.engine.scope import Scope
from memoranda.engine.text import normal_statement

_TERMS = 3
_WORDLESS = 200
_STATES_OF_ONE_KEY = 1000
_SUPERSEDES = ("supersedes", "superseded_by")
_REFINES = ("refines", "refined_by")
_CONTRADICTS = ("contradicts", "contradicted_by")
_SUPPORTS = ("supports", "supported_by")


def draft_again(record: MemoryRecord, event_time: datetime) -> MemoryDraft:
    """Return a draft that says the same as a record, from another time on."""
    return MemoryDraft(
        kind=record.kind,
        content=record.content,
        user_id=record.user_id,
        agent_id=record.agent_id,
        visibility=record.visibility,
        record_type=record.record_type,
        domain=record.domain,
        name=record.name,
        body=record.body,
        metadata=record.metadata,
        event_time=event_time,
        origin=record.origin,
        provenance=record.provenance,
        upsert=bool(record.name),
    )


def _beside_contradicted(draft: MemoryDraft, contradicted: Sequence[MemoryRecord]) -> MemoryDraft:
    """Let a statement stand beside the one that it contradicts, where both have one label and neither is settled."""
    slot = slot_of(draft.kind, draft.domain, draft.name) if draft.name else ""
    if draft.kind == SEMANTIC and any(record.kind == SEMANTIC and record.slot == slot for record in contradicted):
        return replace(draft, upsert=False)
    return draft


class Reconciler:
    """Writes extracted drafts inside the caller's transaction."""

    def __init__(self, writer: MemoryWriter, analyser: Analyser, clock: Clock) -> None:
        self._writer = writer
        self._analyser = analyser
        self._clock = clock

    def reconcile(self, tx: Transaction, item: ExtractedItem, draft: MemoryDraft) -> MemoryRecord:
        """Write one draft (its event time set, as ``draft_of`` makes it); return the record that says it now."""
        verdicts = standing_verdicts(tx, item, draft, self._clock.now())
        if verdicts.repeats:
            record = self._repeat_known(tx, verdicts.repeats[0], draft)
        else:
            draft = self._beside_shared(tx, _beside_contradicted(draft, verdicts.contradicts))
            record = self._place(tx, draft, self._known(tx, verdicts, draft))
        self._retire(tx, record, verdicts.supersedes, _SUPERSEDES)
        self._retire(tx, record, verdicts.refines, _REFINES)
        beside = [(known, _CONTRADICTS) for known in verdicts.contradicts]
        for known, relation in [*beside, *((known, _SUPPORTS) for known in verdicts.supports)]:
            if known.id != record.id:
                self._link(tx, record, known, relation)
        return record

    def _beside_shared(self, tx: Transaction, draft: MemoryDraft) -> MemoryDraft:
        """Let what is private stand beside what others see under the same natural key.

        Private talk must not retire what its owner shared. A procedure's name is never held twice, so that the private
        one has a name of its own.
        """
        if draft.visibility != PRIVATE or not draft.name:
            return draft
        slot = slot_of(draft.kind, draft.domain, draft.name)
        held = self._writer.current_in_slot(tx, draft.kind, draft.user_id, slot)
        if held is None or held.visibility == PRIVATE:
            return draft
        if draft.kind == PROCEDURAL:
            return replace(draft, name=f"{draft.name} (private)")
        return replace(draft, upsert=False)

    # --- by verdict

    def _repeat_known(self, tx: Transaction, known: MemoryRecord, draft: MemoryDraft) -> MemoryRecord:
        """Count a memory that is said again in other words; said of an earlier time, its own words hold then."""
        if draft.kind == EPISODIC or self._time(draft) >= known.valid_from:
            return self._repeat(tx, known, draft)
        said = replace(
            draft, content=known.content, domain=known.domain, name=known.name, body=known.body, upsert=bool(known.name)
        )
        timeline = self._of_key(tx, said) if said.name else ()
        return self._place(tx, said, timeline or self._followed(tx, known))

    def _retire(
        self, tx: Transaction, record: MemoryRecord, known: Sequence[MemoryRecord], relation: tuple[str, str]
    ) -> None:
        """End what the record takes the place of, unless its own placing did.

        It ends nothing that is newer, and what is itself over by now ends nothing that it says more precisely.
        """
        if relation == _REFINES and record.status is not MemoryStatus.CURRENT:
            return
        for old in tx.memories.get([each.id for each in known if each.id != record.id]) if known else ():
            newer = relation == _SUPERSEDES and old.valid_from > record.valid_from
            if old.status is MemoryStatus.CURRENT and not newer:
                self._writer.retire(tx, old, record.valid_from)
                self._link(tx, record, old, relation)

    # --- what is known

    def _known(self, tx: Transaction, verdicts: Verdicts, draft: MemoryDraft) -> list[MemoryRecord]:
        """Return the records of the draft's natural key; where none is current, those before and after it by verdict.

        What it supersedes beside the records of its key is ended afterwards.
        """
        of_key = self._of_key(tx, draft) if draft.name and draft.upsert else []
        if any(record.status is MemoryStatus.CURRENT for record in of_key):
            return of_key
        superseded = sorted(verdicts.supersedes, key=lambda record: (record.valid_from, record.key))
        known = {record.id: record for record in of_key}
        if superseded:
            known.update((record.id, record) for record in self._followed(tx, superseded[-1]))
        elif of_key:
            known.update((record.id, record) for record in self._successors(tx, of_key, draft))
        return list(known.values())

    def _followed(self, tx: Transaction, record: MemoryRecord) -> list[MemoryRecord]:
        """Return a record and those that it took over from, one after the other."""
        line = [record]
        while len(line) < _STATES_OF_ONE_KEY:
            links = [link for link in tx.links.of([line[-1].id]) if link.source_id == line[-1].id]
            targets = [link.target_id for link in links if link.relation == _SUPERSEDES[0]]
            before = [
                found
                for found in (tx.memories.get(targets) if targets else ())
                if found.valid_to == line[-1].valid_from and found.user_id == record.user_id and found not in line
            ]
            if not before:
                break
            line.append(before[0])
        return line

    def _successors(self, tx: Transaction, of_key: Sequence[MemoryRecord], draft: MemoryDraft) -> list[MemoryRecord]:
        """Return the current records of other names that took over from the records of this key."""
        ids = {record.id for record in of_key}
        links = [link for link in tx.links.of(sorted(ids)) if link.relation == _SUPERSEDES[0]]
        sources = sorted({link.source_id for link in links if link.target_id in ids} - ids)
        return [
            found
            for found in (tx.memories.get(sources) if sources else ())
            if found.user_id == draft.user_id and found.kind == draft.kind and found.status is MemoryStatus.CURRENT
        ]

    def _of_key(self, tx: Transaction, draft: MemoryDraft) -> list[MemoryRecord]:
        slot = slot_of(draft.kind, draft.domain, draft.name)
        self._writer.current_in_slot(tx, draft.kind, draft.user_id, slot)  # an expired or hidden record makes room
        query = MemoryQuery(
            scope=Scope(user_id=draft.user_id),
            now=self._clock.now(),
            kind=draft.kind,
            domain=draft.domain,
            name=draft.name,
            statuses=(MemoryStatus.CURRENT, MemoryStatus.SUPERSEDED),
            limit=_STATES_OF_ONE_KEY,
            newest_first=True,
        )
        return [record for record in tx.memories.query(query) if record.slot == slot]

    # --- by event time

    def _place(self, tx: Transaction, draft: MemoryDraft, known: Sequence[MemoryRecord]) -> MemoryRecord:
        match decide(Statement(draft.content, self._time(draft)), known):
            case Add():
                return self._add(tx, draft)
            case Repeat(record, begins_earlier, follows):
                return self._repeat(tx, record, draft, begins_earlier=begins_earlier, follows=follows)
            case Supersede(old):
                return self._supersede(tx, old, draft, known)
            case Precede(successor, follows):
                return self._precede(tx, draft, successor, follows)
            case Interrupt() as interruption:
                again = self._state_again(tx, interruption, draft)
                return self._precede(tx, draft, again, interruption.record)

    def _supersede(
        self, tx: Transaction, old: MemoryRecord, draft: MemoryDraft, known: Sequence[MemoryRecord]
    ) -> MemoryRecord:
        others = [record for record in known if record.status is MemoryStatus.CURRENT and record.id != old.id]
        for other in others:
            self._end(tx, other, self._time(draft))
        record = self._writer.supersede(tx, old, draft).record
        for other in others:
            self._link(tx, record, other, _SUPERSEDES)
        return record

    def _precede(
        self, tx: Transaction, draft: MemoryDraft, successor: MemoryRecord, follows: MemoryRecord | None
    ) -> MemoryRecord:
        record = self._writer.insert_superseded(tx, draft, successor).record
        if follows is not None:
            self._end(tx, follows, self._time(draft))
            self._link(tx, record, follows, _SUPERSEDES)
        return record

    def _state_again(self, tx: Transaction, interruption: Interrupt, draft: MemoryDraft) -> MemoryRecord:
        """Let what was stated again be a record of its own, so that each interval is one record."""
        record, began = interruption.record, interruption.again
        times = stated_at(record)
        before = with_stated_at(record, (moment for moment in times if moment < began))
        tx.memories.update(before)
        turn_ids = tx.sources.turns_of(record.id)
        later = [turn.id for turn in tx.turns.get(turn_ids) if turn.event_time >= began]
        snapshots = tx.sources.snapshots_of(record.id)
        again = replace(
            draft_again(record, began),
            turn_ids=tuple(later or turn_ids),
            snapshot_id=snapshots[-1] if snapshots else draft.snapshot_id,
        )
        if interruption.successor is not None:
            stated = self._writer.insert_superseded(tx, again, interruption.successor).record
        else:
            stated = self._writer.supersede(tx, before, again).record
        stated = with_stated_at(stated, times)
        tx.memories.update(stated)
        return stated

    # --- by content

    def _add(self, tx: Transaction, draft: MemoryDraft) -> MemoryRecord:
        same = self._same_statement(tx, draft)
        return self._writer.insert(tx, draft).record if same is None else self._repeat(tx, same, draft)

    def _same_statement(self, tx: Transaction, draft: MemoryDraft) -> MemoryRecord | None:
        """Return the current record of this kind and owner that says exactly this, without a key of its own."""
        keys = self._candidates(tx, draft)
        documents = tx.search.documents(keys) if keys else ()
        found = tx.memories.get([row.record_id for row in documents]) if documents else ()
        return next((record for record in found if self._is_repeat(record, draft)), None)

    def _candidates(self, tx: Transaction, draft: MemoryDraft) -> list[int]:
        """Return the keys of records that have this statement's longest terms (long ones are rare)."""
        terms = sorted((term for term, _ in self._analyser.analyse(draft.content).terms), key=lambda term: -len(term))
        wanted = terms[:_TERMS]
        query = LegQuery(Scope(user_id=draft.user_id), draft.kind, (IndexState.CURRENT,), self._clock.now())
        if not wanted:
            # Nothing but words that are not indexed: such a statement is sought among the newest.
            return list(tx.search.listing(query, _WORDLESS))
        matches = tx.search.text(query, sorted(wanted))
        counts: dict[int, int] = {}
        for key, candidate in zip(matches.keys, matches.candidates, strict=True):
            if candidate:
                counts[key] = counts.get(key, 0) + 1
        return sorted(key for key, count in counts.items() if count == len(wanted))

    def _is_repeat(self, record: MemoryRecord, draft: MemoryDraft) -> bool:
        if record.name not in ("", draft.name) or normal_statement(record.content) != normal_statement(draft.content):
            return False
        if draft.session_id and (record.agent_id, record.session_id) != (draft.agent_id, draft.session_id):
            return False  # What belongs to a conversation ends with it, whoever else says the same.
        # Doing the same on two days is two events.
        return record.kind != EPISODIC or record.event_time.date() == self._time(draft).date()

    # --- parts

    def _repeat(
        self,
        tx: Transaction,
        record: MemoryRecord,
        draft: MemoryDraft,
        *,
        begins_earlier: bool = False,
        follows: MemoryRecord | None = None,
    ) -> MemoryRecord:
        said, began = self._time(draft), record.valid_from
        repeated = self._writer.reinforce(tx, record, turn_ids=draft.turn_ids, snapshot_id=draft.snapshot_id).record
        if begins_earlier:
            repeated = replace(repeated, valid_from=said, event_time=said)
            if follows is not None:
                self._end(tx, follows, said)
        repeated = with_stated_at(repeated, (*stated_at(record), began, said))
        tx.memories.update(repeated)
        return repeated

    def _end(self, tx: Transaction, record: MemoryRecord, at: datetime) -> None:
        # Read anew: the record may have been changed since the decision.
        for found in tx.memories.get([record.id]):
            self._writer.retire(tx, found, at)

    def _link(self, tx: Transaction, source: MemoryRecord, target: MemoryRecord, relation: tuple[str, str]) -> None:
        name, inverse = relation
        if any(
            (link.source_id, link.target_id, link.relation) == (source.id, target.id, name)
            for link in tx.links.of([source.id])
        ):
            return
        tx.links.insert(
            Link(
                id=new_id(),
                source_id=source.id,
                target_id=target.id,
                relation=name,
                inverse=inverse,
                created_at=self._clock.now(),
                event_time=source.event_time,
            )
        )

    def _time(self, draft: MemoryDraft) -> datetime:
        return draft.event_time or self._clock.now()
