"""A project in a real store with its background work, a clock that stands still and providers that do as told."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from memoranda.engine.analyser import Analyser
from memoranda.engine.background import BackgroundParts, build_background
from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.embedding import EmbeddingService
from memoranda.engine.extraction.items import ExtractedItem, Extraction, SourceTurn
from memoranda.engine.jobs.planner import JobPlanner
from memoranda.engine.jobs.service import BackgroundService
from memoranda.engine.jobs.worker import WorkerSettings
from memoranda.engine.memories import MemoryWriter
from memoranda.engine.ports import MemoryQuery, Transaction
from memoranda.engine.project import open_project
from memoranda.engine.purge import Purger
from memoranda.engine.records import Identity, MemoryRecord, MemoryStatus, Snapshot, Turn
from memoranda.engine.scope import Scope
from memoranda.engine.turns import TurnDraft, TurnService
from memoranda.stores.sqlite.store import SqliteStore
from memoranda.testing.clock import ManualClock

PROJECT = "p"
Script = Callable[[Sequence[SourceTurn]], Sequence[ExtractedItem]]


class ScriptedExtractor:
    """Answers by a script that the test may change; ``calls`` has what it was asked."""

    name = "scripted"
    version = "1"

    def __init__(self) -> None:
        self.script: Script = lambda turns: ()
        self.calls: list[tuple[SourceTurn, ...]] = []

    def extract(self, turns: Sequence[SourceTurn], *, kinds: frozenset[str]) -> Extraction:
        self.calls.append(tuple(turns))
        items = tuple(item for item in self.script(turns) if item.kind in kinds)
        return Extraction(items, f"{len(turns)} turns", "scripted/1")


def one_fact_per_turn(turns: Sequence[SourceTurn]) -> list[ExtractedItem]:
    """What every turn says is a fact; ``label: text`` gives it a label."""
    items = []
    for turn in turns:
        label, colon, text = turn.content.partition(": ")
        items.append(
            ExtractedItem(
                kind="semantic",
                content=text if colon else turn.content,
                record_type="fact",
                label=label if colon else None,
                turn_ids=(turn.turn_id,),
            )
        )
    return items


class ScriptedEmbedder:
    """Gives each text a vector of its own; ``answer`` may be replaced."""

    model_id = "scripted-embedder"
    fingerprint = "1"
    dimension = 8
    max_input_tokens = 50

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.answer: Callable[[Sequence[str]], Sequence[Sequence[float]]] = lambda texts: [
            self.vector(text) for text in texts
        ]

    def vector(self, text: str) -> list[float]:
        return [byte - 127.5 for byte in hashlib.blake2b(text.encode(), digest_size=self.dimension).digest()]

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.calls.append(list(texts))
        return self.answer(texts)

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]


def count_words(text: str) -> int:
    return len(text.split())


@dataclass
class World:
    """One project. Everything runs in the test's own thread unless ``background.worker.start()`` is called."""

    path: Path
    store: SqliteStore
    clock: ManualClock
    config: ProjectConfig
    extractor: ScriptedExtractor
    embedder: ScriptedEmbedder | None
    analyser: Analyser = field(default_factory=Analyser)

    def __post_init__(self) -> None:
        open_project(
            self.store,
            PROJECT,
            config=self.config,
            analyser_version=self.analyser.version,
            embedder=self.embedder,
            clock=self.clock,
        )
        self.planner = JobPlanner(
            self.config, embedder=self.embedder.model_id if self.embedder else "", extractor="scripted"
        )
        self.writer = MemoryWriter(self.analyser, self.clock, self.config, self.planner)
        self.turns = TurnService(
            self.store,
            PROJECT,
            analyser=self.analyser,
            clock=self.clock,
            config=self.config,
            planner=self.planner,
            purger=Purger(self.writer),
        )
        self.background = self.new_background()

    def new_background(self, settings: WorkerSettings | None = None) -> BackgroundService:
        """Return background work as another process would have it."""
        parts = BackgroundParts(
            store=self.store,
            project_id=PROJECT,
            clock=self.clock,
            config=self.config,
            analyser=self.analyser,
            planner=self.planner,
            writer=self.writer,
            embedding=EmbeddingService(self.embedder, count_words),
            extractors={"scripted": self.extractor},
        )
        return build_background(parts, settings)

    def say(
        self,
        *contents: str | None,
        user: str = "ann",
        session: str = "s1",
        at: datetime | None = None,
        **fields: object,
    ) -> list[Turn]:
        """Record turns of a user in a session."""
        draft = TurnDraft(Identity(user, "helper", session), "user", event_time=at)
        drafts = [replace(draft, content=content, **fields) for content in contents]  # type: ignore[arg-type]
        return [recorded.turn for recorded in self.turns.record(drafts)]

    def drain(self, *, promote: bool = True) -> None:
        """Run all due jobs in this thread, after promoting everything."""
        self.background.wait_until_idle(promote=promote)

    def learn(self, *contents: str, at: datetime | None = None, session: str = "s1", user: str = "ann") -> None:
        """Record turns, promote and extract them."""
        self.say(*contents, at=at, session=session, user=user)
        self.drain()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self.store.read(PROJECT) as tx:
            yield tx

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with self.store.write(PROJECT) as tx:
            yield tx

    def memories(self, *statuses: MemoryStatus, user: str = "ann", kind: str | None = None) -> list[MemoryRecord]:
        """Return a user's memories (all of them by default) by the beginning of their validity."""
        wanted = statuses or tuple(MemoryStatus)
        query = MemoryQuery(Scope(user_id=user), self.clock.now(), kind=kind, statuses=wanted, limit=1000)
        with self.read() as tx:
            found = tx.memories.query(query)
        return sorted(found, key=lambda record: (record.valid_from, record.key))

    def current(self, **where: str) -> list[MemoryRecord]:
        return self.memories(MemoryStatus.CURRENT, **where)

    def snapshots(self, user: str = "ann", session: str = "s1") -> list[Snapshot]:
        with self.read() as tx:
            return list(tx.snapshots.of_session(user, session))

    def jobs(self) -> dict[str, int]:
        """Return the number of jobs by kind."""
        counts: dict[str, int] = {}
        for entry in self.background.status().jobs:
            counts[entry.kind.value] = counts.get(entry.kind.value, 0) + entry.number
        return counts


@contextmanager
def open_world(path: Path, *, config: ProjectConfig | None = None, embeds: bool = False) -> Iterator[World]:
    """Open a world in a new file."""
    store = SqliteStore.open(path)
    try:
        yield World(
            path=path,
            store=store,
            clock=ManualClock(),
            config=config or ProjectConfig(),
            extractor=ScriptedExtractor(),
            embedder=ScriptedEmbedder() if embeds else None,
        )
    finally:
        store.close()
