"""What extraction reads and what it gives: plain frozen data shared by every extractor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    the provenance. `supersedes`, `refines`, `repeats`, `contradicts` and `supports` name known memories by id.
    `metadata` becomes that of the memory.
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
    contradicts: tuple[str, ...] = ()
    supports: tuple[str, ...] = ()
    metadata: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class ItemFailure:
    """One item that cannot be used, and why; `raw` is what the extractor said."""

    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What an extraction cost: calls of a model, and tokens where the provider tells."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Extraction:
    """The success of an extractor: its items (none means nothing to extract) and the snapshot's summary.

    `failures` are items that cost themselves only. `running_summary` is the summary of the conversation up to here,
    where the extractor keeps one.
    """

    items: tuple[ExtractedItem, ...]
    summary: str
    extractor: str
    failures: tuple[ItemFailure, ...] = ()
    usage: Usage = NO_USAGE
    running_summary: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    """A current memory of the snapshot's user that the turns may speak of again; `since` is when it became valid."""

    memory_id: str
    kind: str
    content: str
    since: datetime
    name: str = ""


def _finds_nothing(text: str) -> tuple[RelatedMemory, ...]:
    return ()


def _has_no_history(first: int, last: int) -> tuple[SourceTurn, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """Everything that can be said to an extractor about one snapshot.

    `instructions` are the project's own, by kind. With `preferences_only`, semantic items are of record type
    `preference` alone.

    Where the session has a policy of its own, `settings` are what it says to the extractor, `context` are earlier turns
    to understand these by, and `running_summary` is that of the conversation; `find` searches the user's memories, and
    `history` reads the session's turns from one number to another.
    """

    turns: tuple[SourceTurn, ...]
    kinds: frozenset[str]
    related: tuple[RelatedMemory, ...] = ()
    instructions: Mapping[str, str] = field(default_factory=dict)
    preferences_only: bool = False
    settings: Mapping[str, object] | None = None
    context: tuple[SourceTurn, ...] = ()
    running_summary: Mapping[str, object] | None = None
    session_id: str = ""
    find: Callable[[str], tuple[RelatedMemory, ...]] = _finds_nothing
    history: Callable[[int, int], tuple[SourceTurn, ...]] = _has_no_history


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


@runtime_checkable
class InformedExtractor(Extractor, Protocol):
    """An extractor that also wants related memories and the project's instructions."""

    def extract_request(self, request: ExtractionRequest) -> Extraction:
        """Give the items of the request's kinds, with verdicts on its related memories and the items that failed."""
        ...
