"""Turns support their neighbours: an answer often shares no word with the question before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memoranda.engine.records import Turn
from memoranda.engine.retrieval.fusion import ranked
from memoranda.engine.retrieval.settings import NeighbourSettings
from memoranda.engine.rows import ScoredKey


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of one session's turn numbers, both included."""

    user_id: str
    session_id: str
    first_seq: int
    last_seq: int


def missing_runs(turns: Iterable[Turn], known: Iterable[Turn], settings: NeighbourSettings) -> list[Run]:
    """Return the runs around ``turns`` that hold a turn not yet ``known``, joined where they touch, in order."""
    distance = len(settings.shares)
    have = {_place(turn) for turn in known}
    wanted = sorted(
        (turn.user_id, turn.session_id, seq)
        for turn in turns
        for seq in range(max(1, turn.turn_seq - distance), turn.turn_seq + distance + 1)
    )
    runs: list[Run] = []
    for user_id, session_id, seq in dict.fromkeys(place for place in wanted if place not in have):
        last = runs[-1] if runs else None
        if last and (last.user_id, last.session_id) == (user_id, session_id) and seq <= last.last_seq + distance:
            runs[-1] = Run(user_id, session_id, last.first_seq, seq)
        else:
            runs.append(Run(user_id, session_id, seq, seq))
    return runs


def smooth(scores: Sequence[ScoredKey], turns: Mapping[int, Turn], settings: NeighbourSettings) -> list[ScoredKey]:
    """Return the turns by their own score and what their neighbours lend; ``turns`` by key, those without score too.

    A lent score is the neighbour's own, never one that it was lent itself. Turns that end without a score are left out.
    """
    own = {item.key: item.score for item in scores}
    by_place = {_place(turn): own.get(key, 0.0) for key, turn in turns.items()}
    total = {key: own.get(key, 0.0) + _lent(turn, by_place, settings) for key, turn in turns.items()}
    return ranked({key: score for key, score in total.items() if key in own or score > 0.0})


def _lent(turn: Turn, by_place: Mapping[tuple[str, str, int], float], settings: NeighbourSettings) -> float:
    lent = 0.0
    for distance, share in enumerate(settings.shares, start=1):
        before = by_place.get((turn.user_id, turn.session_id, turn.turn_seq - distance), 0.0)
        after = by_place.get((turn.user_id, turn.session_id, turn.turn_seq + distance), 0.0)
        lent += share * max(before, after, 0.0)
    return lent


def _place(turn: Turn) -> tuple[str, str, int]:
    return turn.user_id, turn.session_id, turn.turn_seq
