"""Where a conversation turns to another topic, told by the vectors of its turns. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memoranda.engine.records import RecordVectors

Vector: TypeAlias = NDArray[np.float64]

_SETTLED: Final = 3
"""How many turns a topic has before it can be left: the centroid of fewer says little."""
_AWAY: Final = 2
"""How many turns in a row must be away from it: a single one may be a remark."""


@dataclass(frozen=True, slots=True)
class PlacedVector:
    """The vector, of length 1, of the turn with this number."""

    turn_seq: int
    vector: Vector


def unit_vector(vectors: RecordVectors) -> Vector | None:
    """Return the mean of a record's pieces with length 1, or None where they cancel out."""
    pieces = [np.frombuffer(piece.data, dtype=np.int8).astype(np.float64) * piece.scale for piece in vectors.pieces]
    return None if not pieces else _unit(np.mean(pieces, axis=0))


def topic_shifts(turns: Iterable[PlacedVector], threshold: float) -> list[int]:
    """Return the numbers of the turns with which another topic begins, in order.

    That is the first of two turns in a row whose cosine distance to the centroid of the present topic's turns (three
    at least) is above ``threshold``. Turns without a vector say nothing either way.
    """
    shifts: list[int] = []
    topic: list[Vector] = []
    away: list[PlacedVector] = []
    for turn in turns:
        if len(topic) >= _SETTLED and _distance(topic, turn.vector) > threshold:
            away.append(turn)
            if len(away) == _AWAY:
                shifts.append(away[0].turn_seq)
                topic, away = [each.vector for each in away], []
            continue
        topic += [*(each.vector for each in away), turn.vector]
        away = []
    return shifts


def _distance(topic: Sequence[Vector], vector: Vector) -> float:
    centroid = _unit(np.sum(topic, axis=0))
    return 0.0 if centroid is None else 1.0 - float(centroid @ vector)


def _unit(vector: Vector) -> Vector | None:
    length = float(np.linalg.norm(vector))
    return vector / length if length else None
