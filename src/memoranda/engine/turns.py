"""Recording turns: durable when the call returns, numbered in their session, searchable by text at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from memoranda.engine.analyser import Analyser
from memoranda.engine.config import ProjectConfig
from memoranda.engine.drafts import UNSET, Unset
from memoranda.engine.feed.log import ChangeLog
from memoranda.engine.ids import new_id
from memoranda.engine.indexing import entry_for_turn
from memoranda.engine.jobs.planner import JobPlanner
from memoranda.engine.ports import Clock, SessionAdvance, Store, Transaction
from memoranda.engine.purge import Purger
from memoranda.engine.records import Identity, JsonObject, Session, Turn
from memoranda.engine.scope import Scope
from memoranda.engine.text import clean_object, clean_text, require_storable_id, require_text
from memoranda.engine.turn_groups import Groups
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryNotFoundError


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """A turn as a caller hands it in. ``event_time`` defaults to now; ``ttl_days`` counts from now.

    ``extraction_policy`` holds for the session's turns of this write, in place of the session's own. ``id`` is the
    caller's, where the caller has one; ``expires_at`` is the end of the lifetime itself.
    """

    identity: Identity
    role: str
    content: str | None = None
    model_name: str | None = None
    tool_calls: Sequence[JsonObject] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    metadata: JsonObject | None = None
    idempotency_key: str | None = None
    event_time: datetime | None = None
    ttl_days: float | None = None
    extraction_policy: JsonObject | None = None
    id: str | None = None
    parts: JsonObject | None = None
    expires_at: datetime | None = None

    @property
    def place(self) -> tuple[str, str]:
        """The session that the turn belongs to: its user and its session id."""
        return (self.identity.user_id, self.identity.session_id)


@dataclass(frozen=True, slots=True)
class TurnChanges:
    """What changes about a turn; ``metadata`` is replaced whole."""

    content: str | Unset = UNSET
    parts: JsonObject | Unset | None = UNSET
    metadata: JsonObject | Unset | None = UNSET
    expires_at: datetime | Unset | None = UNSET


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A stored turn; ``repeated`` when an earlier call with the same idempotency key had stored it."""

    turn: Turn
    repeated: bool


class TurnService:
    """Records and reads turns; a write is one transaction of turns, their index rows, their session and their jobs."""

    def __init__(
        self,
        store: Store,
        project_id: str,
        *,
        analyser: Analyser,
        clock: Clock,
        config: ProjectConfig,
        planner: JobPlanner,
        purger: Purger,
    ) -> None:
        self._store = store
        self._project_id = project_id
        self._analyser = analyser
        self._clock = clock
        self._config = config
        self._planner = planner
        self._purger = purger
        self._changes = ChangeLog(clock, config.change_feed)
        self._groups: Groups[TurnDraft, RecordedTurn] = Groups(self._record_together)

    def record(self, drafts: Sequence[TurnDraft]) -> list[RecordedTurn]:
        """Store turns in order, all or none.

        Raises ``MemoryConflictError`` (``IDEMPOTENCY_CONFLICT``) when a key was used for another turn.
        """
        if not drafts:
            return []
        return list(self._groups.record([checked_turn(draft) for draft in drafts]))

    def _record_together(self, drafts: Sequence[TurnDraft]) -> list[RecordedTurn]:
        with self._store.write(self._project_id) as tx:
            known = _Known(partial(self._living, tx))
            fresh = [position for position, draft in enumerate(drafts) if known.is_new(draft, position)]
            stored = dict(zip(fresh, self._store_new(tx, [drafts[position] for position in fresh]), strict=True))
        return [
            RecordedTurn(stored[position], repeated=False)
            if position in stored
            else RecordedTurn(known.first(draft, stored), repeated=True)
            for position, draft in enumerate(drafts)
        ]

    def _living(self, tx: Transaction, place: tuple[str, str, str]) -> Turn | None:
        """Return the turn that has an idempotency key; one whose lifetime has ended is removed, and the key is free."""
        found = tx.turns.by_idempotency_key(*place)
        if found is None or not _expired(found, self._clock.now()):
            return found
        self._purger.remove_turns(tx, [found])
        return None

    def _store_new(self, tx: Transaction, drafts: Sequence[TurnDraft]) -> list[Turn]:
        if not drafts:
            return []
        now = self._clock.now()
        self._free_ids(tx, [draft.id for draft in drafts if draft.id is not None])
        sessions = _advance(tx, drafts, now)
        first_key = tx.projects.allocate_keys(len(drafts))
        numbers = {place: session.last_seq - count for place, (session, count) in sessions.items()}
        turns: list[Turn] = []
        for offset, draft in enumerate(drafts):
            numbers[draft.place] += 1
            turns.append(_turn(draft, key=first_key + offset, turn_seq=numbers[draft.place], now=now))
        tx.turns.insert(turns)
        self._changes.turns_created(tx, turns)
        pending = self._planner.embeds_turns
        tx.index.add([entry_for_turn(turn, self._analyser, self._config, embed=pending) for turn in turns])
        policies = {draft.place: draft.extraction_policy for draft in drafts}
        for place, (session, _) in sessions.items():
            self._planner.after_turns(tx, session, now, policy=policies[place])
        self._planner.after_lifetimes(tx, [turn.expires_at for turn in turns], now)
        return turns

    def _free_ids(self, tx: Transaction, ids: Sequence[str]) -> None:
        """Raise when a caller's id is another turn's; one whose lifetime has ended is removed."""
        taken = tx.turns.get(ids) if ids else ()
        ended = [turn for turn in taken if _expired(turn, self._clock.now())]
        if len(set(ids)) < len(ids) or len(ended) < len(taken):
            names = ", ".join(sorted(repr(turn.id) for turn in taken if turn not in ended)) or "one id twice"
            raise MemoryConflictError(f"ids of turns are taken already ({names}); choose others", code="TURN_EXISTS")
        if ended:
            self._purger.remove_turns(tx, ended)

    def update(self, turn_id: str, changes: TurnChanges) -> Turn:
        """Change what a turn says and index it anew; one that was extracted is read again where its content changed.

        Raises ``MemoryNotFoundError``.
        """
        now = self._clock.now()
        with self._store.write(self._project_id) as tx:
            before = next((turn for turn in tx.turns.get([turn_id]) if not _expired(turn, now)), None)
            if before is None:
                raise MemoryNotFoundError(f"there is no turn {turn_id!r}", code="NOT_FOUND")
            turn = _changed(before, changes)
            if turn != before:
                self._write_changed(tx, before, turn, now)
        return turn

    def _write_changed(self, tx: Transaction, before: Turn, turn: Turn, now: datetime) -> None:
        tx.turns.update(turn, now)
        self._changes.turns_updated(tx, [turn])
        if (turn.content, turn.expires_at) == (before.content, before.expires_at):
            tx.index.replace_values([entry_for_turn(turn, self._analyser, self._config)])
            return
        embed = self._planner.embeds_turns
        tx.index.remove([turn.key])
        tx.index.add([entry_for_turn(turn, self._analyser, self._config, embed=embed)])
        self._planner.after_lifetimes(tx, [turn.expires_at], now)
        session = tx.sessions.get(turn.user_id, turn.session_id)
        if session is not None:
            self._planner.after_change(tx, session, now)
            if turn.content != before.content:
                self._planner.after_edit(tx, session, turn.turn_seq, now)

    def get(self, turn_id: str, *, user_id: str | None = None) -> Turn | None:
        """Return a turn that is visible to this user (any user, where none is named)."""
        now = self._clock.now()
        with self._store.read(self._project_id) as tx:
            found = tx.turns.get([turn_id])
        visible = [turn for turn in found if user_id in (None, turn.user_id) and not _expired(turn, now)]
        return visible[0] if visible else None

    def page(self, scope: Scope, after: tuple[str, str, int] | None, limit: int) -> Sequence[Turn]:
        """Return turns in (user, session, turn_seq) order."""
        with self._store.read(self._project_id) as tx:
            return tx.turns.page(scope, after, limit, self._clock.now())


class _Known:
    """Which turns of a batch were stored before, by their idempotency keys."""

    def __init__(self, stored: Callable[[tuple[str, str, str]], Turn | None]) -> None:
        self._stored = stored
        self._before: dict[tuple[str, str, str], Turn] = {}
        self._batch: dict[tuple[str, str, str], tuple[int, TurnDraft]] = {}

    def is_new(self, draft: TurnDraft, position: int) -> bool:
        """Return whether a draft is to be stored; a key that was used for another turn is a conflict."""
        if draft.idempotency_key is None:
            return True
        place = (*draft.place, draft.idempotency_key)
        if place in self._batch:
            _check_same(draft, self._batch[place][1])
            return False
        before = self._stored(place)
        if before is None:
            self._batch[place] = (position, draft)
            return True
        _check_same(draft, before)
        self._before[place] = before
        return False

    def first(self, draft: TurnDraft, stored: Mapping[int, Turn]) -> Turn:
        """Return the turn that a repeated draft repeats."""
        place = (*draft.place, draft.idempotency_key or "")
        before = self._before.get(place)
        return before if before is not None else stored[self._batch[place][0]]


def _check_same(draft: TurnDraft, other: TurnDraft | Turn) -> None:
    if _content(draft) != _content(other):
        raise MemoryConflictError(
            f"idempotency key {draft.idempotency_key!r} was used in session {draft.identity.session_id!r} for a turn "
            "with other content; use a new key for a new turn",
            code="IDEMPOTENCY_CONFLICT",
        )


def _content(turn: TurnDraft | Turn) -> tuple[object, ...]:
    calls = None if turn.tool_calls is None else [dict(call) for call in turn.tool_calls]
    return (turn.role, turn.content, calls, turn.tool_call_id, turn.tool_name, turn.is_error, turn.metadata)


def _advance(tx: Transaction, drafts: Sequence[TurnDraft], now: datetime) -> dict[tuple[str, str], tuple[Session, int]]:
    """Take turn numbers for every session of a batch, in key order, so that bulk writers do not deadlock."""
    counts: dict[tuple[str, str], list[TurnDraft]] = {}
    for draft in drafts:
        counts.setdefault(draft.place, []).append(draft)
    return {
        place: (
            tx.sessions.advance(SessionAdvance(identity=group[-1].identity, count=len(group), now=now)),
            len(group),
        )
        for place, group in sorted(counts.items())
    }


def _turn(draft: TurnDraft, *, key: int, turn_seq: int, now: datetime) -> Turn:
    return Turn(
        id=draft.id or new_id(),
        key=key,
        user_id=draft.identity.user_id,
        agent_id=draft.identity.agent_id,
        session_id=draft.identity.session_id,
        turn_seq=turn_seq,
        role=draft.role,
        content=draft.content,
        created_at=now,
        event_time=draft.event_time or now,
        model_name=draft.model_name,
        tool_calls=draft.tool_calls,
        tool_call_id=draft.tool_call_id,
        tool_name=draft.tool_name,
        is_error=draft.is_error,
        metadata=draft.metadata,
        idempotency_key=draft.idempotency_key,
        expires_at=draft.expires_at or (None if draft.ttl_days is None else now + timedelta(days=draft.ttl_days)),
        parts=draft.parts,
    )


def _changed(turn: Turn, changes: TurnChanges) -> Turn:
    metadata = changes.metadata
    if not isinstance(metadata, Unset):
        turn = replace(turn, metadata=clean_object("metadata", metadata) if metadata else None)
    if not isinstance(changes.content, Unset):
        turn = replace(turn, content=clean_text(changes.content))
    if not isinstance(changes.parts, Unset):
        turn = replace(turn, parts=_cleaned_parts(changes.parts))
    return turn if isinstance(changes.expires_at, Unset) else replace(turn, expires_at=changes.expires_at)


def _cleaned_parts(parts: JsonObject | None) -> JsonObject | None:
    return clean_object("parts", parts) if parts else None


def checked_turn(draft: TurnDraft) -> TurnDraft:
    """Return a draft that every database can hold; ``MemoryBadRequestError`` names what is wrong with it."""
    if not require_text("role", draft.role).strip():
        raise MemoryBadRequestError(f"role {draft.role!r} is blank: name who speaks, such as 'user' or 'assistant'")
    identity = draft.identity
    names = {"user_id": identity.user_id, "agent_id": identity.agent_id, "session_id": identity.session_id}
    ids = {"idempotency_key": draft.idempotency_key or "", "turn id": draft.id or ""}
    for name, value in {**names, **ids}.items():
        if value:
            require_storable_id(name, value)
    calls = draft.tool_calls
    return replace(
        draft,
        role=clean_text(draft.role),
        content=_cleaned(draft.content),
        model_name=_cleaned(draft.model_name),
        # Cleaned like the calls, whose ids it is compared with.
        tool_call_id=_cleaned(draft.tool_call_id),
        tool_name=_cleaned(draft.tool_name),
        metadata=clean_object("metadata", draft.metadata) if draft.metadata else None,
        parts=_cleaned_parts(draft.parts),
        tool_calls=None if calls is None else [clean_object("tool_calls", call) for call in calls],
    )


def _cleaned(text: str | None) -> str | None:
    return None if text is None else clean_text(text)


def _expired(turn: Turn, now: datetime) -> bool:
    return turn.expires_at is not None and turn.expires_at <= now
