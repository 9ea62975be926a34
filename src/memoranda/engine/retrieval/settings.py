"""What ranking can be tuned with; the defaults were chosen by measurement (bench/recall.py)."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TextSettings:
    """BM25 in Lucene's form. ``exact_weight`` is what an exact word form counts beside its stem (1.0)."""

    k1: float = 0.9
    b: float = 0.4
    exact_weight: float = 0.3


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """Weighted min-max: each leg's best ``pool`` scores are stretched to 0..1, weighted and added.

    A request for more than ``pool`` results widens the pool to what it asks for.
    """

    text_weight: float = 0.7
    semantic_weight: float = 0.3
    pool: int = 50


@dataclass(frozen=True, slots=True)
class NeighbourSettings:
    """How turns support each other: at each distance the better of the two neighbours lends this share of its score.

    The best ``reach`` turns also bring in neighbours that no leg found. Empty ``shares`` switch it off.
    """

    shares: tuple[float, ...] = (0.5, 0.25)
    reach: int = 10


@dataclass(frozen=True, slots=True)
class RecencySettings:
    """A bonus that halves every ``half_life_days`` behind the newest hit; off by default (it measured no better)."""

    weight: float = 0.0
    half_life_days: float = 30.0


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """Everything that ranking can be tuned with."""

    text: TextSettings = field(default_factory=TextSettings)
    fusion: FusionSettings = field(default_factory=FusionSettings)
    neighbours: NeighbourSettings = field(default_factory=NeighbourSettings)
    recency: RecencySettings = field(default_factory=RecencySettings)
