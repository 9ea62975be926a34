"""What an extractor said of known memories, held against what is there when its items are committed.

Time passes between the question and the commit, and the ids of an answer are text of a model: a verdict counts only for
a memory that still exists, is current, and is of the same user. Where it does not, the item is settled by the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.extraction.items import ExtractedItem
from memoranda.engine.memory_states import is_expired
from memoranda.engine.ports import Transaction
from memoranda.engine.records import MemoryRecord, MemoryStatus


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The memories that a draft repeats, supersedes, refines, contradicts and supports, as they stand now."""

    repeats: tuple[MemoryRecord, ...] = ()
    supersedes: tuple[MemoryRecord, ...] = ()
    refines: tuple[MemoryRecord, ...] = ()
    contradicts: tuple[MemoryRecord, ...] = ()
    supports: tuple[MemoryRecord, ...] = ()


def standing_verdicts(tx: Transaction, item: ExtractedItem, draft: MemoryDraft, now: datetime) -> Verdicts:
    """Return the verdicts of an item that count.

    Repeating, superseding and refining stay within a kind. What a draft retires it must also be visible in place of:
    a private memory never retires one that others see.
    """
    same_kind = [record for record in _current(tx, _named(item), draft, now) if record.kind == draft.kind]
    replaceable = [record for record in same_kind if record.visibility == draft.visibility]
    return Verdicts(
        repeats=_among(item.repeats, same_kind),
        supersedes=_among(item.supersedes, replaceable),
        refines=_among(item.refines, replaceable),
        contradicts=_among(item.contradicts, _current(tx, item.contradicts, draft, now)),
        supports=_among(item.supports, _current(tx, item.supports, draft, now)),
    )


def _named(item: ExtractedItem) -> Sequence[str]:
    return (*item.repeats, *item.supersedes, *item.refines)


def _current(tx: Transaction, ids: Sequence[str], draft: MemoryDraft, now: datetime) -> list[MemoryRecord]:
    found = tx.memories.get(list(dict.fromkeys(ids))) if ids else ()
    return [
        record
        for record in found
        if record.user_id == draft.user_id and record.status is MemoryStatus.CURRENT and not is_expired(record, now)
    ]


def _among(ids: Sequence[str], records: Sequence[MemoryRecord]) -> tuple[MemoryRecord, ...]:
    by_id = {record.id: record for record in records}
    return tuple(by_id[each] for each in dict.fromkeys(ids) if each in by_id)
