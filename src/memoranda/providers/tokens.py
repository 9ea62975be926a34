"""How many tokens a text costs a language model, estimated without a vocabulary file.

Fitted to cl100k on prose in ten languages, code, JSON and Markdown: within 30 % there. A provider's own ``usage`` is
the truth; this is for budgets.
"""

from __future__ import annotations

import math
import re
from types import MappingProxyType
from typing import Final

_PIECES: Final = re.compile(
    r"(?P<word>[A-Za-z]+)"
    r"|(?P<number> ?[0-9]+)"
    r"|(?P<signs>[!-/:-@\[-`{-~]+)"
    r"|(?P<spaces>[ \t]{2,})"
    r"|(?P<lines>[\r\n]+)"
    r"|(?P<space>[ \t])"
    r"|(?P<latin>[\u00aa-\u024f\u1e00-\u1eff])"
    r"|(?P<han>[\u2e80-\u2fdf\u3005-\u3007\u3400-\u9fff\uf900-\ufaff])"
    r"|(?P<kana>[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f])"
    r"|(?P<hangul>[\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff])"
    r"|(?P<cyrillic>[\u0370-\u052f])"
    r"|(?P<syllabic>[\u0530-\u1cff])"
    r"|(?P<symbol>[\u2000-\u2bff\u3000-\u303f\ufe00-\uff65])"
    r"|(?P<other>.)",
    re.DOTALL,
)
# The same alternatives without groups, and with a word the space behind it, which costs nothing: much faster to run.
_WORD_AND_SPACE: Final = r"[A-Za-z]+(?: (?![ \t0-9]))?"
_ANY_PIECE: Final = re.compile(_WORD_AND_SPACE + "|" + re.sub(r"\(\?P<\w+>", "(?:", _PIECES.pattern), re.DOTALL)
_REMEMBERED: Final = 20_000
_LONGEST_REMEMBERED: Final = 32
# Tokens for each match of a class whose cost does not depend on its length.
_FLAT: Final = MappingProxyType(
    {
        "spaces": 0.4,
        "lines": 0.65,
        "space": 0.0,  # joins the word that follows
        "latin": 1.4,
        "han": 1.15,
        "kana": 0.9,
        "hangul": 1.3,
        "cyrillic": 0.53,
        "syllabic": 1.2,
        "symbol": 1.4,
        "other": 3.0,
    }
)


class _Costs(dict[str, float]):
    """The cost of each piece seen so far: the same words come again and again."""

    def __missing__(self, piece: str) -> float:
        cost = _cost(piece)
        if len(piece) <= _LONGEST_REMEMBERED:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[piece] = cost
        return cost


def estimate_tokens(text: str) -> int:
    """The estimated number of tokens of a text: 0 for the empty text, at least 1 otherwise; never raises."""
    if not text:
        return 0
    return max(1, math.ceil(sum(map(_COSTS.__getitem__, _ANY_PIECE.findall(text)))))


def _cost(piece: str) -> float:
    if piece[0].isascii() and piece[0].isalpha():
        piece = piece.rstrip(" ")
    match = _PIECES.match(piece)
    kind = (match.lastgroup if match else None) or "other"
    flat = _FLAT.get(kind)
    return _cost_by_length(kind, piece) if flat is None else flat


def _cost_by_length(kind: str, piece: str) -> float:
    size = len(piece)
    if kind == "word":  # Common words are one token; the longer, the rarer.
        return 0.95 + 0.09 * max(0, size - 4) + 0.3 * max(0, size - 8)
    if kind == "number":  # Groups of three digits; a space before them stays alone.
        spaced = piece[0] == " "
        return spaced + math.ceil((size - spaced) / 3)
    return 0.65 + 0.13 * (size - 1)


_COSTS: Final = _Costs()
