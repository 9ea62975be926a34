"""The recency bonus."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memoranda.engine.retrieval.recency import favour_recent
from memoranda.engine.retrieval.settings import RecencySettings, RetrievalSettings
from memoranda.engine.rows import ScoredKey

_NOW = datetime(2026, 5, 10, tzinfo=UTC)
_SCORES = [ScoredKey(1, 1.0), ScoredKey(2, 0.9), ScoredKey(3, 0.0)]
_TIMES = {1: _NOW - timedelta(days=400), 2: _NOW, 3: _NOW - timedelta(days=30)}


def test_it_is_off_by_default() -> None:
    assert favour_recent(_SCORES, _TIMES, RetrievalSettings().recency) == _SCORES


def test_a_newer_record_passes_an_older_one_of_nearly_the_same_score() -> None:
    ranked = favour_recent(_SCORES, _TIMES, RecencySettings(weight=0.3, half_life_days=30))
    assert [item.key for item in ranked] == [2, 1, 3]
    assert ranked[0].score == 0.9 + 0.3
    assert ranked[2].score == 0.3 * 0.5


def test_no_hits_stay_none() -> None:
    assert favour_recent([], {}, RecencySettings(weight=1.0)) == []
