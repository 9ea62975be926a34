"""Near-duplicates across sources: a hit goes only when one ranked above it says everything that it says.

Two short texts are the same only when their words are. Longer ones when the lower one's words, all of them and in
their order, are most of the higher one's: so nothing is lost by dropping it, whatever number, name or negation differs.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from memoranda.engine.analyser import EXACT_MARK, Analyser

_EDGES: Final = ".,;:!?\"'()[]{}<>…·、。，！？；：「」『』（）《》“”‘’*_`"
_WORD: Final = re.compile(r"\w+")
_NEGATIONS: Final = frozenset(
    "no not never nor none without cannot nicht nie kein keine keinen keiner ohne ne pas jamais sans aucun aucune "
    "nunca sin ningún ninguna tampoco non mai senza não sem".split()
)
_UNSEGMENTED_NEGATIONS: Final = tuple("不 没 無 无 未 非 ない ません 안 못 않".split())


@dataclass(frozen=True, slots=True)
class DuplicateSettings:
    """``coverage``: what part of the higher hit's words the lower one must hold; ``minimum`` words make a text long."""

    coverage: float = 0.75
    minimum: int = 5


@dataclass(frozen=True, slots=True)
class Statement:
    """A text as compared; ``group`` separates what is never the same (such as current and superseded)."""

    text: str
    group: str = ""


def find_duplicates(
    statements: Sequence[Statement], analyser: Analyser, settings: DuplicateSettings | None = None
) -> dict[int, int]:
    """Return the positions to drop, each with the position (ranked above it) that says the same.

    ``statements`` come best first; the best of equals stays.
    """
    return _Comparison(analyser, settings or DuplicateSettings()).run(statements)


@dataclass(slots=True)
class _Comparison:
    analyser: Analyser
    settings: DuplicateSettings
    kept_words: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    by_word: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def run(self, statements: Sequence[Statement]) -> dict[int, int]:
        words = [content_words(self.analyser, statement.text) for statement in statements]
        rarity = Counter(word for own in words for word in own)
        equals: dict[tuple[str, tuple[str, ...]], int] = {}
        dropped: dict[int, int] = {}
        for position, statement in enumerate(statements):
            same = equals.setdefault((statement.group, plain_words(statement.text)), position)
            if same == position:
                found = self._covering(statements, position, words[position], rarity)
                same = position if found is None else found
            if same == position:
                self._keep(position, statement.group, words[position])
            else:
                dropped[position] = same
        return dropped

    def _keep(self, position: int, group: str, words: frozenset[str]) -> None:
        if len(words) < self.settings.minimum:
            return  # Too short to stand for anything but an equal text.
        for word in words:
            self.by_word.setdefault((group, word), []).append(len(self.kept_words))
        self.kept_words.append((position, words))

    def _covering(
        self, statements: Sequence[Statement], position: int, words: frozenset[str], rarity: Counter[str]
    ) -> int | None:
        if len(words) < self.settings.minimum:
            return None
        statement = statements[position]
        rarest = min(words, key=lambda word: (rarity[word], word))
        for candidate in self.by_word.get((statement.group, rarest), ()):
            above, larger = self.kept_words[candidate]
            covered = words <= larger and len(words) >= self.settings.coverage * len(larger)
            if covered and self._reads_alike(statement.text, statements[above].text):
                return above
        return None

    def _reads_alike(self, lower: str, higher: str) -> bool:
        if _negations(lower) != _negations(higher):
            return False
        return is_subsequence(self._in_order(lower), self._in_order(higher))

    def _in_order(self, text: str) -> list[str]:
        return [term for word in _WORD.findall(text) for term in self.analyser.query_terms(word) if _is_stem(term)]


def content_words(analyser: Analyser, text: str) -> frozenset[str]:
    """Return the stems of a text that are not stop words."""
    return frozenset(filter(_is_stem, analyser.query_terms(text)))


def plain_words(text: str) -> tuple[str, ...]:
    """Return a text's words without case, spacing and sentence punctuation; signs inside words count ("C", "C++")."""
    words = (word.strip(_EDGES) for word in unicodedata.normalize("NFKC", text).casefold().split())
    return tuple(word for word in words if word)


def is_subsequence(lower: Iterable[str], higher: Iterable[str]) -> bool:
    """Return whether all of ``lower`` appears in ``higher`` in the same order."""
    rest = iter(higher)
    return all(word in rest for word in lower)


def _is_stem(term: str) -> bool:
    return not term.startswith(EXACT_MARK)


def _negations(text: str) -> int:
    """How many words turn a statement round; stop words are ignored elsewhere, and these are stop words."""
    folded = text.casefold().replace("’", "'")
    words: list[str] = re.findall(r"[\w']+", folded)
    whole = sum(word in _NEGATIONS or word.endswith("n't") for word in words)
    return whole + sum(folded.count(sign) for sign in _UNSEGMENTED_NEGATIONS)
