"""Giving the entries of the change feed their positions, and reading them by position.

Positions are given after commit, by one transaction at a time: whoever has read up to a position has read every change
that will ever have an earlier one, in whatever order the changes began or committed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memoranda.engine.config_model import ChangeFeedConfig
from memoranda.engine.feed.rows import Change
from memoranda.engine.jobs.queue import expire_job
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.sdk.errors import MemoryBadRequestError

logger = logging.getLogger(__name__)

_BATCH = 500
_LOOK_SECONDS = 0.25
"""How long a reader who waits may not notice what another process commits."""
_REST_SECONDS = 0.02
"""How long a reader who waits lets changes gather once it is woken."""


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Entries in the order of their positions; ``last`` is the position to go on after."""

    changes: Sequence[Change]
    last: int


class ChangeFeed:
    """The change feed of one project. Thread-safe."""

    def __init__(self, store: Store, project_id: str, clock: Clock, config: ChangeFeedConfig) -> None:
        self._store = store
        self._project_id = project_id
        self._clock = clock
        self._config = config

    def tidy(self) -> None:
        """Give every committed entry its position, where the project keeps a feed; the worker does between jobs."""
        while self._config.enabled and self.assign():
            continue

    def assign(self) -> bool:
        """Give some committed entries without a position the next ones; return whether there were any."""
        with self._store.read(self._project_id) as tx:
            if not tx.changes.unassigned():
                return False
        # Durable: a position that somebody has seen must not be given again after a loss of power.
        with self._store.write(self._project_id) as tx:
            assigned = tx.changes.assign(_BATCH)
            if assigned:
                now = self._clock.now()
                tx.jobs.enqueue(expire_job(run_at=now + timedelta(days=self._config.keep_days), now=now))
        logger.debug("feed.assigned", extra={"entries": assigned})
        return assigned > 0

    def page(self, after: int | None, limit: int) -> FeedPage:
        """Return entries after a position (None: from the oldest that is kept), those that committed by now included.

        Raises ``MemoryBadRequestError`` (``CURSOR_EXPIRED``) when entries after it are gone because their time was
        over, and for a position that was never given.
        """
        while self.assign():
            continue
        with self._store.read(self._project_id) as tx:
            ends = tx.changes.ends()
            if after is None:
                after = ends.pruned
            if not ends.pruned <= after <= ends.last:
                raise _refused(self._config.keep_days)
            changes = tx.changes.page(after, limit)
        return FeedPage(changes, changes[-1].position if changes else after)

    def wait(self, after: int | None, limit: int, seconds: float) -> FeedPage:
        """Return a page, waiting up to ``seconds`` for the first entry; no connection is held meanwhile."""
        deadline = time.monotonic() + seconds
        committed = threading.Event()
        end_waking = self._store.after_commit(lambda _: committed.set(), project_id=self._project_id)
        try:
            while True:
                committed.clear()
                page = self.page(after, limit)
                left = deadline - time.monotonic()
                if page.changes or left <= 0:
                    return page
                if committed.wait(min(left, _LOOK_SECONDS)):
                    time.sleep(min(left, _REST_SECONDS))
        finally:
            end_waking()

    def prune(self, tx: Transaction, limit: int) -> int:
        """Remove up to ``limit`` entries that were kept long enough; return how many."""
        return tx.changes.prune(self._clock.now() - timedelta(days=self._config.keep_days), limit)

    def next_end(self, tx: Transaction) -> datetime | None:
        """Return when the oldest entry will have been kept long enough; None where there is none."""
        oldest = tx.changes.page(0, 1)
        return oldest[0].at + timedelta(days=self._config.keep_days) if oldest else None


def _refused(keep_days: int) -> MemoryBadRequestError:
    return MemoryBadRequestError(
        f"the changes after this cursor are not all kept any more (memory.change_feed.keep_days: {keep_days}): read "
        "the project anew, then follow the feed from its start, without a cursor",
        code="CURSOR_EXPIRED",
    )
