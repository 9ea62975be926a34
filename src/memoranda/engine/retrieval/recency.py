"""A bonus for newer records; switched off unless a weight is set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from memoranda.engine.retrieval.fusion import ranked
from memoranda.engine.retrieval.settings import RecencySettings
from memoranda.engine.rows import ScoredKey

_SECONDS_A_DAY = 86_400.0


def favour_recent(
    scores: Sequence[ScoredKey], times: Mapping[int, datetime], settings: RecencySettings
) -> list[ScoredKey]:
    """Return the records with the bonus added; age counts from the newest of them, so that the order never drifts."""
    if not settings.weight or not scores:
        return list(scores)
    newest = max(times[item.key] for item in scores)
    span = scores[0].score - scores[-1].score or 1.0

    def bonus(key: int) -> float:
        days = (newest - times[key]).total_seconds() / _SECONDS_A_DAY
        freshness: float = 0.5 ** (days / settings.half_life_days)
        return settings.weight * span * freshness

    return ranked({item.key: item.score + bonus(item.key) for item in scores})
