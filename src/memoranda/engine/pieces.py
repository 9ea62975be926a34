"""Splitting long text into pieces that a model accepts, at the best boundary near the limit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

_PARAGRAPH_END: Final = re.compile(r"\n[ \t\r]*\n\s*")
_SENTENCE_END: Final = re.compile(r"[.!?…]+[\"'”’)\]]*\s+|[。！？｡]+[」』”’）]*\s*|\n\s*")
_WORD_END: Final = re.compile(r"\s+|[、，,;；：]")
_JOINER: Final = "\u200d"


def split_text(text: str, max_tokens: int, count: Callable[[str], int]) -> list[str]:
    """Split a text into pieces of at most ``max_tokens`` as ``count`` counts; joined, they are the text again.

    Cuts after a paragraph, a sentence or a word, and inside a word only where nothing else fits. ``count`` must not
    fall as a text grows. A single character beyond the limit stays whole. The empty text has no pieces.
    Raises ``ValueError`` for a limit below 1.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens is {max_tokens}; it must be at least 1")
    pieces: list[str] = []
    rest = text
    while rest:
        end = _longest_fitting(rest, max_tokens, count)
        if end < len(rest):
            end = _cut(rest, end)
        pieces.append(rest[:end])
        rest = rest[end:]
    return pieces


def _longest_fitting(text: str, max_tokens: int, count: Callable[[str], int]) -> int:
    """The length of the longest prefix within the limit, at least 1; looks only a little beyond it."""
    fits, beyond = 1, min(len(text), 4 * max_tokens)
    while count(text[:beyond]) <= max_tokens:
        if beyond == len(text):
            return beyond
        fits, beyond = beyond, min(len(text), 2 * beyond)
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        if count(text[:middle]) <= max_tokens:
            fits = middle
        else:
            beyond = middle
    return fits


def _cut(text: str, limit: int) -> int:
    """The best place to cut at or before ``limit``; large units only where the piece stays at least half full."""
    for boundary, least in ((_PARAGRAPH_END, limit // 2), (_SENTENCE_END, limit // 2), (_WORD_END, 0)):
        ends = [match.end() for match in boundary.finditer(text, 0, limit + 1) if least < match.end() <= limit]
        if ends:
            return ends[-1]
    for end in range(limit, 0, -1):
        if not _joined(text, end):
            return end
    return limit


def _joined(text: str, at: int) -> bool:
    """Whether the characters around a position make one sign for a reader."""
    before, after = text[at - 1], text[at : at + 1]
    if not after:
        return False
    if before == _JOINER or after == _JOINER or unicodedata.category(after)[0] == "M":
        return True
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff":  # skin tones
        return True
    return (before == "\r" and after == "\n") or (_is_flag_letter(after) and _flag_letters_before(text, at) % 2 == 1)


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    run = 0
    while run < at and _is_flag_letter(text[at - run - 1]):
        run += 1
    return run
