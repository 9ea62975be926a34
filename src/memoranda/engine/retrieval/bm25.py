"""BM25 over the postings of the partitions that were read: pure, and the same sums for every database and size."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from memoranda.engine.analyser import is_exact
from memoranda.engine.retrieval.settings import TextSettings
from memoranda.engine.rows import ScoredKey, TextMatches

_Keys: TypeAlias = npt.NDArray[np.int64]
_Floats: TypeAlias = npt.NDArray[np.float64]

_DEFAULTS = TextSettings()


@dataclass(frozen=True, slots=True, eq=False)
class TextScores:
    """Candidates that share a term with the query, in key order.

    ``ceiling`` is what a record with every term of the query, endlessly often, would score: score / ceiling is the
    part of the query that a record answers, which is comparable between sources.
    """

    keys: _Keys
    scores: _Floats
    ceiling: float

    def best(self, limit: int) -> list[ScoredKey]:
        """Return the ``limit`` best, ties by key."""
        if limit <= 0:
            return []
        keys, scores = self.keys, self.scores
        if len(scores) > limit:
            # Everything at or above the last place's score, so that ties are settled by key and not by the partition.
            last = len(scores) - limit
            chosen = scores >= np.partition(scores, last)[last]
            keys, scores = keys[chosen], scores[chosen]
        order = np.lexsort((keys, -scores))[:limit]
        return [ScoredKey(key, score) for key, score in zip(keys[order].tolist(), scores[order].tolist(), strict=True)]


def score_text(matches: TextMatches, terms: Sequence[str], settings: TextSettings = _DEFAULTS) -> TextScores:
    """Score the candidates among ``matches`` for the query's ``terms``.

    Document frequency counts every row of a term, candidate or not: narrower conditions never change statistics.
    """
    found = {term: (count, _weight(term, count, matches.records, settings)) for term, count in _runs(matches.terms)}
    missing = (_weight(term, 0, matches.records, settings) for term in sorted(set(terms).difference(found)))
    ceiling = math.fsum(weight for _, weight in found.values()) + math.fsum(missing)
    if not found:
        return TextScores(np.empty(0, np.int64), np.empty(0, np.float64), ceiling)
    counts, weights = zip(*found.values(), strict=True)
    contributions = np.repeat(np.array(weights), counts) * _saturation(matches, settings)
    chosen = np.asarray(matches.candidates, dtype=np.bool_)
    keys, positions = np.unique(np.asarray(matches.keys, dtype=np.int64)[chosen], return_inverse=True)
    # bincount adds in row order, which is (term, key): the order of the sums never depends on the store.
    sums: _Floats = np.bincount(positions, contributions[chosen], len(keys)).astype(np.float64)
    return TextScores(keys, sums, ceiling)


def _runs(terms: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Each distinct term of a sorted column and how many rows it has."""
    start, size = 0, len(terms)
    while start < size:
        term = terms[start]
        end = bisect_right(terms, term, start)
        yield term, end - start
        start = end


def _weight(term: str, count: int, records: int, settings: TextSettings) -> float:
    rarity = math.log(1 + (max(records - count, 0) + 0.5) / (count + 0.5))
    return rarity * settings.exact_weight if is_exact(term) else rarity


def _saturation(matches: TextMatches, settings: TextSettings) -> _Floats:
    average = matches.total_length / matches.records if matches.records and matches.total_length else 1.0
    frequencies = np.asarray(matches.frequencies, dtype=np.float64)
    lengths = np.asarray(matches.lengths, dtype=np.float64)
    return frequencies / (frequencies + settings.k1 * (1 - settings.b + settings.b * lengths / average))
