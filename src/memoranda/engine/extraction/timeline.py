"""Where a statement belongs among what is known under its natural key: by event time, not by arrival. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memoranda.engine.records import MemoryRecord, MemoryStatus
from memoranda.engine.text import normal_statement

STATED_AT = "stated_at"
"""The provenance field that says when a record was stated again, as the conversation dates it."""
MOST_STATED = 200
"""How many of these times a record keeps, the first ones."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said, and since when it holds."""

    content: str
    event_time: datetime

    def repeats(self, record: MemoryRecord) -> bool:
        return normal_statement(self.content) == normal_statement(record.content)


@dataclass(frozen=True, slots=True)
class Add:
    """Nothing is known: a new record."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """``record`` says the same; with ``follows`` it holds since earlier, and that one ends then."""

    record: MemoryRecord
    begins_earlier: bool = False
    follows: MemoryRecord | None = None


@dataclass(frozen=True, slots=True)
class Supersede:
    """The statement takes the place of ``old``."""

    old: MemoryRecord


@dataclass(frozen=True, slots=True)
class Precede:
    """The statement held until ``successor`` began, and ended ``follows``."""

    successor: MemoryRecord
    follows: MemoryRecord | None


@dataclass(frozen=True, slots=True)
class Interrupt:
    """The statement held within the interval of ``record``, which was stated again at ``again``."""

    record: MemoryRecord
    again: datetime
    successor: MemoryRecord | None


Decision = Add | Repeat | Supersede | Precede | Interrupt


def decide(statement: Statement, known: Sequence[MemoryRecord]) -> Decision:
    """Return what a statement does to the records of its natural key."""
    timeline = sorted(known, key=lambda record: (record.valid_from, record.key))
    before = [record for record in timeline if _began_before(record, statement.event_time)]
    after = timeline[len(before) :]
    current = next((record for record in timeline if record.status is MemoryStatus.CURRENT), None)
    if not after:
        return _newest(statement, current)
    previous, following = (before[-1] if before else None), after[0]
    if previous is not None and statement.repeats(previous):
        return Repeat(previous)
    interruption = _interruption(statement, previous, following)
    if interruption is not None:
        return interruption
    if statement.repeats(following):
        # What a caller wrote directly, or changed since, keeps the time it was given.
        movable = following.origin != "direct" and following.version == 1
        return Repeat(following, begins_earlier=movable, follows=previous if movable else None)
    return Precede(following, previous)


def _newest(statement: Statement, current: MemoryRecord | None) -> Decision:
    if current is None:
        return Add()
    if statement.repeats(current):
        return Repeat(current)
    return _interruption(statement, current, None) or Supersede(current)


def _interruption(
    statement: Statement, record: MemoryRecord | None, successor: MemoryRecord | None
) -> Interrupt | None:
    if record is None or record.origin == "direct":
        return None
    again = next((moment for moment in stated_at(record) if moment > statement.event_time), None)
    return None if again is None else Interrupt(record, again, successor)


def _began_before(record: MemoryRecord, moment: datetime) -> bool:
    """Extraction replaces what a caller wrote directly only with something newer."""
    return record.valid_from < moment or (record.valid_from == moment and record.origin != "direct")


def stated_at(record: MemoryRecord) -> tuple[datetime, ...]:
    """Return when a record was stated again after it began, in order."""
    times = record.provenance.get(STATED_AT)
    return tuple(datetime.fromisoformat(str(moment)) for moment in times) if isinstance(times, list) else ()


def with_stated_at(record: MemoryRecord, moments: Iterable[datetime]) -> MemoryRecord:
    """Return the record with the times at which it was stated; those within its validity are kept."""
    kept = sorted({moment for moment in moments if moment > record.valid_from})[:MOST_STATED]
    provenance = {key: value for key, value in record.provenance.items() if key != STATED_AT}
    if kept:
        provenance[STATED_AT] = [moment.isoformat() for moment in kept]
    return replace(record, provenance=provenance)
