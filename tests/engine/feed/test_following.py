"""Whoever follows positions sees every committed change exactly once, whatever commits when."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda import Memory
from memoranda.engine.config import ChangeFeedConfig
from memoranda.engine.feed.reading import ChangeFeed
from memoranda.engine.feed.rows import Change, Entity, Operation
from memoranda.engine.ids import new_id
from memoranda.engine.ports import Store
from memoranda.stores.sqlite import SqliteStore
from memoranda.testing.clock import ManualClock

PROJECT = "p"


def changes(count: int, clock: ManualClock) -> list[Change]:
    return [Change(new_id(), Entity.MEMORY, str(number), Operation.CREATED, clock.now()) for number in range(count)]


def commit(store: Store, *entries: Change) -> None:
    with store.write(PROJECT) as tx:
        tx.changes.add(entries)


class Follower:
    """Reads by position alone and keeps what it saw."""

    def __init__(self, feed: ChangeFeed) -> None:
        self._feed = feed
        self._position: int | None = None
        self.seen: list[Change] = []

    def read(self, limit: int) -> None:
        page = self._feed.page(self._position, limit)
        self.seen += page.changes
        self._position = page.last

    def check(self, committed: list[str]) -> None:
        assert [change.position for change in self.seen] == list(range(1, len(committed) + 1))
        assert sorted(change.entity_id for change in self.seen) == sorted(committed)


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(8)), st.lists(st.integers(0, 3), min_size=8, max_size=8), st.integers(1, 3))
def test_commits_in_any_order_are_seen_once_each(order: list[int], reads: list[int], limit: int) -> None:
    store, clock = SqliteStore.open_temporary(), ManualClock()
    try:
        feed = ChangeFeed(store, PROJECT, clock, ChangeFeedConfig())
        follower, entries = Follower(feed), changes(8, clock)
        for number, pages in zip(order, reads, strict=True):
            commit(store, entries[number])
            for _ in range(pages):
                follower.read(limit)
        for _ in range(8):
            follower.read(limit)
        follower.check([str(number) for number in range(8)])
        # Each page was final when it was read: the order of reading is the order of positions.
        assert follower.seen == sorted(follower.seen, key=lambda change: change.position)
    finally:
        store.close()


def test_followers_beside_writers_in_threads_see_each_change_once(tmp_path: Path) -> None:
    stores, clock = [SqliteStore.open(tmp_path / "memory.db") for _ in range(2)], ManualClock()
    feeds = [ChangeFeed(store, PROJECT, clock, ChangeFeedConfig()) for store in stores]
    entries = changes(120, clock)
    random.Random(1).shuffle(entries)
    done = threading.Event()

    def write(number: int) -> None:
        for entry in entries[number::4]:
            commit(stores[number % 2], entry)

    def follow(number: int) -> Follower:
        follower = Follower(feeds[number % 2])
        while not done.is_set():
            follower.read(7)
        while len(follower.seen) < len(entries):
            before = len(follower.seen)
            follower.read(50)
            assert len(follower.seen) > before, "the feed ended early"
        return follower

    with ThreadPoolExecutor(7) as pool:
        followers = [pool.submit(follow, number) for number in range(3)]
        for writer in [pool.submit(write, number) for number in range(4)]:
            writer.result()
        done.set()
        for follower in followers:
            follower.result().check([str(number) for number in range(120)])
    for store in stores:
        store.close()


def test_the_worker_gives_positions_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=None) as memory, contextlib.closing(SqliteStore.open(path)) as other:
        memory.save_semantic(text="a", label="a", user_id="u")
        deadline = time.monotonic() + 10
        while not _page(other):
            assert time.monotonic() < deadline, "no position was given"
            time.sleep(0.02)


def _page(store: Store) -> Sequence[Change]:
    with store.read("default") as tx:
        return tx.changes.page(0, 1)
