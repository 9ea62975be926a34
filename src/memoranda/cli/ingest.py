"""Ingest: a chat file into turns, turns into memories, and a report on both."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from typing import Final

import memoranda
from memoranda.cli.chat_file import ChatFile
from memoranda.cli.console import progress
from memoranda.cli.waiting import wait_for_work

_PAGE: Final = 500

Place = tuple[str, str]
"""A session: its user (blank where there is none) and its id."""


@dataclass(slots=True)
class IngestReport:
    """What one ingest read, recorded, learned and failed at.

    `repeated` turns were there before. `left_out` counts the messages of exported conversations that nobody said.
    `learned` counts new memories by kind, `superseded` those that were replaced. `put_off` counts by kind the jobs that
    failed for now and will be tried again. `waited` is False when the background work was left to another process.
    """

    turns: int = 0
    recorded: int = 0
    repeated: int = 0
    left_out: int = 0
    users: int = 0
    sessions: int = 0
    learned: dict[str, int] = field(default_factory=dict)
    superseded: int = 0
    failures: list[memoranda.FailureEntry] = field(default_factory=list)
    put_off: dict[str, int] = field(default_factory=dict)
    waited: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the report's fields."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much a chat file holds, known before any of it is recorded."""

    turns: int
    places: frozenset[Place]
    left_out: int = 0


def validate(chat: ChatFile) -> Extent:
    """Read the whole file once; WrongUsageError at the first bad line."""
    count, places = 0, set()
    with progress(f"checking {chat.name}", chat.size) as bar:
        for turn in chat.turns(bar.advance):
            count += 1
            places.add(_place(turn))
    return Extent(count, frozenset(places), chat.left_out)


def record(memory: memoranda.Memory, chat: ChatFile, extent: Extent, batch: int) -> IngestReport:
    """Record all turns in batches, each turn under a key of its own content, so that a repeat adds nothing."""
    report = IngestReport(
        turns=extent.turns,
        left_out=extent.left_out,
        sessions=len(extent.places),
        users=len({user for user, _ in extent.places if user}),
    )
    with progress(f"recording {chat.name}", extent.turns) as bar:
        for turns in _batches(_keyed(chat.turns()), batch):
            results = memory.record_turns(turns)
            report.repeated += sum(result.repeated for result in results)
            bar.advance(len(results))
    report.recorded = report.turns - report.repeated
    return report


def distil(
    memory: memoranda.Memory, extent: Extent, report: IngestReport, *, since: datetime, timeout: float | None
) -> None:
    """Have the sessions of the file extracted, wait for it, and add to the report what was learned since."""
    promote(memory, extent)
    report.put_off = wait_for_work(memory, timeout)
    report.waited = True
    _count_memories(memory, extent, report, since)
    report.failures = [failure for failure in failures_since(memory, since) if _concerns(failure, extent)]


def promote(memory: memoranda.Memory, extent: Extent) -> None:
    """Cut snapshots from the sessions of the file, and of no other."""
    with progress("promoting", len(extent.places)) as bar:
        for user_id, session_id in sorted(extent.places):
            memory.bind(memoranda.MemoryRequestContext(user_id=user_id or None)).promote(session_id)
            bar.advance(1)


def failures_since(memory: memoranda.Memory, since: datetime) -> Iterator[memoranda.FailureEntry]:
    """Yield the failures that were last seen since then."""
    cursor: str | None = None
    while True:
        page = memory.list_failures(limit=_PAGE, cursor=cursor)
        yield from (failure for failure in page.items if failure.last_seen >= since)
        cursor = page.next_cursor
        if cursor is None:
            return


def memories_of(memory: memoranda.Memory, user_id: str | None) -> Iterator[memoranda.MemoryEntry]:
    """Yield every memory of a user (of everybody where none is named), superseded ones too."""
    cursor: str | None = None
    while True:
        page = memory.list_memories(user_id=user_id, include_superseded=True, limit=_PAGE, cursor=cursor)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def now() -> datetime:
    """Return the present in UTC."""
    return datetime.now(UTC)


def _count_memories(memory: memoranda.Memory, extent: Extent, report: IngestReport, since: datetime) -> None:
    learned: Counter[str] = Counter()
    for user_id in sorted({user for user, _ in extent.places}):
        for entry in memories_of(memory, user_id or None):
            if (entry.user_id or "") != user_id:
                continue
            learned[entry.kind] += entry.created_at >= since
            report.superseded += entry.status == "superseded" and entry.updated_at >= since
    report.learned = {kind: count for kind, count in sorted(learned.items()) if count}


def _concerns(failure: memoranda.FailureEntry, extent: Extent) -> bool:
    return failure.session_id is None or (failure.user_id or "", failure.session_id) in extent.places


def _place(turn: memoranda.TurnInput) -> Place:
    return (turn.user_id or "", turn.session_id or "")


def _batches(turns: Iterator[memoranda.TurnInput], size: int) -> Iterator[list[memoranda.TurnInput]]:
    while batch := list(islice(turns, size)):
        yield batch


def _keyed(turns: Iterator[memoranda.TurnInput]) -> Iterator[memoranda.TurnInput]:
    """Give every turn its idempotency key: what it says, and the how manyth of its like in the file it is.

    Not its line number: a file that has grown, or lost its first lines, still repeats the turns that it repeats.
    """
    seen: Counter[bytes] = Counter()
    for turn in turns:
        if turn.idempotency_key is not None:  # an exported message has an id of its own
            yield turn
            continue
        written = json.dumps(turn.model_dump(mode="json", exclude={"idempotency_key"}), sort_keys=True)
        digest = blake2b(written.encode(), digest_size=16)
        seen[digest.digest()] += 1
        key = f"ingest:{digest.hexdigest()}:{seen[digest.digest()]}"
        yield turn.model_copy(update={"idempotency_key": key})
