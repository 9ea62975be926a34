"""The rules of memory in memory: what every read must answer, worked out the slow and obvious way.

The model knows scopes, visibility, natural keys, versions, lifetimes, deletion, and how a search by words ranks. It
takes the ids that the real engine gave out and nothing else from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from memoranda.engine.analyser import AnalysedText, Analyser, is_exact
from memoranda.testing.text_model import has_ended

K1, B, EXACT_WEIGHT = 0.9, 0.4, 0.3
PRIVATE = "private"


class Expected(StrEnum):
    """What a write is to do."""

    CREATED = "created"
    UPDATED = "updated"
    REPEATED = "repeated"
    CONFLICT = "conflict"


@dataclass(slots=True)
class ModelTurn:
    """A turn that was acknowledged."""

    id: str
    user: str
    session: str
    seq: int
    content: str
    key: str | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class SaveSpec:
    """A save, in the words of the model; ``extra`` is searchable text beside the content, in the order of the index."""

    kind: str
    user: str
    content: str
    name: str = ""
    domain: str = ""
    visibility: str = PRIVATE
    session: str = ""
    extra: str = ""
    metadata: Mapping[str, object] | None = None
    ttl: timedelta | None = None
    replaces: bool = True

    @property
    def claims_slot(self) -> bool:
        return bool(self.name) and (self.replaces or self.kind == "procedural")

    @property
    def said(self) -> tuple[object, ...]:
        """What makes a second save the same statement."""
        return (self.content, self.visibility, self.extra, self.metadata)


@dataclass(frozen=True, slots=True)
class ModelState:
    """One state of a memory; an earlier one keeps the visibility that it had."""

    began: datetime
    version: int
    content: str
    visibility: str


@dataclass(slots=True)
class ModelMemory:
    """A memory that is stored. ``states`` are what it was, oldest first."""

    id: str
    spec: SaveSpec
    order: int
    slotted: bool
    expires_at: datetime | None
    version: int = 1
    occurrences: int = 1
    states: list[ModelState] = field(default_factory=list)

    @property
    def text(self) -> str:
        spec = self.spec
        if spec.kind == "taxonomic":
            return f"{spec.domain}/{spec.name}: {spec.content}"
        named = spec.name if spec.kind in ("semantic", "procedural") else ""
        return "\n".join(part for part in (named, spec.extra, spec.content) if part)


class MemoryModel:
    """What one project holds, seen by an outsider. ``now`` is the time of the next call."""

    def __init__(self, now: datetime, analyser: Analyser | None = None) -> None:
        self.now = now
        self.turns: dict[str, ModelTurn] = {}
        self.memories: dict[str, ModelMemory] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._order = 0
        self._analyser = analyser or Analyser()

    # --- turns

    def keyed_turn(self, user: str, session: str, key: str | None) -> ModelTurn | None:
        """Return the turn that used this idempotency key in this session."""
        if key is None:
            return None
        found = [turn for turn in self.turns.values() if (turn.user, turn.session, turn.key) == (user, session, key)]
        return found[0] if found else None

    def add_turn(self, turn_id: str, user: str, session: str, content: str, **fields: object) -> ModelTurn:
        """Store a turn under the next number of its session."""
        number = self._numbers[user, session] = self._numbers.get((user, session), 0) + 1
        turn = ModelTurn(turn_id, user, session, number, content, None, None)
        for name, value in fields.items():
            setattr(turn, name, value)
        self.turns[turn_id] = turn
        return turn

    def visible_turns(self, user: str | None, session: str | None) -> list[ModelTurn]:
        """Return the turns of a scope in the order they are listed in."""
        inside = [
            turn
            for turn in self.turns.values()
            if user in (None, turn.user)
            and session in (None, turn.session)
            and not has_ended(turn.expires_at, self.now)
        ]
        return sorted(inside, key=lambda turn: (turn.user, turn.session, turn.seq))

    # --- memories

    def in_slot(self, spec: SaveSpec) -> ModelMemory | None:
        """Return the record whose natural key a save claims; an ended one has left."""
        place = (spec.kind, spec.user, spec.domain, spec.name)
        for memory in self.memories.values():
            held = memory.spec
            if memory.slotted and (held.kind, held.user, held.domain, held.name) == place:
                return None if has_ended(memory.expires_at, self.now) else memory
        return None

    def expected(self, spec: SaveSpec) -> tuple[Expected, ModelMemory | None]:
        """Return what a save will do, and to which record."""
        found = self.in_slot(spec) if spec.claims_slot else None
        if found is None:
            return Expected.CREATED, None
        if not spec.replaces:
            return Expected.CONFLICT, found
        return (Expected.REPEATED if found.spec.said == spec.said else Expected.UPDATED), found

    def save(self, memory_id: str, spec: SaveSpec) -> ModelMemory:
        """Store what a save wrote; ``expected`` said what that is."""
        outcome, found = self.expected(spec)
        ends = None if spec.ttl is None else self.now + spec.ttl
        if outcome is Expected.REPEATED and found is not None:
            found.occurrences += 1
            found.expires_at = ends if spec.ttl is not None or found.expires_at is not None else None
            return found
        if outcome is Expected.UPDATED and found is not None:
            found.occurrences = found.occurrences + 1 if found.spec.content == spec.content else 1
            found.expires_at = ends
            return self._new_state(found, spec)
        self._drop_ended_in_slot(spec)
        self._order += 1
        made = ModelMemory(memory_id, spec, self._order, spec.claims_slot, ends)
        made.states.append(ModelState(self.now, 1, spec.content, spec.visibility))
        self.memories[memory_id] = made
        return made

    def _new_state(self, memory: ModelMemory, spec: SaveSpec) -> ModelMemory:
        memory.spec = spec
        memory.version += 1
        memory.states.append(ModelState(self.now, memory.version, spec.content, spec.visibility))
        return memory

    def _drop_ended_in_slot(self, spec: SaveSpec) -> None:
        place = (spec.kind, spec.user, spec.domain, spec.name)
        for memory in list(self.memories.values()):
            held = memory.spec
            same = memory.slotted and (held.kind, held.user, held.domain, held.name) == place
            if spec.claims_slot and same and has_ended(memory.expires_at, self.now):
                del self.memories[memory.id]

    def update(self, memory: ModelMemory, spec: SaveSpec) -> None:
        """Store a new version, unless nothing changes."""
        if memory.spec != spec:
            self._new_state(memory, spec)

    def at(self, memory: ModelMemory, moment: datetime, user: str | None) -> tuple[int, str] | None:
        """Return (version, content) as they were at a moment, None before it began or where it was another's."""
        held = [state for state in memory.states if state.began <= moment]
        return (held[-1].version, held[-1].content) if held and self._owns(memory, held[-1].visibility, user) else None

    def history(self, memory: ModelMemory, user: str | None) -> list[str]:
        """Return the contents of every state that this user may look at, oldest first."""
        return [state.content for state in memory.states if self._owns(memory, state.visibility, user)]

    def _owns(self, memory: ModelMemory, visibility: str, user: str | None) -> bool:
        return visibility != PRIVATE or user in (None, memory.spec.user)

    def may_see(self, memory: ModelMemory, user: str | None) -> bool:
        """Return whether a call for this user may look at a record by id."""
        return self._owns(memory, memory.spec.visibility, user) and not has_ended(memory.expires_at, self.now)

    def visible(self, kind: str | None, user: str | None, visibility: str | None = None) -> list[ModelMemory]:
        """Return the memories of a scope, newest first."""
        inside = [
            memory for memory in self._partition(kind, user, visibility) if not has_ended(memory.expires_at, self.now)
        ]
        return inside[::-1]

    def named(self, kind: str, name: str, domain: str, user: str | None) -> ModelMemory | None:
        """Return what a look-up by natural key finds: the record in the slot, else the newest of that name."""
        found = [each for each in self.visible(kind, user) if (each.spec.domain, each.spec.name) == (domain, name)]
        slotted = [each for each in found if user is not None and each.slotted]
        return next(iter(slotted or found), None)

    def domains(self, visibility: str | None) -> list[str]:
        return sorted({memory.spec.domain for memory in self.visible("taxonomic", None, visibility)})

    # --- deletion and time

    def delete_user(self, user: str) -> tuple[int, int]:
        """Remove everything of a user; return how many turns and memories went."""
        turns = [turn.id for turn in self.turns.values() if turn.user == user]
        memories = [memory.id for memory in self.memories.values() if memory.spec.user == user]
        for turn_id in turns:
            del self.turns[turn_id]
        for memory_id in memories:
            del self.memories[memory_id]
        for place in [place for place in self._numbers if place[0] == user]:
            del self._numbers[place]
        return len(turns), len(memories)

    def delete_session(self, user: str | None, session: str) -> int:
        """Remove a session's turns, of every owner where no user is named; return how many went."""
        gone = [turn.id for turn in self.turns.values() if turn.session == session and user in (None, turn.user)]
        for turn_id in gone:
            del self.turns[turn_id]
        for place in [place for place in self._numbers if place[1] == session and user in (None, place[0])]:
            del self._numbers[place]
        return len(gone)

    def remove_ended(self) -> None:
        """Remove what has expired, as the background work does."""
        self.turns = {key: turn for key, turn in self.turns.items() if not has_ended(turn.expires_at, self.now)}
        self.memories = {key: each for key, each in self.memories.items() if not has_ended(each.expires_at, self.now)}

    # --- search by words

    def search(self, query: str, kind: str, user: str | None, visibility: str | None = None) -> dict[str, float]:
        """Return every record that shares a term with the query, with its score."""
        partition = {memory.id: memory.text for memory in self._partition(kind, user, visibility)}
        scores = self._scores(query, partition)
        return {each.id: scores[each.id] for each in self.visible(kind, user, visibility) if each.id in scores}

    def has_terms(self, query: str) -> bool:
        return bool(self._analyser.query_terms(query))

    def _partition(self, kind: str | None, user: str | None, visibility: str | None) -> Iterable[ModelMemory]:
        """Return the records whose statistics count, oldest first; what has ended counts until it is removed."""
        inside = (
            each
            for each in self.memories.values()
            if kind in (None, each.spec.kind)
            and user in (None, each.spec.user)
            and visibility in (None, each.spec.visibility)
        )
        return sorted(inside, key=lambda each: each.order)

    def _scores(self, query: str, texts: Mapping[str, str]) -> dict[str, float]:
        analysed = {key: self._analyser.analyse(text) for key, text in texts.items()}
        return bm25(self._analyser.query_terms(query), analysed)


def bm25(terms: Sequence[str], documents: Mapping[str, AnalysedText]) -> dict[str, float]:
    """Score each document that has one of the terms: BM25 in Lucene's form over these documents alone."""
    frequencies = {key: dict(document.terms) for key, document in documents.items()}
    average = sum(document.length for document in documents.values()) / max(len(documents), 1) or 1.0
    weights = {term: _weight(term, frequencies.values()) for term in terms}
    return {
        key: sum(
            weights[term] * found[term] / (found[term] + K1 * (1 - B + B * documents[key].length / average))
            for term in terms
            if term in found
        )
        for key, found in frequencies.items()
        if found.keys() & set(terms)
    }


def _weight(term: str, documents: Iterable[Mapping[str, int]]) -> float:
    every = list(documents)
    having = sum(term in document for document in every)
    rarity = math.log(1 + (len(every) - having + 0.5) / (having + 0.5))
    return rarity * EXACT_WEIGHT if is_exact(term) else rarity
