"""Regular expressions that are compiled at their first use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class Pattern:
    """A case-insensitive regular expression.

    Compiling the tables of seven languages takes longer than opening a store; a process that extracts compiles those
    of the languages it meets.
    """

    def __init__(self, source: str) -> None:
        self._source = source

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, re.IGNORECASE)

    def match(self, text: str, position: int = 0) -> re.Match[str] | None:
        return self._compiled.match(text, position)

    def search(self, text: str) -> re.Match[str] | None:
        return self._compiled.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self._compiled.finditer(text)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        return self._compiled.sub(replacement, text, count)
