"""Extractors that do what a test tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memoranda.engine.extraction.items import ExtractedItem, Extraction, SourceTurn


class QuietExtractor:
    """Finds nothing in anything."""

    name = "quiet"
    version = "1"

    def extract(self, turns: Sequence[SourceTurn], *, kinds: frozenset[str]) -> Extraction:
        return Extraction((), "", self.name)


@dataclass(slots=True)
class ScriptedExtractor:
    """Answers each call with what ``script`` makes of its turns (an exception it raises included); counts calls."""

    script: Callable[[Sequence[SourceTurn]], Sequence[ExtractedItem]]
    name: str = "scripted"
    version: str = "1"
    calls: list[tuple[str, ...]] = field(default_factory=list)

    def extract(self, turns: Sequence[SourceTurn], *, kinds: frozenset[str]) -> Extraction:
        self.calls.append(tuple(turn.turn_id for turn in turns))
        return Extraction(tuple(self.script(turns)), f"{len(turns)} turns", self.name)
