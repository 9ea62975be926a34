"""Near-duplicates across sources: a hit goes only when one ranked above it says everything that it says.

Two short texts are the same only when their words are. Longer ones when the lower one's words, all of them and in
their order, are most of the higher one's: so nothing is lost by dropping it, whatever number, name or negation differs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from memoranda.engine.analyser import Analyser, is_exact

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
    # What was kept of each group, by its number of words: (position, words).
    kept: dict[tuple[str, int], list[tuple[int, frozenset[str]]]] = field(default_factory=dict)

    def run(self, statements: Sequence[Statement]) -> dict[int, int]:
        equals: dict[tuple[str, tuple[str, ...]], int] = {}
        dropped: dict[int, int] = {}
        for position, statement in enumerate(statements):
            same = equals.setdefault((statement.group, plain_words(statement.text)), position)
            if same == position:
                same = self._covering(statements, position)
            if same != position:
                dropped[position] = same
        return dropped

    def _covering(self, statements: Sequence[Statement], position: int) -> int:
        """The position above that says all of this; else its own, and it is kept for those below."""
        statement = statements[position]
        words = self.analyser.content_words(statement.text)
        if len(words) < self.settings.minimum:
            return position  # Too short to be judged by anything but equality.
        for size in range(len(words), int(len(words) / self.settings.coverage) + 1):
            for above, larger in self.kept.get((statement.group, size), ()):
                if words <= larger and self._reads_alike(statement.text, statements[above].text):
                    return above
        self.kept.setdefault((statement.group, len(words)), []).append((position, words))
        return position

    def _reads_alike(self, lower: str, higher: str) -> bool:
        if _negations(lower) != _negations(higher):
            return False
        return is_subsequence(self._in_order(lower), self._in_order(higher))

    def _in_order(self, text: str) -> list[str]:
        return [term for word in _WORD.findall(text) for term in self.analyser.query_terms(word) if not is_exact(term)]


def plain_words(text: str) -> tuple[str, ...]:
    """Return a text's words without case, spacing and sentence punctuation; signs inside words count ("C", "C++")."""
    words = [word.strip(_EDGES) for word in unicodedata.normalize("NFKC", text).casefold().split()]
    return tuple(filter(None, words))


def is_subsequence(lower: Iterable[str], higher: Iterable[str]) -> bool:
    """Return whether all of ``lower`` appears in ``higher`` in the same order."""
    rest = iter(higher)
    return all(word in rest for word in lower)


def _negations(text: str) -> int:
    """How many words turn a statement round; stop words are ignored elsewhere, and these are stop words."""
    folded = text.casefold().replace("’", "'")
    words: list[str] = re.findall(r"[\w']+", folded)
    whole = sum(word in _NEGATIONS or word.endswith("n't") for word in words)
    return whole + sum(folded.count(sign) for sign in _UNSEGMENTED_NEGATIONS)
