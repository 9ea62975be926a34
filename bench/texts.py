"""Made-up text that an index finds as hard as real text: word frequencies by Zipf's law, inflected, seeded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

_COMMON = (
    "the be to of and a in that have i it for not on with he as you do at this but his by from they we say her she or "
    "an will my one all would there their what so up out if about who get which go me when make can like time no just "
    "him know take people into year your good some could them see other than then now look only come its over think "
    "also back after use two how our work first well way even new want because any these give day most us"
).split()
_ONSETS = "b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sh sl sp st t th tr v w z".split()
_VOWELS = "a ai e ea i o oa oo u".split()
_CODAS = "b ck d ft g l ll m n nd ng nt p r rd rk s sk st t x".split()
_ENDINGS = ("", "s", "ing", "ed", "er", "ly")
_STEMS = 1_200
_RARER = 8.0
"""How much further down the list inflected forms are. With it a text has as many index terms as English has."""


class Texts:
    """A seeded source of sentences, the same for the same seed.

    Made to be like conversations: 25 words have 19 index terms, and 5,000 texts a vocabulary of 7,500. About half of
    the words are common English ones; the others are drawn from 7,200 forms.
    """

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._words = np.array(_COMMON + _vocabulary(), dtype=object)
        weights = 1.0 / (np.arange(len(self._words)) + 1.0)
        self._cumulative = np.cumsum(weights / weights.sum())

    def sentences(self, count: int, words: int) -> list[str]:
        """Return ``count`` texts of ``words`` words each, give or take a third."""
        lengths = self._random.integers(words - words // 3, words + words // 3 + 1, count)
        drawn = self._words[np.searchsorted(self._cumulative, self._random.random(int(lengths.sum())))]
        ends = np.cumsum(lengths)
        return [_sentence(drawn[end - length : end].tolist()) for end, length in zip(ends, lengths, strict=True)]

    def questions(self, count: int) -> list[str]:
        """Return questions of eight words or so."""
        return [text[:-1] + "?" for text in self.sentences(count, 8)]


def unit_vectors(count: int, dimension: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return random directions, one a row."""
    drawn = np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def _sentence(words: Sequence[str]) -> str:
    return (" ".join(words) + ".").capitalize()


@cache
def _vocabulary() -> list[str]:
    random = np.random.default_rng(20_000)  # the same words for every seed, so that a question finds something
    stems: dict[str, None] = {}
    while len(stems) < _STEMS:
        syllables = int(random.integers(1, 3))
        parts = (str(random.choice(part)) for _ in range(syllables) for part in (_ONSETS, _VOWELS, _CODAS))
        stems["".join(parts)] = None
    forms = [(stem + ending, bool(ending)) for stem in stems for ending in _ENDINGS]
    ranks = random.random(len(forms)) * np.array([_RARER if inflected else 1.0 for _, inflected in forms])
    return [forms[position][0] for position in np.argsort(ranks)]
