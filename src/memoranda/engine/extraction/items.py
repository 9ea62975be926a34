"""What extraction reads and what it gives: plain frozen data shared by every extractor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """One turn as an extractor sees it; `event_time` is aware UTC, `speaker` a display name when known."""

    turn_id: str
    turn_seq: int
    role: str
    content: str
    event_time: datetime
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class ExtractedItem:
    """One typed statement distilled from turns, standalone and in the conversation's language.

    `kind` is semantic, episodic, procedural or taxonomic; `record_type` (memory, fact, preference, guideline) matters
    to semantic items only. `label` is the natural key of a semantic item, None when it has none. `body` holds the
    kind's own fields. `event_time` (aware UTC) says when the fact became true or the event happened. `turn_ids` is
    the provenance. `supersedes`, `refines` and `repeats` name known memories by id.
    """

    kind: str
    content: str
    record_type: str = "memory"
    label: str | None = None
    body: Mapping[str, object] = field(default_factory=dict)
    event_time: datetime | None = None
    turn_ids: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    refines: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """The success of an extractor: its items (none means nothing to extract) and the snapshot's summary."""

    items: tuple[ExtractedItem, ...]
    summary: str
    extractor: str


@runtime_checkable
class Extractor(Protocol):
    """What turns the turns of one snapshot into typed items."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def extract(self, turns: Sequence[SourceTurn], *, kinds: frozenset[str]) -> Extraction:
        """Give the items of the enabled `kinds` found in `turns`, in the order of the turns."""
        ...
