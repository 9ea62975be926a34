"""Fusion of two legs, and the scale on which several sources are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.engine.retrieval.fusion import Legs, above_threshold, comparable, fuse
from memoranda.engine.retrieval.merge import level
from memoranda.engine.retrieval.settings import FusionSettings
from memoranda.engine.rows import ScoredKey

_LEG = st.lists(
    st.tuples(st.integers(1, 30), st.floats(-1, 30, allow_nan=False)), unique_by=lambda pair: pair[0], max_size=12
)


def _leg(*pairs: tuple[int, float]) -> list[ScoredKey]:
    return [ScoredKey(key, score) for key, score in pairs]


def test_a_leg_that_ran_alone_passes_its_scores_through() -> None:
    leg = _leg((3, 7.5), (1, 2.0))
    assert fuse(Legs(leg, None)) == leg
    assert fuse(Legs(None, leg)) == leg


def test_values_are_stretched_weighted_and_added() -> None:
    legs = Legs(_leg((1, 10.0), (2, 6.0), (3, 2.0)), _leg((3, 0.9), (2, 0.5), (4, 0.1)))
    scores = {item.key: item.score for item in fuse(legs, FusionSettings(text_weight=0.7, semantic_weight=0.3))}
    assert scores == pytest.approx({1: 0.7, 2: 0.7 * 0.5 + 0.3 * 0.5, 3: 0.3, 4: 0.0})


def test_a_keyword_hit_is_kept_however_far_its_vector_is() -> None:
    legs = Legs(_leg((1, 5.0)), _leg(*((key, 1.0 - key / 100) for key in range(2, 52))))
    assert fuse(legs)[0].key == 1


def test_a_single_hit_in_a_leg_has_that_legs_full_weight() -> None:
    assert fuse(Legs(_leg((1, 0.2)), []))[0].score == pytest.approx(FusionSettings().text_weight)


@given(_LEG, _LEG)
def test_every_hit_of_either_leg_comes_out_once_best_first_ties_by_key(
    text: list[tuple[int, float]], semantic: list[tuple[int, float]]
) -> None:
    fused = fuse(Legs(_leg(*text), _leg(*semantic)))
    assert {item.key for item in fused} == {key for key, _ in (*text, *semantic)}
    assert fused == sorted(fused, key=lambda item: (-item.score, item.key))


def test_a_threshold_spares_what_the_text_leg_found() -> None:
    semantic = _leg((1, 0.9), (2, 0.3), (3, 0.2))
    assert above_threshold(semantic, 0.5, keep=_leg((3, 1.0))) == _leg((1, 0.9), (3, 0.2))


def test_the_best_of_a_weak_source_stays_below_the_best_of_a_strong_one() -> None:
    strong = Legs(_leg((1, 8.0), (2, 1.0)), _leg((1, 0.8), (2, 0.2)), ceiling=10.0)
    weak = Legs(_leg((3, 1.2), (4, 1.0)), _leg((3, 0.25), (4, 0.2)), ceiling=10.0)
    first, second = comparable([strong, weak])
    assert first[1] == pytest.approx(1.0)
    assert second[3] < 0.2


def test_text_scores_are_compared_by_the_part_of_the_query_they_answer() -> None:
    large = Legs(_leg((1, 9.0), (5, 1.0)), None, ceiling=18.0)
    small = Legs(_leg((2, 2.0)), None, ceiling=2.5)
    first, second = comparable([large, small])
    assert second[2] > first[1]


def test_a_source_that_ran_one_leg_competes_with_its_whole_weight() -> None:
    both = Legs(_leg((1, 5.0)), _leg((1, 0.5)))
    text_alone = Legs(_leg((2, 5.0)), None)
    first, second = comparable([both, text_alone])
    assert first[1] == pytest.approx(second[2])


@given(_LEG, _LEG)
def test_comparing_one_source_with_itself_keeps_its_order(
    text: list[tuple[int, float]], semantic: list[tuple[int, float]]
) -> None:
    legs = Legs(sorted(_leg(*text), key=lambda item: -item.score), _leg(*semantic))
    (scores,) = comparable([legs])
    for item in fuse(legs):
        assert scores[item.key] == pytest.approx(item.score)


def test_levelling_keeps_a_sources_own_order_and_its_best_scores() -> None:
    order = _leg((7, 1.9), (5, 1.2), (9, 0.4))
    assert level(order, {5: 0.8, 7: 0.6}) == _leg((7, 0.8), (5, 0.6), (9, 0.0))
