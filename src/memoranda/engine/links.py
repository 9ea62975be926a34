"""Links between memories, and what they do to the validity of their target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memoranda.engine.ids import new_id
from memoranda.engine.memories import INVERSES, RETIRING, MemoryWriter
from memoranda.engine.memory_states import is_expired
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.engine.records import PRIVATE, JsonObject, Link, MemoryRecord, MemoryStatus
from memoranda.engine.text import clean_object
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryNotFoundError


@dataclass(frozen=True, slots=True)
class LinkDraft:
    """A link as it is handed in; ``event_time`` defaults to when the source became valid."""

    source_id: str
    target_id: str
    relation: str
    event_time: datetime | None = None
    metadata: JsonObject | None = None


class LinkService:
    """Adds, lists and deletes links. With a ``user_id`` another user's private memories are not there."""

    def __init__(self, store: Store, project_id: str, *, writer: MemoryWriter, clock: Clock) -> None:
        self._store = store
        self._project_id = project_id
        self._writer = writer
        self._clock = clock

    def add(self, draft: LinkDraft, *, user_id: str | None = None) -> Link:
        """Link two memories; a link that exists is returned as it is.

        ``supersedes``, ``refines`` and ``duplicates`` end the target's validity. Raises ``MemoryBadRequestError`` for
        an unknown relation or a memory linked to itself, ``MemoryNotFoundError``, and ``MemoryConflictError`` when the
        target already took the place of the source.
        """
        metadata = _checked(draft)
        with self._store.write(self._project_id) as tx:
            source = self._memory(tx, draft.source_id, user_id)
            target = self._memory(tx, draft.target_id, user_id)
            same = (source.id, target.id, draft.relation)
            for link in tx.links.of([source.id]):
                if (link.source_id, link.target_id, link.relation) == same:
                    return link
            if draft.relation in RETIRING:
                _check_order(tx, source, target)
                self._writer.retire(tx, target, draft.event_time or source.valid_from)
            added = Link(
                id=new_id(),
                source_id=source.id,
                target_id=target.id,
                relation=draft.relation,
                inverse=INVERSES[draft.relation],
                created_at=self._clock.now(),
                event_time=draft.event_time or source.valid_from,
                metadata=metadata,
            )
            tx.links.insert(added)
            return added

    def list(self, memory_id: str, *, user_id: str | None = None) -> Sequence[Link]:
        """Return the links at either end of a memory, in creation order. Raises ``MemoryNotFoundError``."""
        with self._store.read(self._project_id) as tx:
            return tx.links.of([self._memory(tx, memory_id, user_id).id])

    def delete(self, link_id: str, *, user_id: str | None = None) -> Link:
        """Delete a link; a target that nothing else ended is current again. Raises ``MemoryNotFoundError``."""
        with self._store.write(self._project_id) as tx:
            link = tx.links.get(link_id)
            if link is None:
                raise MemoryNotFoundError(f"there is no link {link_id!r}", code="NOT_FOUND")
            target = self._memory(tx, link.target_id, user_id)
            tx.links.delete([link_id])
            ends = [
                other
                for other in tx.links.of([target.id])
                if other.relation in RETIRING and other.target_id == target.id
            ]
            if link.relation in RETIRING and target.status is MemoryStatus.SUPERSEDED and not ends:
                self._writer.restore(tx, target)
            return link

    def _memory(self, tx: Transaction, memory_id: str, user_id: str | None) -> MemoryRecord:
        for record in tx.memories.get([memory_id]):
            foreign = user_id not in (None, record.user_id) and record.visibility == PRIVATE
            if not foreign and not is_expired(record, self._clock.now()):
                return record
        raise MemoryNotFoundError(f"there is no memory {memory_id!r} that this call may see", code="NOT_FOUND")


def _checked(draft: LinkDraft) -> JsonObject | None:
    if draft.relation not in INVERSES:
        known = ", ".join(INVERSES)
        raise MemoryBadRequestError(f"relation {draft.relation!r} is unknown; use one of: {known}", code="INVALID_LINK")
    if draft.source_id == draft.target_id:
        raise MemoryBadRequestError(f"memory {draft.source_id!r} cannot be linked to itself", code="INVALID_LINK")
    return clean_object("metadata", draft.metadata) if draft.metadata else None


def _check_order(tx: Transaction, source: MemoryRecord, target: MemoryRecord) -> None:
    """Raise when the target, or what took its place, already took the place of the source."""
    seen: set[str] = set()
    wanted = {source.id}
    while wanted:
        if target.id in wanted:
            raise MemoryConflictError(
                f"memory {target.id!r} already took the place of {source.id!r}; delete that link first",
                code="LINK_CYCLE",
            )
        seen |= wanted
        links = tx.links.of(sorted(wanted))
        wanted = {link.source_id for link in links if link.relation in RETIRING and link.target_id in seen} - seen
