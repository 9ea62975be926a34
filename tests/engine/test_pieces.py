"""Splitting: nothing is lost, every piece fits, and cuts fall where a reader would put them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.engine.pieces import split_text
from memoranda.providers.tokens import estimate_tokens


def words(text: str) -> int:
    return len(text.split())


def test_a_short_text_is_one_piece() -> None:
    assert split_text("Anna likes tea.", 10, words) == ["Anna likes tea."]


def test_the_empty_text_has_no_pieces() -> None:
    assert split_text("", 10, words) == []


def test_paragraphs_are_kept_together_first() -> None:
    text = "One two. Three four.\n\nFive six. Seven eight."

    assert split_text(text, 6, words) == ["One two. Three four.\n\n", "Five six. Seven eight."]


def test_then_sentences() -> None:
    assert split_text("One two three. Four five six. Seven.", 6, words) == ["One two three. Four five six. ", "Seven."]
    assert split_text("私は猫が好きです。犬も好きです。", 10, len) == ["私は猫が好きです。", "犬も好きです。"]


def test_then_words() -> None:
    assert split_text("alpha beta gamma delta", 12, len) == ["alpha beta ", "gamma delta"]


def test_a_giant_word_is_cut_by_characters() -> None:
    assert split_text("x" * 25, 10, len) == ["x" * 10, "x" * 10, "x" * 5]


@pytest.mark.parametrize(
    "sign",
    ["e\u0301", "👩\u200d👩\u200d👧", "👍\U0001f3fd", "🇵🇹", "\ud83d\ude00", "\r\n", "ก็", "❤\ufe0f"],
    ids=["accent", "family", "skin tone", "flag", "surrogates", "line end", "thai", "variation"],
)
def test_a_sign_of_several_characters_stays_whole(sign: str) -> None:
    for limit in range(len(sign), 3 * len(sign)):
        pieces = split_text(sign * 6, limit, len)
        assert "".join(pieces) == sign * 6
        assert all(len(piece) % len(sign) == 0 for piece in pieces)


def test_a_sign_beyond_the_limit_is_cut_and_a_character_beyond_it_stays() -> None:
    assert split_text("👩\u200d👧", 1, len) == ["👩", "\u200d", "👧"]
    assert split_text("abc", 1, lambda text: 5 * len(text)) == ["a", "b", "c"]


def test_counting_a_long_text_looks_at_each_part_a_few_times_only() -> None:
    seen = 0

    def count(text: str) -> int:
        nonlocal seen
        seen += len(text)
        return len(text)

    text = "word " * 20_000
    assert "".join(split_text(text, 100, count)) == text
    assert seen < 20 * len(text)


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="max_tokens is 0"):
        split_text("text", 0, len)


TEXT = st.lists(
    st.sampled_from(
        ["word ", "Long sentence here. ", "\n\n", "東京で。", "x" * 40, "👩\u200d👧", "\ud800", "a\u0301", "  "]
    )
).map("".join)


@given(TEXT, st.integers(min_value=4, max_value=60))
def test_nothing_is_lost_and_every_piece_fits(text: str, limit: int) -> None:
    pieces = split_text(text, limit, estimate_tokens)

    assert "".join(pieces) == text
    assert all(pieces)
    assert all(estimate_tokens(piece) <= limit for piece in pieces)


@given(st.text(max_size=120), st.integers(min_value=1, max_value=20))
def test_any_text_survives_being_split_by_length(text: str, limit: int) -> None:
    pieces = split_text(text, limit, len)

    assert "".join(pieces) == text
    assert all(len(piece) <= limit for piece in pieces)
