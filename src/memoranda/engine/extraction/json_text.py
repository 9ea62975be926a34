"""Reading the JSON objects in a model's text, with the mistakes that models make."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_THOUGHT: Final = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_ESCAPE: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_STRUCTURE: Final = re.compile(r'["{}\[\]]')
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_CLOSERS: Final = {"{": "}", "[": "]"}
_MOST_OPEN: Final = 50
"""How many braces without an end are looked behind; a text of many more is no reply."""


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object of the text, or why it cannot be read; ``truncated`` when the text ends inside it."""

    value: Mapping[str, object] | None
    problem: str = ""
    truncated: bool = False


def objects_in(text: str) -> Iterator[FoundObject]:
    """Yield the outermost ``{…}`` of a text in order, whatever stands around them.

    Control characters in strings, trailing commas and backslashes that should be doubled are put up with.
    """
    text = _without_thoughts(text)
    start, left_open = text.find("{"), 0
    while start >= 0 and left_open < _MOST_OPEN:
        end = _end_of(text, start)
        if end is None:
            left_open += 1
            yield FoundObject(None, "it ends in the middle of the JSON", truncated=True)
            start = text.find("{", start + 1)
            continue
        yield _read(text[start:end])
        start = text.find("{", end)


def _without_thoughts(text: str) -> str:
    """Return the text without what a model thought aloud; a thought without an end stays."""
    kept: list[str] = []
    position, begun = 0, -1
    for mark in _THOUGHT.finditer(text):
        if not mark[1]:
            begun = mark.start() if begun < 0 else begun
        elif begun >= 0:
            kept += (text[position:begun], " ")
            position, begun = mark.end(), -1
    return "".join((*kept, text[position:]))


def _end_of(text: str, start: int) -> int | None:
    """Return where the object that begins at ``start`` ends, or None when the text is over before."""
    open_brackets: list[str] = []
    position = start
    while (found := _STRUCTURE.search(text, position)) is not None:
        char, position = found[0], found.end()
        if char == '"':
            after = _string_end(text, found.start())
            if after is None:
                return None
            position = after
        elif char in _CLOSERS:
            open_brackets.append(_CLOSERS[char])
        elif open_brackets and char == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                return position
    return None


def _string_end(text: str, start: int) -> int | None:
    """Return the position after the string whose opening quote is at ``start``."""
    found = _STRING.match(text, start)
    return None if found is None else found.end()


def _read(text: str) -> FoundObject:
    problem = ""
    for mend in (str, _mended):
        try:
            # strict=False lets control characters stand in strings.
            value = json.loads(mend(text), strict=False)
        except (ValueError, RecursionError) as error:
            problem = problem or f"it is not JSON ({error})"
            continue
        return FoundObject(value if isinstance(value, dict) else None)
    return FoundObject(None, problem)


def _mended(text: str) -> str:
    """Return the text without trailing commas, and with the backslashes doubled that begin no escape."""
    parts: list[str] = []
    position = 0
    while position < len(text):
        quote = text.find('"', position)
        if quote < 0:
            parts.append(_without_trailing_commas(text[position:]))
            break
        end = _string_end(text, quote) or len(text)
        parts.append(_without_trailing_commas(text[position:quote]))
        parts.append(_doubled(text[quote:end]))
        position = end
    return "".join(parts)


def _without_trailing_commas(text: str) -> str:
    return re.sub(r",(\s*[}\]])", r"\1", text)


def _doubled(string: str) -> str:
    parts: list[str] = []
    position = 0
    while (slash := string.find("\\", position)) >= 0:
        parts.append(string[position:slash])
        escape = _ESCAPE.match(string, slash)
        parts.append(escape[0] if escape else "\\\\")
        position = slash + (len(escape[0]) if escape else 1)
    return "".join([*parts, string[position:]])
