"""What a context is made of: units that are kept or dropped whole, and the chosen part arranged for rendering."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from memoranda.engine.records import BUILT_IN_KINDS, PROFILE, STM, Image, MemoryRecord, Profile, Turn
from memoranda.engine.retrieval.hits import Hit


@dataclass(frozen=True, slots=True)
class Unit:
    """Hits that belong together, the one that ranks them first: one record, or a tool call with its results."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class SessionTurns:
    """The chosen turns of one session, in order."""

    user_id: str
    session_id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """Memories by kind in rank order (profiles first), and turns by session in the order of time."""

    memories: tuple[tuple[str, tuple[MemoryRecord | Profile | Image, ...]], ...]
    sessions: tuple[SessionTurns, ...]

    @property
    def empty(self) -> bool:
        return not self.memories and not self.sessions


def units_of(hits: Sequence[Hit], exchanges: Mapping[str, tuple[Turn, ...]]) -> list[Unit]:
    """Return the hits in rank order as units; the rest of a tool exchange joins the hit that ranks first."""
    by_id = {hit.id: hit for hit in hits if hit.source == STM}
    taken: set[str] = set()
    units: list[Unit] = []
    for hit in hits:
        if hit.source == STM and hit.id in taken:
            continue
        members = exchanges.get(hit.id, ()) if hit.source == STM else ()
        others = [by_id.get(turn.id) or Hit(STM, turn, hit.score, hit.state) for turn in members if turn.id != hit.id]
        taken.update(turn.id for turn in members)
        units.append(Unit((hit, *others)))
    return units


def arrange(units: Iterable[Unit]) -> Selection:
    """Arrange units for rendering. The order depends on the records alone: kinds, then rank; sessions, then time."""
    hits = [hit for unit in units for hit in unit.hits]
    memories: dict[str, list[MemoryRecord | Profile | Image]] = {}
    turns: list[Turn] = []
    for hit in hits:
        if isinstance(hit.record, Turn):
            turns.append(hit.record)
        else:
            memories.setdefault(hit.source, []).append(hit.record)
    kinds = sorted(memories, key=_kind_order)
    return Selection(tuple((kind, tuple(memories[kind])) for kind in kinds), tuple(_sessions(turns)))


def _kind_order(kind: str) -> tuple[int, str]:
    known = (PROFILE, *BUILT_IN_KINDS)
    return (known.index(kind) if kind in known else len(known), kind)


def _sessions(turns: Sequence[Turn]) -> list[SessionTurns]:
    in_order = sorted(turns, key=lambda turn: (turn.user_id, turn.session_id, turn.turn_seq))
    sessions = [
        SessionTurns(user_id, session_id, tuple(members))
        for (user_id, session_id), members in groupby(in_order, key=lambda turn: (turn.user_id, turn.session_id))
    ]
    return sorted(sessions, key=lambda session: (session.turns[0].event_time, session.user_id, session.session_id))
