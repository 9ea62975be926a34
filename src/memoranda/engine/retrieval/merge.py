"""Several sources become one ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memoranda.engine.retrieval.fusion import comparable, ranked
from memoranda.engine.retrieval.settings import FusionSettings
from memoranda.engine.retrieval.source import SourceFindings
from memoranda.engine.rows import ScoredKey


@dataclass(frozen=True, slots=True)
class Placed:
    """One record in the merged ranking: its source's position among the sources, its key and its merged score."""

    source: int
    key: int
    score: float


def merge(findings: Sequence[SourceFindings], settings: FusionSettings) -> list[Placed]:
    """Return the records of all sources best first; ties by the sources' order, then by their own.

    A single source keeps its own scores.
    """
    if len(findings) == 1:
        return [Placed(0, item.key, item.score) for item in findings[0].order]
    scales = comparable([found.legs for found in findings], settings)
    placed = [
        Placed(position, item.key, item.score)
        for position, (found, scores) in enumerate(zip(findings, scales, strict=True))
        for item in level(found.order, scores)
    ]
    return sorted(placed, key=lambda item: -item.score)


def level(order: Sequence[ScoredKey], scores: dict[int, float]) -> list[ScoredKey]:
    """Give a source's records, in their order, the source's comparable ``scores`` from the highest down.

    So a source keeps its own order, what neighbours lent included, and competes with the others by how well it answers.
    """
    falling = [item.score for item in ranked(scores)]
    falling += [0.0] * (len(order) - len(falling))
    return [ScoredKey(item.key, score) for item, score in zip(order, falling, strict=False)]
