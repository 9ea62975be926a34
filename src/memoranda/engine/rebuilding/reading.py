"""From rows of the index to the records behind them, whatever their source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from memoranda.engine.analyser import Analyser
from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.indexing import (
    entry_for_image,
    entry_for_memory,
    entry_for_profile,
    entry_for_turn,
    memory_text,
    turn_text,
)
from memoranda.engine.ports import DocumentRow, Transaction
from memoranda.engine.records import IMAGE, PROFILE, STM, Image, IndexEntry, MemoryRecord, Profile, ProjectRow, Turn
from memoranda.sdk.errors import MemoryNotFoundError

Record: TypeAlias = Turn | MemoryRecord | Profile | Image
Progress: TypeAlias = Callable[[int, int], None]
"""Told how many records of how many are done."""

REEMBED: Final = "reembed"
REINDEX: Final = "reindex"


def unheard(done: int, total: int) -> None:
    """Tell nobody how far it is."""


def required_project(tx: Transaction, project_id: str) -> ProjectRow:
    """Return the project's row; raises ``MemoryNotFoundError``."""
    row = tx.projects.get()
    if row is None:
        raise MemoryNotFoundError(f"there is no project {project_id!r} in this store; nothing was changed")
    return row


def records_of(tx: Transaction, rows: Sequence[DocumentRow]) -> Iterator[Record]:
    """Return the records behind rows of the index; what a deletion hides is left out."""
    turns = [row.record_id for row in rows if row.source == STM]
    memories = [row.record_id for row in rows if row.source not in (STM, PROFILE, IMAGE)]
    images = [row.record_id for row in rows if row.source == IMAGE]
    if turns:
        yield from tx.turns.get(turns)
    if memories:
        yield from tx.memories.get(memories)
    if images:
        yield from tx.images.get(images)
    for row in rows:
        if row.source == PROFILE:
            yield from _profile(tx, row)


def _profile(tx: Transaction, row: DocumentRow) -> Iterable[Profile]:
    subject, _, profile_id = row.record_id.partition(":")
    found = tx.profiles.get(subject, profile_id)
    return [] if found is None else [found]


def text_of(record: Record) -> str:
    """Return what of a record is searched and embedded."""
    if isinstance(record, Turn):
        return turn_text(record)
    if isinstance(record, Image):
        return record.description
    return record.information if isinstance(record, Profile) else memory_text(record)


def entry_of(record: Record, analyser: Analyser, config: ProjectConfig) -> IndexEntry:
    """Return a record's index entry as this analyser makes it."""
    if isinstance(record, Turn):
        return entry_for_turn(record, analyser, config)
    if isinstance(record, Profile):
        return entry_for_profile(record, analyser, config)
    if isinstance(record, Image):
        return entry_for_image(record, analyser, config)
    return entry_for_memory(record, analyser, config)
