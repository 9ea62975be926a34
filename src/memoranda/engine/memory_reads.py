"""Reading memories by id, by natural key, page by page and through time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memoranda.engine.cursors import decode_cursor, encode_cursor
from memoranda.engine.filters import Filter, matches
from memoranda.engine.memories import RETIRING
from memoranda.engine.memory_states import is_expired, recency, state_then
from memoranda.engine.natural_keys import SEPARATOR, slot_of
from memoranda.engine.ports import Clock, MemoryQuery, Store, Transaction
from memoranda.engine.records import PRIVATE, MemoryRecord, MemoryStatus, VectorState
from memoranda.engine.scope import Scope
from memoranda.engine.text import clean_text

_BATCH = 200
_ALL = tuple(MemoryStatus)
_EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A record as a reader sees it: with its vector's state and the record that took its place, if any.

    ``turn_ids`` are the turns it was distilled from; lists leave them out.
    """

    record: MemoryRecord
    vector_state: VectorState = VectorState.NONE
    superseded_by: str | None = None
    turn_ids: tuple[str, ...] = ()

    @property
    def has_embedding(self) -> bool:
        return self.vector_state is VectorState.PRESENT


@dataclass(frozen=True, slots=True)
class MemoryListing:
    """What to list; conditions combine with AND. ``below`` is a domain and what is under it, by whole segments."""

    scope: Scope = _EVERYTHING
    kind: str | None = None
    domain: str | None = None
    below: str | None = None
    name: str | None = None
    where: Filter | None = None
    include_superseded: bool = False
    as_of: datetime | None = None
    newest_first: bool = True

    @property
    def statuses(self) -> tuple[MemoryStatus, ...]:
        return _ALL if self.include_superseded else (MemoryStatus.CURRENT,)

    def takes(self, state: MemoryRecord) -> bool:
        """Return whether an earlier state satisfies the conditions: the plain form of the query."""
        inside = self.below is None or (state.domain + SEPARATOR).startswith(self.below + SEPARATOR)
        named = self.domain in (None, state.domain) and self.name in (None, state.name)
        visible = self.scope.matches(
            user_id=state.user_id,
            agent_id=state.agent_id,
            session_id=state.session_id,
            visibility=state.visibility,
        )
        return inside and named and visible and self._filtered(state)

    def _filtered(self, state: MemoryRecord) -> bool:
        return self.where is None or matches(self.where, state.metadata or {}, state.agent_id)


@dataclass(frozen=True, slots=True)
class MemoryRecordPage:
    """A page of memories and the cursor of the next one, None on the last."""

    views: tuple[MemoryView, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class NaturalName:
    """The part of a natural key that the caller says; the owner comes from the scope."""

    kind: str
    domain: str
    name: str


class MemoryReader:
    """Reads memories. What is expired, hidden or another user's private record is not there."""

    def __init__(self, store: Store, project_id: str, clock: Clock) -> None:
        self._store = store
        self._project_id = project_id
        self._clock = clock

    def get(self, memory_id: str, *, user_id: str | None = None, as_of: datetime | None = None) -> MemoryView | None:
        """Return a memory of any status, with ``as_of`` the state it had then."""
        with self._store.read(self._project_id) as tx:
            record = self._find(tx, memory_id, user_id)
            if record is None:
                return None
            if as_of is None:
                return replace(_views(tx, [record])[0], turn_ids=tuple(tx.sources.turns_of(record.id)))
            state = state_at(tx, record, as_of)
            return None if state is None or not _may_see(state, user_id) else MemoryView(state)

    def get_by_natural_key(
        self,
        key: NaturalName,
        scope: Scope,
        *,
        include_superseded: bool = False,
        as_of: datetime | None = None,
    ) -> MemoryView | None:
        """Return the record in the key's slot, else the newest current one of that name in the scope."""
        # As a save would store it.
        key = replace(key, domain=clean_text(key.domain), name=clean_text(key.name))
        with self._store.read(self._project_id) as tx:
            if as_of is not None:
                return self._named_at(tx, key, scope, as_of)
            found = self._in_slot(tx, key, scope) or self._newest(tx, key, scope, (MemoryStatus.CURRENT,))
            if found is None and include_superseded:
                found = self._newest(tx, key, scope, _ALL)
            return None if found is None else _views(tx, [found])[0]

    def page(self, listing: MemoryListing, *, limit: int = 50, cursor: str | None = None) -> MemoryRecordPage:
        """Return a page of memories in writing order, newest first unless the listing says otherwise."""
        after = int(decode_cursor(listing, cursor, (int,))[0]) if cursor else 0
        with self._store.read(self._project_id) as tx:
            found = self._page(tx, listing, after, limit + 1)
            page = found[:limit]
            views = _views(tx, page) if listing.as_of is None else [MemoryView(state) for state in page]
        more = encode_cursor(listing, (page[-1].key,)) if len(found) > limit else None
        return MemoryRecordPage(tuple(views), more)

    def history(self, memory_id: str, *, user_id: str | None = None) -> list[MemoryRecord]:
        """Return every state of a memory and of what it superseded, oldest first; empty when there is none."""
        states: list[MemoryRecord] = []
        seen: set[str] = set()
        wanted = {memory_id}
        with self._store.read(self._project_id) as tx:
            while wanted:
                seen |= wanted
                records = [record for record in tx.memories.get(sorted(wanted)) if self._sees(record, user_id)]
                for record in records:
                    states += [*tx.memories.history(record.id), record]
                wanted = _superseded_by(tx, [record.id for record in records]) - seen
        visible = [state for state in states if _may_see(state, user_id)]
        return sorted(visible, key=lambda state: (state.valid_from, state.key, state.version))

    def domains(self, scope: Scope) -> Sequence[str]:
        """Return the domains of the current terms in a scope, sorted."""
        with self._store.read(self._project_id) as tx:
            return tx.memories.domains(scope, self._clock.now())

    # --- parts

    def _find(self, tx: Transaction, memory_id: str, user_id: str | None) -> MemoryRecord | None:
        found = tx.memories.get([memory_id])
        return found[0] if found and self._sees(found[0], user_id) else None

    def _sees(self, record: MemoryRecord, user_id: str | None) -> bool:
        return not is_expired(record, self._clock.now()) and _may_see(record, user_id)

    def _in_slot(self, tx: Transaction, key: NaturalName, scope: Scope) -> MemoryRecord | None:
        if scope.user_id is None:
            return None
        found = tx.memories.in_slot(key.kind, scope.user_id, slot_of(key.kind, key.domain, key.name))
        if found is None or self._find(tx, found.id, None) is None:
            return None
        return found if MemoryListing(scope=scope).takes(found) else None

    def _newest(
        self, tx: Transaction, key: NaturalName, scope: Scope, statuses: tuple[MemoryStatus, ...]
    ) -> MemoryRecord | None:
        found = tx.memories.query(self._named(key, scope, statuses, limit=1))
        return found[0] if found else None

    def _named(self, key: NaturalName, scope: Scope, statuses: tuple[MemoryStatus, ...], *, limit: int) -> MemoryQuery:
        return MemoryQuery(
            scope=scope,
            now=self._clock.now(),
            kind=key.kind,
            domain=key.domain,
            name=key.name,
            statuses=statuses,
            limit=limit,
            newest_first=True,
        )

    def _named_at(self, tx: Transaction, key: NaturalName, scope: Scope, as_of: datetime) -> MemoryView | None:
        records = tx.memories.query(self._named(key, Scope(user_id=scope.user_id), _ALL, limit=_BATCH))
        listing = MemoryListing(scope=scope, domain=key.domain, name=key.name)
        states = [state for record in records if (state := state_at(tx, record, as_of)) and listing.takes(state)]
        return MemoryView(max(states, key=recency)) if states else None

    def _page(self, tx: Transaction, listing: MemoryListing, after: int, limit: int) -> Sequence[MemoryRecord]:
        query = MemoryQuery(
            scope=listing.scope,
            now=self._clock.now(),
            kind=listing.kind,
            domain=listing.domain,
            below=listing.below,
            name=listing.name,
            statuses=listing.statuses,
            where=listing.where,
            after_key=after,
            limit=limit,
            newest_first=listing.newest_first,
        )
        if listing.as_of is None:
            return tx.memories.query(query)
        # Owner and kind never change; everything else is asked of the state of that time.
        wide = replace(
            query, scope=Scope(user_id=listing.scope.user_id), domain=None, below=None, name=None, where=None
        )
        return _first(self._states(tx, replace(wide, statuses=_ALL, limit=_BATCH), listing, listing.as_of), limit)

    def _states(
        self, tx: Transaction, query: MemoryQuery, listing: MemoryListing, as_of: datetime
    ) -> Iterator[MemoryRecord]:
        while records := tx.memories.query(query):
            for record in records:
                state = state_at(tx, record, as_of)
                if state is not None and listing.takes(state):
                    yield state
            query = replace(query, after_key=records[-1].key)


def state_at(tx: Transaction, record: MemoryRecord, moment: datetime) -> MemoryRecord | None:
    """Return the state that was valid at a moment (its interval includes its start, not its end)."""
    earlier = tx.memories.history(record.id) if record.version > 1 else ()
    found = state_then((*earlier, record), moment)
    return None if found is None else replace(found, status=MemoryStatus.CURRENT)


def _first(states: Iterator[MemoryRecord], limit: int) -> list[MemoryRecord]:
    return [state for state, _ in zip(states, range(limit), strict=False)]


def _may_see(record: MemoryRecord, user_id: str | None) -> bool:
    return user_id is None or record.user_id == user_id or record.visibility != PRIVATE


def _superseded_by(tx: Transaction, ids: Sequence[str]) -> set[str]:
    """Return what these records took the place of."""
    if not ids:
        return set()
    links = tx.links.of(ids)
    return {link.target_id for link in links if link.relation in RETIRING and link.source_id in ids}


def _views(tx: Transaction, records: Sequence[MemoryRecord]) -> list[MemoryView]:
    states = {row.key: row.vector_state for row in tx.search.documents([record.key for record in records])}
    past = [record.id for record in records if record.status is MemoryStatus.SUPERSEDED]
    successors = {link.target_id: link.source_id for link in tx.links.of(past) if link.relation in RETIRING}
    return [
        MemoryView(record, states.get(record.key, VectorState.NONE), successors.get(record.id)) for record in records
    ]
