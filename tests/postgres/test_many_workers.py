"""Several servers and workers on one database: every snapshot is extracted once, and no project waits for another."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

import psycopg
import pytest

from memoranda import Memory, MemoryRequestContext
from memoranda.engine.extraction.items import ExtractedItem, Extraction, SourceTurn
from memoranda.runtime.fleet import Fleet, FleetSettings
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked, open_store
from memoranda.testing import postgres_integrity

HOSTS, THREADS = 3, 2
LARGE, SMALL = "large", ("small 1", "small 2", "small 3")
USERS = 25


@dataclass(slots=True)
class CountingExtractor:
    """Says how often each text was extracted, and in what order projects had their turn."""

    name: str = "counting"
    version: str = "1"
    seen: Counter[str] = field(default_factory=Counter)
    order: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def extract(self, turns: Sequence[SourceTurn], *, kinds: frozenset[str]) -> Extraction:
        with self.lock:
            self.seen.update(turn.content or "" for turn in turns)
            self.order.append((turns[0].content or "").partition(":")[0])
        return Extraction(tuple[ExtractedItem, ...](), "", self.name)


@pytest.fixture
def queued(postgres_url: str) -> tuple[str, CountingExtractor]:
    """A database in which one project has many snapshots to extract and others have one each, enqueued last."""
    extractor = CountingExtractor()
    for project in (LARGE, *SMALL):
        opened = Memory.open(postgres_url, project_id=project, embedder=None, llm=extractor, worker=False)
        with opened as memory:
            for number in range(USERS if project == LARGE else 1):
                user = memory.bind(MemoryRequestContext(user_id=f"user {number}", session_id="s"))
                user.record_turn(role="user", content=f"{project}: hello from {number}")
                user.promote("s")
    return postgres_url, extractor


@pytest.mark.timeout(240)
def test_every_snapshot_is_extracted_once_and_small_projects_do_not_wait(
    queued: tuple[str, CountingExtractor],
) -> None:
    url, extractor = queued
    asked = Asked(None, extractor, None, None)
    with ExitStack() as stack:
        for _ in range(HOSTS):
            host = stack.enter_context(closing(EngineHost(open_store(url), asked=asked)))
            fleet = Fleet(host, FleetSettings(threads=THREADS, poll_seconds=0.1))
            fleet.start()
            stack.callback(fleet.stop)
        for project in (LARGE, *SMALL):
            opened = Memory.open(url, project_id=project, embedder=None, llm=extractor, worker=False)
            stack.enter_context(opened).wait_until_idle(timeout=120)
    expected = {f"{LARGE}: hello from {number}" for number in range(USERS)}
    expected |= {f"{project}: hello from 0" for project in SMALL}
    assert extractor.seen == dict.fromkeys(expected, 1)
    assert all(extractor.order.index(project) < len(extractor.order) - 5 for project in SMALL)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM failures").fetchone() == (0,)
    assert postgres_integrity.check(url) == []
