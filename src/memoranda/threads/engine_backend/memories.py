"""Memories and the links between them, over the engine's semantic memories; those of other kinds can be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from memoranda.engine.drafts import UNSET, MemoryChanges, MemoryDraft, Unset
from memoranda.engine.indexing import INDEX_TEXTS
from memoranda.engine.links import LinkChanges, LinkDraft
from memoranda.engine.memory_service import SaveRequest
from memoranda.engine.memory_states import SAID_AT
from memoranda.engine.ports import MemoryQuery, Transaction
from memoranda.engine.records import ORG, PRIVATE, SEMANTIC, Link, MemoryRecord, MemoryStatus
from memoranda.sdk.errors import MemoryBadRequestError, MemoryNotFoundError
from memoranda.threads.engine_backend.base import PAGE, EngineParts, event_time, filter_of
from memoranda.threads.engine_backend.forms import links_of, memories_of, record_type_of
from memoranda.threads.stored import (
    Lifetime,
    LinkQuery,
    LinkUpdate,
    Listing,
    MemoryUpdate,
    NewLink,
    NewMemory,
    Removed,
    StoredLink,
    StoredMemory,
)
from memoranda.threads.times import moment_of


class EngineMemories(EngineParts):
    """``MemoryRows`` over an engine."""

    def add_memory(self, new: NewMemory, link: NewLink | None = None) -> StoredMemory:
        saves = self.engine.memories.prepared([SaveRequest(self._memory_draft(new), embeddings=_vectors(new))])
        with self._write() as tx:
            written = self.engine.memories.write(tx, saves)[0]
            if link is not None:
                self.engine.links.write(tx, _link_draft(link, written.record.id))
            return memories_of(tx, tx.memories.get([written.record.id]))[0]

    def _memory_draft(self, new: NewMemory) -> MemoryDraft:
        moment, now = moment_of(new.timestamp_text), self._now()
        return MemoryDraft(
            kind=SEMANTIC,
            content=new.content,
            user_id=new.user_id or "",
            agent_id=new.agent_id or "",
            session_id=new.thread_id or "",
            visibility=PRIVATE if new.user_id else ORG,
            record_type=new.record_type,
            body={} if new.index_texts is None else {INDEX_TEXTS: list(new.index_texts)},
            metadata=new.metadata,
            event_time=moment,
            provenance={} if new.timestamp_text is None else {SAID_AT: new.timestamp_text},
            id=new.id,
            expires_at=self._ends(new.lifetime, now, new.timestamp_text),
            valid=new.valid,
            may_be_blank=True,
        )

    def get_memory(self, memory_id: str) -> StoredMemory | None:
        with self._read() as tx:
            found = self._alive(tx, [memory_id])
            return memories_of(tx, found)[0] if found else None

    def update_memory(self, memory_id: str, update: MemoryUpdate) -> StoredMemory:
        with self._read() as tx:
            before = self._alive(tx, [memory_id])
        if not before:
            raise MemoryNotFoundError(f"there is no memory {memory_id!r}", code="NOT_FOUND")
        self.engine.memories.update(
            memory_id,
            self._changes(before[0], update),
            embeddings=None if update.embeddings is None else update.embeddings.value,
        )
        with self._read() as tx:
            return memories_of(tx, tx.memories.get([memory_id]))[0]

    def _changes(self, before: MemoryRecord, update: MemoryUpdate) -> MemoryChanges:
        said = before.provenance.get(SAID_AT)
        text = said if isinstance(said, str) else None
        moment: datetime | Unset = UNSET
        if update.timestamp_text is not None:
            text = update.timestamp_text.value
            moment = moment_of(text) or before.created_at
        return MemoryChanges(
            content=UNSET if update.content is None else update.content.value,
            metadata=UNSET if update.metadata is None else update.metadata.value,
            fields=_searched(before, update),
            event_time=moment,
            said_at=UNSET if update.timestamp_text is None else text,
            expires_at=self._new_end(before, update.lifetime, text),
            valid=UNSET if update.valid is None else update.valid.value,
            may_be_blank=True,
        )

    def _new_end(self, before: MemoryRecord, lifetime: Lifetime | None, text: str | None) -> datetime | Unset | None:
        return UNSET if lifetime is None else self._ends(lifetime, before.created_at, text)

    def delete_memory(self, memory_id: str) -> Removed:
        try:
            counts = self.engine.memories.delete(memory_id)
        except MemoryNotFoundError:
            return Removed(found=False)
        return Removed(found=True, counts=asdict(counts))

    def list_memories(self, listing: Listing) -> Sequence[StoredMemory]:
        with self._read() as tx:
            if listing.ids:
                return memories_of(tx, [each for each in self._alive(tx, listing.ids) if _wanted(each, listing)])
            return memories_of(tx, self._listed(tx, listing))

    def _listed(self, tx: Transaction, listing: Listing) -> list[MemoryRecord]:
        where, now = filter_of(listing), self._now()
        records: list[MemoryRecord] = []
        below: int | None = None
        # Types are told apart here: what is not semantic has one of the thread API's only when it is read.
        while listing.limit is None or len(records) < listing.limit:
            query = MemoryQuery(
                scope=listing.scope,
                now=now,
                statuses=tuple(MemoryStatus),
                where=where,
                after_key=below or 0,
                limit=PAGE,
                newest_first=True,
            )
            page = tx.memories.query(query)
            records += [
                each for each in page if not listing.record_types or record_type_of(each) in listing.record_types
            ]
            if len(page) < PAGE:
                break
            below = page[-1].key
        return list(reversed(records if listing.limit is None else records[: max(listing.limit, 0)]))

    # --- links

    def add_link(self, link: NewLink) -> StoredLink:
        with self._write() as tx:
            added = self.engine.links.write(tx, _link_draft(link, link.source_id))
            return links_of(tx, [added])[0]

    def get_link(self, link_id: str) -> StoredLink | None:
        with self._read() as tx:
            found = tx.links.get(link_id)
            links = [] if found is None else links_of(tx, [found])
        return links[0] if links else None

    def update_link(self, link_id: str, update: LinkUpdate) -> StoredLink:
        changed = self.engine.links.update(
            link_id,
            LinkChanges(
                relation=UNSET if update.relation is None else update.relation.value,
                inverse=UNSET if update.inverse is None else update.inverse.value,
                event_time=UNSET if update.timestamp_text is None else event_time(update.timestamp_text.value),
                metadata=UNSET if update.metadata is None else update.metadata.value,
            ),
        )
        with self._read() as tx:
            return links_of(tx, [changed])[0]

    def delete_link(self, link_id: str) -> bool:
        try:
            self.engine.links.delete(link_id)
        except MemoryNotFoundError:
            return False
        return True

    def list_links(self, query: LinkQuery) -> Sequence[StoredLink]:
        with self._read() as tx:
            ends = [end for end in (query.record_id, query.source_id, query.target_id) if end is not None]
            links = tx.links.of(ends[:1]) if ends else _every_link(tx)
            return links_of(tx, [link for link in links if _asked_for(link, query)])

    # --- parts

    def _alive(self, tx: Transaction, ids: Sequence[str]) -> list[MemoryRecord]:
        now = self._now()
        return [each for each in tx.memories.get(ids) if each.expires_at is None or each.expires_at > now]


def _vectors(new: NewMemory) -> tuple[tuple[float, ...], ...] | None:
    if new.embeddings is not None and new.index_texts is not None and len(new.embeddings) != len(new.index_texts):
        raise MemoryBadRequestError(
            f"{len(new.embeddings)} embeddings were given for {len(new.index_texts)} index_texts; give one for each",
            code="INVALID_REQUEST",
        )
    return new.embeddings


def _searched(before: MemoryRecord, update: MemoryUpdate) -> dict[str, object]:
    """Return the searched texts that an update sets; those before go with the content they stood for."""
    if update.index_texts is not None:
        return {INDEX_TEXTS: list(update.index_texts.value)}
    return {INDEX_TEXTS: None} if update.content is not None and INDEX_TEXTS in before.body else {}


def _link_draft(link: NewLink, source_id: str) -> LinkDraft:
    return LinkDraft(
        source_id=source_id,
        target_id=link.target_id,
        relation=link.relation,
        event_time=event_time(link.timestamp_text),
        metadata=link.metadata,
        id=link.id,
        inverse=link.inverse,
        free=True,
    )


def _every_link(tx: Transaction) -> list[Link]:
    found: list[Link] = []
    while page := tx.portable.links(found[-1].id if found else "", PAGE):
        found += page
    return sorted(found, key=lambda link: (link.created_at, link.id))


def _asked_for(link: Link, query: LinkQuery) -> bool:
    return (
        query.record_id in (None, link.source_id, link.target_id)
        and query.source_id in (None, link.source_id)
        and query.target_id in (None, link.target_id)
        and query.relation in (None, link.relation)
    )


def _wanted(record: MemoryRecord, listing: Listing) -> bool:
    inside = listing.scope.matches(
        user_id=record.user_id,
        agent_id=record.agent_id,
        session_id=record.session_id,
        visibility=record.visibility,
    )
    return inside and (not listing.record_types or record_type_of(record) in listing.record_types)
