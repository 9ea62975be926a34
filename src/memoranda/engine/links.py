"""Links between memories, and what they do to the validity of their target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memoranda.engine.drafts import UNSET, Unset
from memoranda.engine.ids import new_id
from memoranda.engine.memories import INVERSES, RETIRING, MemoryWriter
from memoranda.engine.memory_states import RETIRED_BY_HAND, is_expired
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.engine.records import PRIVATE, JsonObject, Link, MemoryRecord, MemoryStatus
from memoranda.engine.text import clean_object, require_storable_id
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryNotFoundError


@dataclass(frozen=True, slots=True)
class LinkDraft:
    """A link as it is handed in; ``event_time`` defaults to when the source became valid.

    A link that is ``free`` may have a relation of the caller's own, which ends nothing and reads ``inverse`` from its
    target (default: the same). ``id`` is the caller's, where the caller has one.
    """

    source_id: str
    target_id: str
    relation: str
    event_time: datetime | None = None
    metadata: JsonObject | None = None
    id: str | None = None
    inverse: str | None = None
    free: bool = False


@dataclass(frozen=True, slots=True)
class LinkChanges:
    """What changes about a link, whose ends stay."""

    relation: str | Unset = UNSET
    inverse: str | Unset = UNSET
    event_time: datetime | Unset | None = UNSET
    metadata: JsonObject | Unset | None = UNSET


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
        with self._store.write(self._project_id) as tx:
            return self.write(tx, draft, user_id=user_id)

    def write(self, tx: Transaction, draft: LinkDraft, *, user_id: str | None = None) -> Link:
        """Link two memories in a transaction that is the caller's; see ``add``."""
        metadata = _checked(draft)
        source = self._memory(tx, draft.source_id, user_id)
        target = self._memory(tx, draft.target_id, user_id)
        same = _the_same(tx, source.id, target.id, draft.relation)
        if same is not None:
            return same
        if draft.id is not None and tx.links.get(draft.id) is not None:
            raise MemoryConflictError(f"there is a link {draft.id!r} already; choose another id", code="LINK_EXISTS")
        if draft.relation in RETIRING:
            _check_order(tx, source, target)
            self._writer.retire(tx, target, draft.event_time or source.valid_from)
        added = Link(
            id=draft.id or new_id(),
            source_id=source.id,
            target_id=target.id,
            relation=draft.relation,
            inverse=draft.inverse or INVERSES.get(draft.relation, draft.relation),
            created_at=self._clock.now(),
            event_time=draft.event_time or source.valid_from,
            metadata=metadata,
        )
        tx.links.insert(added)
        return added

    def get(self, link_id: str) -> Link | None:
        """Return a link, or None."""
        with self._store.read(self._project_id) as tx:
            return tx.links.get(link_id)

    def update(self, link_id: str, changes: LinkChanges) -> Link:
        """Change a link, and the validity of its target with it.

        Raises ``MemoryNotFoundError``, and ``MemoryConflictError`` where its memories are linked that way already.
        """
        with self._store.write(self._project_id) as tx:
            link = tx.links.get(link_id)
            if link is None:
                raise MemoryNotFoundError(f"there is no link {link_id!r}", code="NOT_FOUND")
            changed = _changed(link, changes)
            if changed.relation != link.relation:
                self._change_relation(tx, link, changed)
            tx.links.update(changed)
            return changed

    def _change_relation(self, tx: Transaction, link: Link, changed: Link) -> None:
        source, target = self._memory(tx, link.source_id, None), self._memory(tx, link.target_id, None)
        if _the_same(tx, source.id, target.id, changed.relation) is not None:
            raise MemoryConflictError(
                f"memories {source.id!r} and {target.id!r} are linked as {changed.relation!r} already; delete one link",
                code="LINK_EXISTS",
            )
        if changed.relation in RETIRING and link.relation not in RETIRING:
            _check_order(tx, source, target)
            self._writer.retire(tx, target, changed.event_time or source.valid_from)
        elif link.relation in RETIRING and changed.relation not in RETIRING:
            self._release(tx, link, target)

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
            if link.relation in RETIRING:
                self._release(tx, link, target)
            return link

    def _release(self, tx: Transaction, link: Link, target: MemoryRecord) -> None:
        """Make a memory current again that this link ended, and nothing else did."""
        others = [
            other
            for other in tx.links.of([target.id])
            if other.relation in RETIRING and other.target_id == target.id and other.id != link.id
        ]
        stays = others or RETIRED_BY_HAND in target.provenance
        if target.status is MemoryStatus.SUPERSEDED and not stays:
            self._writer.restore(tx, target)

    def _memory(self, tx: Transaction, memory_id: str, user_id: str | None) -> MemoryRecord:
        for record in tx.memories.get([memory_id]):
            foreign = user_id not in (None, record.user_id) and record.visibility == PRIVATE
            if not foreign and not is_expired(record, self._clock.now()):
                return record
        raise MemoryNotFoundError(f"there is no memory {memory_id!r} that this call may see", code="NOT_FOUND")


def _checked(draft: LinkDraft) -> JsonObject | None:
    if draft.free:
        for name, label in (("relation", draft.relation), ("inverse", draft.inverse or draft.relation)):
            if not require_storable_id(name, label).strip():
                raise MemoryBadRequestError(f"the {name} of a link is blank; name it", code="INVALID_LINK")
    elif draft.relation not in INVERSES:
        known = ", ".join(INVERSES)
        raise MemoryBadRequestError(f"relation {draft.relation!r} is unknown; use one of: {known}", code="INVALID_LINK")
    if draft.id is not None and not require_storable_id("link id", draft.id).strip():
        raise MemoryBadRequestError(f"the link id {draft.id!r} is blank; leave it out", code="INVALID_LINK")
    if draft.source_id == draft.target_id:
        raise MemoryBadRequestError(f"memory {draft.source_id!r} cannot be linked to itself", code="INVALID_LINK")
    return clean_object("metadata", draft.metadata) if draft.metadata else None


def _the_same(tx: Transaction, source_id: str, target_id: str, relation: str) -> Link | None:
    same = (source_id, target_id, relation)
    found = (link for link in tx.links.of([source_id]) if (link.source_id, link.target_id, link.relation) == same)
    return next(found, None)


def _changed(link: Link, changes: LinkChanges) -> Link:
    if not isinstance(changes.relation, Unset):
        link = replace(link, relation=changes.relation, inverse=INVERSES.get(changes.relation, changes.relation))
    if not isinstance(changes.inverse, Unset):
        link = replace(link, inverse=changes.inverse)
    if not isinstance(changes.event_time, Unset):
        link = replace(link, event_time=changes.event_time)
    if not isinstance(changes.metadata, Unset):
        link = replace(link, metadata=clean_object("metadata", changes.metadata) if changes.metadata else None)
    _checked(LinkDraft(link.source_id, link.target_id, link.relation, inverse=link.inverse, free=True))
    return link


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
