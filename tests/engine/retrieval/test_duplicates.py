"""Near-duplicates: what may be dropped, and everything that only looks alike."""

from __future__ import annotations

import pytest

from memoranda.engine.analyser import Analyser
from memoranda.engine.retrieval.duplicates import Statement, find_duplicates

_ANALYSER = Analyser()


def _dropped(*texts: str) -> dict[int, int]:
    return find_duplicates([Statement(text) for text in texts], _ANALYSER)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Works at DGIA", "works at  DGIA."),
        (
            "Maria moved to Oslo in May to join the design team",
            "Maria has moved to Oslo in May to join the design team!",
        ),
        (
            "Yes: the deployment of the billing service needs two approvals before Friday",
            "the deployment of the billing service needs two approvals before Friday",
        ),
        ("我喜欢喝榛子拿铁和年糕汤", "我喜欢喝榛子拿铁和年糕汤。"),
        ("Ａｎｎａ likes tea", "anna likes tea"),
    ],
)
def test_the_lower_ranked_of_two_that_say_the_same_is_dropped(first: str, second: str) -> None:
    assert _dropped(first, second) == {1: 0}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("likes tea", "likes green tea"),
        ("likes green tea", "likes tea"),
        ("Anna works at Acme in the Berlin office on Mondays", "Anna works at Acme in the Bergen office on Mondays"),
        (
            "The invoice of 1200 euro was paid on the third of May",
            "The invoice of 1300 euro was paid on the third of May",
        ),
        (
            "Carla likes to drink tea in the garden before work",
            "Carla does not like to drink tea in the garden before work",
        ),
        ("Carla never drinks coffee late in the evening at home", "Carla drinks coffee late in the evening at home"),
        ("Bob hired Alice as the lead engineer of Atlas", "Alice hired Bob as the lead engineer of Atlas"),
        ("writes C", "writes C++"),
        ("our trip was great 👍", "our trip was great 👎"),
        ("temperature limit -5", "temperature limit 5"),
        ("我喜欢喝榛子拿铁和年糕汤", "我不喜欢喝榛子拿铁和年糕汤"),
        ("Ich trinke abends gern Kaffee mit viel Milch", "Ich trinke abends nicht gern Kaffee mit viel Milch"),
    ],
)
def test_what_differs_in_a_number_a_name_a_negation_or_the_order_stays(first: str, second: str) -> None:
    assert _dropped(first, second) == {}
    assert _dropped(second, first) == {}


def test_a_lower_one_that_says_more_stays() -> None:
    short = "Maria moved to Oslo to join the design team"
    assert _dropped(short, f"{short} led by Henrik") == {}
    assert _dropped(f"{short} led by Henrik", short) == {1: 0}


def test_a_part_of_a_much_longer_text_stays() -> None:
    part = "The garden needs water twice weekly in summer"
    assert (
        _dropped(f"{part}. Besides, the roof leaks, two windows are broken and the boiler wants service.", part) == {}
    )


def test_the_best_of_several_equals_stays_and_is_named() -> None:
    assert _dropped("a b", "likes tea", "Likes tea!", "likes tea") == {2: 1, 3: 1}


def test_different_groups_are_never_the_same() -> None:
    statements = [Statement("Lives in Oslo", "c"), Statement("Lives in Oslo", "s")]
    assert find_duplicates(statements, _ANALYSER) == {}
