"""Two ranked legs become one ranking: weighted min-max, within a source and across sources.

Min-max looks at values, not only at ranks: rank fusion measured worse than keywords alone. A record that only one leg
found keeps that leg's share, so that no vector score can veto a keyword hit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memoranda.engine.retrieval.settings import FusionSettings
from memoranda.engine.rows import ScoredKey

_DEFAULTS = FusionSettings()


@dataclass(frozen=True, slots=True)
class Legs:
    """One source's legs, each best first; None where a leg did not run. ``ceiling`` is that of the text scores."""

    text: Sequence[ScoredKey] | None
    semantic: Sequence[ScoredKey] | None
    ceiling: float = 1.0


@dataclass(frozen=True, slots=True)
class _Range:
    low: float
    high: float

    def place(self, score: float) -> float:
        """Where a score stands between the lowest (0) and the highest (1) of its pool."""
        return (score - self.low) / (self.high - self.low) if self.high > self.low else 1.0


def fuse(legs: Legs, settings: FusionSettings = _DEFAULTS) -> list[ScoredKey]:
    """Return one source's records best first, ties by key; a leg that ran alone passes its scores through."""
    if legs.text is None or legs.semantic is None:
        return ranked({item.key: item.score for item in legs.text or legs.semantic or ()})
    return ranked(_weighted(legs, _range([legs.text]), _range([legs.semantic]), settings))


def comparable(sources: Sequence[Legs], settings: FusionSettings = _DEFAULTS) -> list[dict[int, float]]:
    """Return for each source its records' scores on one scale for all of these sources.

    Each leg has one range for all sources, so that the best record of a source with nothing relevant stays low. Text
    scores depend on their partition's statistics and are compared by the part of the query that they answer.
    """
    relative = [_relative(legs) for legs in sources]
    text = _range([legs.text for legs in relative if legs.text is not None])
    semantic = _range([legs.semantic for legs in relative if legs.semantic is not None])
    return [_weighted(legs, text, semantic, settings) for legs in relative]


def ranked(scores: Mapping[int, float]) -> list[ScoredKey]:
    """Return scores best first, ties by key."""
    return [ScoredKey(key, score) for key, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))]


def above_threshold(semantic: Sequence[ScoredKey], threshold: float, keep: Sequence[ScoredKey]) -> list[ScoredKey]:
    """Return the vector hits at or above a threshold, and those that the text leg found too."""
    spared = {item.key for item in keep}
    return [item for item in semantic if item.score >= threshold or item.key in spared]


def _relative(legs: Legs) -> Legs:
    if legs.text is None:
        return legs
    ceiling = legs.ceiling or 1.0
    return Legs([ScoredKey(item.key, item.score / ceiling) for item in legs.text], legs.semantic)


def _range(legs: Sequence[Sequence[ScoredKey]]) -> _Range:
    scores = [item.score for leg in legs for item in leg]
    return _Range(min(scores), max(scores)) if scores else _Range(0.0, 0.0)


def _weighted(legs: Legs, text: _Range, semantic: _Range, settings: FusionSettings) -> dict[int, float]:
    # A source that ran one leg by choice or for want of vectors is not punished for the other.
    text_weight = settings.text_weight if legs.semantic is not None else 1.0
    semantic_weight = settings.semantic_weight if legs.text is not None else 1.0
    scores = {item.key: text_weight * text.place(item.score) for item in legs.text or ()}
    for item in legs.semantic or ():
        scores[item.key] = scores.get(item.key, 0.0) + semantic_weight * semantic.place(item.score)
    return scores
