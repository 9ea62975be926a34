"""BM25: the formula, the statistics it counts, and an order that depends on nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.engine.retrieval.bm25 import score_text
from memoranda.engine.retrieval.settings import TextSettings
from memoranda.engine.rows import ScoredKey, TextMatches

_Row = tuple[str, int, int, int, int]


def _matches(rows: Sequence[_Row], *, records: int = 10, total_length: int = 100) -> TextMatches:
    terms, keys, frequencies, lengths, candidates = zip(*sorted(rows), strict=True) if rows else ((),) * 5
    return TextMatches(terms, keys, frequencies, lengths, candidates, records, total_length)


def _reference(matches: TextMatches, settings: TextSettings) -> dict[int, float]:
    """The same ranking in plain Python, one row after the other."""
    average = matches.total_length / matches.records
    scores: dict[int, float] = {}
    for term, key, frequency, length, candidate in zip(
        matches.terms, matches.keys, matches.frequencies, matches.lengths, matches.candidates, strict=True
    ):
        if candidate:
            count = list(matches.terms).count(term)
            weight = math.log(1 + (matches.records - count + 0.5) / (count + 0.5))
            weight = weight * settings.exact_weight if term.endswith("=") else weight
            saturation = frequency / (frequency + settings.k1 * (1 - settings.b + settings.b * length / average))
            scores[key] = scores.get(key, 0.0) + weight * saturation
    return scores


def test_a_score_is_rarity_times_saturation_summed_over_terms() -> None:
    matches = _matches([("oslo", 1, 2, 10, 1), ("tea", 1, 1, 10, 1), ("tea", 2, 1, 5, 1)])
    found = score_text(matches, ["oslo", "tea"], TextSettings(k1=1.2, b=0.75))
    oslo = math.log(1 + 9.5 / 1.5) * 2 / (2 + 1.2)
    tea = math.log(1 + 8.5 / 2.5) * 1 / (1 + 1.2)
    assert dict(zip(found.keys.tolist(), found.scores.tolist(), strict=True))[1] == pytest.approx(oslo + tea)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c", "b=", "咖啡"]),
            st.integers(1, 12),
            st.integers(1, 9),
            st.integers(1, 60),
            st.integers(0, 1),
        ),
        unique_by=lambda row: (row[0], row[1]),
        max_size=40,
    )
)
def test_scores_equal_the_plain_sum_in_row_order_to_the_last_bit(rows: list[_Row]) -> None:
    matches = _matches(rows, records=20, total_length=333)
    found = score_text(matches, ["a", "b", "c"])
    assert dict(zip(found.keys.tolist(), found.scores.tolist(), strict=True)) == _reference(matches, TextSettings())


def test_rows_outside_the_narrower_conditions_count_for_statistics_alone() -> None:
    everything = _matches([("tea", key, 1, 10, 1) for key in range(1, 6)])
    narrowed = _matches([("tea", key, 1, 10, int(key == 3)) for key in range(1, 6)])
    (only,) = score_text(narrowed, ["tea"]).best(10)
    assert only.key == 3
    assert only in score_text(everything, ["tea"]).best(10)


def test_ties_go_to_the_lower_key_also_at_the_cut() -> None:
    matches = _matches([("tea", key, 1, 10, 1) for key in (9, 4, 7, 1)])
    assert [item.key for item in score_text(matches, ["tea"]).best(2)] == [1, 4]


def test_best_of_nothing_is_nothing() -> None:
    matches = _matches([("tea", 1, 1, 10, 1)])
    assert score_text(matches, ["tea"]).best(0) == []
    assert score_text(_matches([]), ["tea"]).best(5) == []
    assert score_text(_matches([], records=0, total_length=0), []).best(5) == []


def test_an_exact_form_ranks_above_a_related_one_and_counts_less_than_a_stem() -> None:
    matches = _matches([("run", 1, 1, 10, 1), ("run", 2, 1, 10, 1), ("running=", 2, 1, 10, 1)])
    first, second = score_text(matches, ["run", "running="]).best(2)
    assert (first.key, second.key) == (2, 1)
    assert first.score < 2 * second.score


def test_arrays_and_tuples_score_alike() -> None:
    rows = _matches([("tea", 1, 2, 10, 1), ("tea", 2, 1, 9, 0), ("milk", 2, 1, 9, 1)])
    columns = (np.array(column) for column in (rows.keys, rows.frequencies, rows.lengths, rows.candidates))
    keys, frequencies, lengths, candidates = columns
    arrays = TextMatches(rows.terms, keys, frequencies, lengths, candidates, 10, 100)  # type: ignore[arg-type]
    assert score_text(arrays, ["tea"]).best(5) == score_text(rows, ["tea"]).best(5)


def test_the_ceiling_counts_terms_that_no_record_has() -> None:
    matches = _matches([("tea", 1, 1000, 10, 1)])
    whole, half = score_text(matches, ["tea"]), score_text(matches, ["tea", "zebra"])
    assert whole.best(1)[0].score / whole.ceiling == pytest.approx(1.0, abs=0.01)
    assert half.best(1)[0].score / half.ceiling < 0.5
    assert half.best(1) == [ScoredKey(1, whole.best(1)[0].score)]
