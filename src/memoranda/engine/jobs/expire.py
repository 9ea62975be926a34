"""The expiry job: removes what has outlived its time: records and snapshots with all that is derived, feed entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from memoranda.engine.feed.log import ChangeLog
from memoranda.engine.feed.reading import ChangeFeed
from memoranda.engine.images import remove_images, remove_images_of_turns
from memoranda.engine.jobs.handler import Lease, Outcome
from memoranda.engine.jobs.queue import expire_job
from memoranda.engine.ports import Clock, DocumentRow, Store, Transaction
from memoranda.engine.records import IMAGE, PROFILE, STM, Job, Snapshot

_BATCH = 200
_INTERVAL = timedelta(hours=1)
"""How often to look while something has a lifetime; reads leave out what has expired at once."""
_END = datetime.max.replace(tzinfo=UTC)
"""What has a lifetime has expired by then."""


class MemoryRemover(Protocol):
    """Removes memories with all that belongs to them."""

    @property
    def changes(self) -> ChangeLog: ...

    def delete(self, tx: Transaction, ids: Sequence[str]) -> object: ...


class ExpireHandler:
    """Runs the expiry job: one transaction a batch."""

    def __init__(self, store: Store, project_id: str, clock: Clock, memories: MemoryRemover, feed: ChangeFeed) -> None:
        self._store = store
        self._project_id = project_id
        self._clock = clock
        self._memories = memories
        self._feed = feed

    def handle(self, job: Job, lease: Lease) -> Outcome:
        outcome = Outcome.NOTHING
        while not lease.finished:
            lease.check()
            now = self._clock.now()
            with self._store.write(self._project_id) as tx:
                removed = self._remove_batch(tx, now)
                if not removed:
                    lease.finish(tx)
                    self._schedule(tx, now)
            outcome = Outcome.DONE if removed else outcome
        return outcome

    def _remove_batch(self, tx: Transaction, now: datetime) -> int:
        rows = tx.index.expired(now, _BATCH)
        turns = [row for row in rows if row.source == STM]
        if turns:
            remove_turns(tx, turns, self._memories)
        memories = [row for row in rows if row.source not in (STM, PROFILE, IMAGE)]
        if memories:
            self._memories.delete(tx, [row.record_id for row in memories])
            # A record that is hidden by a deletion is left to its purge; here it must not come up again.
            tx.index.remove([row.key for row in tx.search.documents([row.key for row in memories])])
        images = [row for row in rows if row.source == IMAGE]
        if images:
            remove_images(tx, tx.images.get([row.record_id for row in images]))
            tx.index.remove([row.key for row in tx.search.documents([row.key for row in images])])
        snapshots = tx.snapshots.expired(now, _BATCH)
        remove_snapshots(tx, snapshots, now)
        return len(turns) + len(memories) + len(images) + len(snapshots) + self._feed.prune(tx, _BATCH)

    def _schedule(self, tx: Transaction, now: datetime) -> None:
        """Look again when the next thing ends, or after a while where the index does not say when."""
        snapshots = tx.snapshots.expired(_END, 1)
        ends = [end for snapshot in snapshots if (end := snapshot.expires_at) is not None]
        if tx.index.expired(_END, 1):
            ends.append(now + _INTERVAL)
        if (entry := self._feed.next_end(tx)) is not None:
            ends.append(entry)
        if ends:
            tx.jobs.enqueue(expire_job(run_at=max(now, min(ends)), now=now))


def remove_turns(tx: Transaction, rows: Sequence[DocumentRow], memories: MemoryRemover) -> None:
    """Remove turns whose lifetime has ended; what was extracted from them alone goes with them."""
    ids = [row.record_id for row in rows]
    tx.index.remove([row.key for row in rows])
    tx.turns.delete(ids)
    remove_images_of_turns(tx, ids)
    memories.changes.turns_deleted(tx, ids)
    orphans = tx.sources.remove_turns(ids)
    if orphans:
        memories.delete(tx, orphans)


def remove_snapshots(tx: Transaction, snapshots: Sequence[Snapshot], now: datetime) -> None:
    """Remove snapshots whose lifetime has ended; one whose turns went on promotion is emptied and stays.

    It is the only source that is left of what was extracted from it, and ties that to its session.
    """
    gone: list[str] = []
    for snapshot in snapshots:
        if tx.turns.of_snapshot(snapshot.id):
            gone.append(snapshot.id)
        else:
            tx.snapshots.finish(replace(snapshot, summary="", expires_at=None, updated_at=now))
    if gone:
        tx.snapshots.delete(gone)
