"""How vectors of int8 with a scale are compared with a query: alike on every database, to the last place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import simsimd
from numpy.typing import NDArray

from memoranda.engine.ports import ScoredKey

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]

_BASE = 128
"""What one byte of a query's component counts for in the next (``QuantisedQuery``)."""


def ranked(keys: Ints, scores: Doubles, limit: int) -> list[ScoredKey]:
    """Return the best, ties by key."""
    if len(scores) > limit:
        # Everything at or above the last place's score, so that ties are settled by key.
        chosen = scores >= np.partition(scores, -limit)[-limit]
        keys, scores = keys[chosen], scores[chosen]
    order = np.lexsort((keys, -scores))[:limit]
    return [ScoredKey(key, score) for key, score in zip(keys[order].tolist(), scores[order].tolist(), strict=True)]


def by_record(keys: Ints, scores: Doubles) -> tuple[Ints, Doubles]:
    """Return each record once, with the score of its best piece."""
    # Rows come in the order of the table's key, in which the pieces of a record stand together.
    starts = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))
    return keys[starts], np.maximum.reduceat(scores, starts)


@dataclass(frozen=True, slots=True)
class QuantisedQuery:
    """A query of length 1 as three signed bytes a component, each counting for ``_BASE`` times the next.

    Integer SIMD adds up each part exactly, so that all that is lost is the rounding of the query to 22 bits. A matrix
    product in floats would wake the threads of BLAS: far slower here.
    """

    digits: NDArray[np.int8]
    unit: float

    @classmethod
    def of(cls, wanted: Floats) -> QuantisedQuery:
        unit = float(np.abs(wanted).max()) / (127 * _BASE**2)
        rest = np.rint(wanted.astype(np.float64) / unit)
        upper = np.rint(rest / _BASE**2)
        rest -= upper * _BASE**2
        middle = np.rint(rest / _BASE)
        return cls(np.stack([upper, middle, rest - middle * _BASE]).astype(np.int8), unit)

    def scores(self, data: NDArray[np.int8], scales: Floats) -> Doubles:
        """Return the cosine of every row with the query."""
        dots = np.asarray(simsimd.cdist(self.digits, data, "dot"), dtype=np.float64)
        found: Doubles = ((dots[0] * _BASE + dots[1]) * _BASE + dots[2]) * (scales * self.unit)
        return found

    def rough_scores(self, data: NDArray[np.int8], scales: Floats) -> Doubles:
        """Return the cosines by the first digit of the query alone; each is wrong by ``roughness`` at the most."""
        dots = np.asarray(simsimd.cdist(self.digits[:1], data, "dot"), dtype=np.float64)
        found: Doubles = dots[0] * (scales * (self.unit * _BASE**2))
        return found

    def roughness(self, largest_scale: float) -> float:
        """Return the most that the other digits add up to, for rows whose scale is not above this one.

        The product of a row with them is at most that of their lengths. A row had the length 1 before each component
        was rounded, by half its scale.
        """
        row = 1.0 + 0.5 * largest_scale * math.sqrt(self.digits.shape[1])
        others = self.digits[1].astype(np.float64) * _BASE + self.digits[2]
        # Beyond the rounding of floats, which is smaller by orders.
        return float(np.linalg.norm(others)) * self.unit * row * (1 + 1e-6)
