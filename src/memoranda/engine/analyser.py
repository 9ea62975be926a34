"""Text to index terms: the one analyser that writes and queries share, whatever the database.

A word gives its folded stem and, where they differ, its exact form with ``=`` at its end, so that an exact hit ranks
above a related one; both stand next to each other in an ordered index. Stop words count for a text's length alone.
Scripts written without spaces give single characters and pairs of neighbours.
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

import Stemmer

from memoranda.engine.stop_words import STOP_CHARACTERS, STOP_WORDS

DEFAULT_LANGUAGE: Final = "english"
MAX_TERM_LENGTH: Final = 64
EXACT_MARK: Final = "="

_RULES_VERSION: Final = "2"
_DIGEST_LENGTH: Final = 20
_CACHED_WORDS: Final = 20_000

_ASCII_WORD: Final = re.compile(r"[a-z0-9]+(?:[-._'@&][a-z0-9]+)*(?:\+\+|#(?![a-z0-9]))?")
_PLAIN_WORD: Final = re.compile(r"[^\W_]+(?:[-._'@&][^\W_]+)*(?:\+\+|#(?![^\W_]))?")
_JOINERS: Final = re.compile(r"[-._@&]")
_SUFFIX: Final = re.compile(r"(?:\+\+|#)\Z")
_CLITIC: Final = re.compile(r"(.+)'(?:s|ll|re|ve|d|m)\Z")

# Han, Bopomofo, Kana, Hangul, Thai, Lao, Myanmar, Khmer; their punctuation and currency signs are left out.
_SEGMENTLESS_BASIC: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf\u1000-\u1049\u1050-\u109f\u1100-\u11ff\u1780-\u17d3\u17d7"
    "\u17dc\u17dd\u17e0-\u17e9\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099"
    "\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\ua9e0-\ua9fe\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff"
)
_SEGMENTLESS: Final = _SEGMENTLESS_BASIC + "\U0001b000-\U0001b16f\U00020000-\U0003fffd"
_BLOCKS_WITH_MARKS: Final = (
    range(0x300, 0x3400),
    range(0xA000, 0xAC00),
    range(0xFB00, 0x12000),
    range(0x16A00, 0x17000),
    range(0x1BC00, 0x1F000),
)
# Marks that stay: those of scripts where they are vowels, not decoration.
_LATIN_OR_GREEK: Final = "a-z\u00aa\u00ba\u00df-\u024f\u0250-\u02af\u0370-\u03ff\u1d00-\u1dbf\u1e00-\u1fff\ua720-\ua7ff"
_DIACRITICS: Final = re.compile(f"([{_LATIN_OR_GREEK}])[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff]+")
_STROKES: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
_UNIFIED: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u02bc\u201b", "'"),
        **dict.fromkeys("\u2010\u2011", "-"),
        # Invisible characters inside words: soft hyphen, joiners, byte-order mark, variation selectors.
        **dict.fromkeys("\u00ad\u200c\u200d\u2060\ufeff"),
        **dict.fromkeys(map(chr, range(0xFE00, 0xFE10))),
        **dict.fromkeys(map(chr, range(0xE0100, 0xE01F0))),
    }
)
_TO_UNIFY: Final = frozenset(map(chr, _UNIFIED))


@dataclass(frozen=True, slots=True)
class AnalysedText:
    """What the text index stores of one text: (term, frequency) sorted by term, and its length in words."""

    terms: tuple[tuple[str, int], ...]
    length: int


class _Word(NamedTuple):
    """One word's share: terms to index, terms to ask for, those of them that are stems, and how many words it is."""

    terms: tuple[str, ...]
    query: tuple[str, ...]
    stems: tuple[str, ...]
    length: int


def known_languages() -> tuple[str, ...]:
    """The languages an analyser can be made for, sorted."""
    return tuple(sorted(Stemmer.algorithms()))


class Analyser:
    """Splits text into terms for one language; safe to share between threads.

    ``language`` is a Snowball name, default English. Raises ``ValueError`` naming the known languages otherwise.
    """

    __slots__ = ("_stemmers", "_stop_words", "_words", "language", "version")

    def __init__(self, language: str = DEFAULT_LANGUAGE) -> None:
        known = known_languages()
        if language not in known:
            raise ValueError(f"unknown analyser language {language!r}; use one of: {', '.join(known)}")
        self.language: Final = language
        self.version: Final = (
            f"{_RULES_VERSION} {language} unicode-{unicodedata.unidata_version} pystemmer-{Stemmer.version()}"
        )
        self._stemmers = threading.local()
        self._stop_words = STOP_WORDS.get(language, frozenset())
        self._words: dict[str, _Word] = {}

    def analyse(self, text: str) -> AnalysedText:
        """The terms of a text with their frequencies, and its length; never raises for any string."""
        entries = self._entries(text)
        counts = Counter(chain.from_iterable([entry.terms for entry in entries]))
        return AnalysedText(tuple(sorted(counts.items())), sum([entry.length for entry in entries]))

    def query_terms(self, text: str) -> tuple[str, ...]:
        """The distinct terms to look for, sorted; empty when the text has nothing but stop words."""
        return tuple(sorted(set(chain.from_iterable([entry.query for entry in self._entries(text)]))))

    def content_words(self, text: str) -> frozenset[str]:
        """The stems of a text that are not stop words: its query terms but for the exact forms."""
        return frozenset(chain.from_iterable([entry.stems for entry in self._entries(text)]))

    def _entries(self, text: str) -> list[_Word]:
        known, learn = self._words, self._learn
        if text.isascii():  # The common case of the hot path.
            return [known.get(word) or learn(word) for word in _ASCII_WORD.findall(text.lower())]
        return [
            _segmentless_run(run) if run else known.get(word) or learn(word) for run, word in _split(_normalise(text))
        ]

    def _learn(self, word: str) -> _Word:
        entry = self._analyse_word(word)
        if len(word) <= MAX_TERM_LENGTH:
            if len(self._words) >= _CACHED_WORDS:
                self._words.clear()  # Cheaper than tracking use, and the common words are back within a few texts.
            self._words[word] = entry
        return entry

    def _analyse_word(self, word: str) -> _Word:
        parts = list(_parts(word))
        terms: list[str] = []
        for part, exact in parts:
            if part not in self._stop_words:
                terms += self._forms(part, exact)
        # "to-do" is worth finding whole; an elision of two stop words ("c'est") is not.
        if len(parts) > 1 and (terms or _JOINERS.search(word)):
            terms.append(_exact(word))
        stems = tuple(term for term in terms if not is_exact(term))
        return _Word(tuple(terms), tuple(terms), stems, len(parts))

    def _forms(self, part: str, exact: str) -> tuple[str, ...]:
        """The folded stem of a part, and its exact form where that differs."""
        stem = _bounded(_fold(self._stem(part)))
        return (stem,) if exact == stem else (stem, _exact(exact))

    def _stem(self, word: str) -> str:
        if len(word) > MAX_TERM_LENGTH:
            return word
        # A Stemmer object is not safe to share between threads.
        stemmer = getattr(self._stemmers, "stemmer", None)
        if stemmer is None:
            # Without a cache of its own: words are kept here.
            stemmer = self._stemmers.stemmer = Stemmer.Stemmer(self.language, 0)
        stem: str = stemmer.stemWord(word)
        return stem or word


def _normalise(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    if not _TO_UNIFY.isdisjoint(folded):
        folded = folded.translate(_UNIFIED)
    return unicodedata.normalize("NFKC", folded)  # Case-folding can undo normalisation.


def _fold(term: str) -> str:
    """Drop the diacritics of Latin and Greek letters; other scripts keep their marks."""
    if term.isascii():
        return term
    bare = _DIACRITICS.sub(r"\1", unicodedata.normalize("NFD", term)).translate(_STROKES)
    return unicodedata.normalize("NFC", bare)


def _parts(word: str) -> Iterator[tuple[str, str]]:
    """The parts of a word as (what is stemmed, exact form)."""
    suffix = _SUFFIX.search(word)
    *firsts, last = _JOINERS.split(word[: suffix.start()] if suffix else word)
    for piece in (*firsts, last):
        if "'" in piece:
            yield from _apostrophe_parts(piece)
        elif suffix and piece is last:
            yield piece, word  # "c++" and "c#" keep their signs in the exact form only
        else:
            yield piece, piece


def _apostrophe_parts(piece: str) -> Iterator[tuple[str, str]]:
    if piece.endswith("n't"):
        yield piece.replace("'", ""), piece  # "dont" is a usual spelling, and no other word
        return
    clitic = _CLITIC.match(piece)
    if clitic and "'" not in clitic[1]:
        yield clitic[1], piece
        return
    for part in piece.split("'"):
        yield part, part


def _segmentless_run(run: str) -> _Word:
    """Characters and neighbouring pairs; a query asks for pairs where there are any."""
    if len(run) == 1:
        query = () if run in STOP_CHARACTERS else (run,)
        return _Word((run,), query, query, 1)
    pairs = tuple(map(str.__add__, run, run[1:]))
    return _Word((*run, *pairs), pairs, pairs, len(run))


def is_exact(term: str) -> bool:
    """Whether a term is the exact form of a word, not its stem."""
    return term.endswith(EXACT_MARK)


def _exact(word: str) -> str:
    return _bounded(word, MAX_TERM_LENGTH - len(EXACT_MARK)) + EXACT_MARK


def _bounded(term: str, limit: int = MAX_TERM_LENGTH) -> str:
    if len(term) <= limit:
        return term
    digest = hashlib.sha256(term.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
    return f"{term[: limit - _DIGEST_LENGTH - 1]}~{digest}"


def _split(text: str) -> list[tuple[str, str]]:
    """Pairs of which one is empty: a run of a script without spaces, or a word with its joined parts."""
    patterns = _patterns()
    if max(text, default="") <= "\uffff" and not patterns.special.search(text):
        return [("", word) for word in _PLAIN_WORD.findall(text)]
    return patterns.any_script.findall(text)


class _Patterns(NamedTuple):
    special: re.Pattern[str]
    any_script: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Patterns over the Unicode tables, compiled when the first text needs them.

    Python's ``\\w`` lacks combining marks, which are vowels in Indic scripts; they are collected from the tables.
    """
    segmentless = re.compile(f"[{_SEGMENTLESS}]")
    marks = [
        character
        for block in _BLOCKS_WITH_MARKS
        for character in map(chr, block)
        if unicodedata.category(character)[0] == "M" and not segmentless.match(character)
    ]
    letter = rf"[^\W_{_SEGMENTLESS}]"
    letters = f"{letter}+(?:[{''.join(marks)}]+{letter}*)*"
    # Classes within the first plane compile to a table; wider ones are tried range by range.
    basic_marks = "".join(mark for mark in marks if mark <= "\uffff")
    return _Patterns(
        special=re.compile(f"[{_SEGMENTLESS_BASIC}{basic_marks}]"),
        any_script=re.compile(rf"([{_SEGMENTLESS}]+)|({letters}(?:[-._'@&]{letters})*(?:\+\+|#(?!{letter}))?)"),
    )
