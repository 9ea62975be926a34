"""The services of memories over a world with its background work."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.deletion import DeletionService
from memoranda.engine.drafts import MemoryDraft, Written
from memoranda.engine.embedding import EmbeddingService
from memoranda.engine.links import LinkService
from memoranda.engine.memory_reads import MemoryListing
from memoranda.engine.memory_service import MemoryService
from memoranda.engine.ports import LegQuery
from memoranda.engine.profiles import ProfileService
from memoranda.engine.purge import Purger
from memoranda.engine.records import IndexState
from memoranda.engine.scope import Scope
from tests.engine.background_world import PROJECT, World, count_words, open_world

TABLES_OF_RECORDS = (
    "turns",
    "sessions",
    "snapshots",
    "memories",
    "memory_history",
    "memory_sources",
    "links",
    "profiles",
    "documents",
    "postings",
    "vectors",
    "record_values",
    "saves",
    "tombstones",
)


def day(number: int) -> datetime:
    """Return noon of a day of January 2026."""
    return datetime(2026, 1, number, 12, tzinfo=UTC)


class MemoryWorld:
    """A world and the services of its memories."""

    def __init__(self, world: World) -> None:
        self.background = world
        self.clock = world.clock
        embedding = EmbeddingService(world.embedder, count_words)
        self.memories = MemoryService(
            world.store,
            PROJECT,
            writer=world.writer,
            embedding=embedding,
            clock=world.clock,
            config=world.config,
        )
        self.links = LinkService(world.store, PROJECT, writer=world.writer, clock=world.clock)
        self.profiles = ProfileService(
            world.store,
            PROJECT,
            analyser=world.analyser,
            embedding=embedding,
            clock=world.clock,
            config=world.config,
        )
        self.deletion = self.deletion_in_batches(500)

    def deletion_in_batches(self, batch: int) -> DeletionService:
        purger = Purger(self.background.writer, batch=batch)
        return DeletionService(self.background.store, PROJECT, purger=purger, clock=self.clock)

    def fact(self, text: str, label: str = "", *, user: str = "ann", **fields: object) -> Written:
        """Save a semantic memory; one with a label replaces what that label said."""
        draft = MemoryDraft(kind="semantic", content=text, name=label, user_id=user, upsert=bool(label))
        return self.memories.save(replace(draft, **fields))  # type: ignore[arg-type]

    def found(
        self, word: str, *, source: str = "semantic", user: str | None = "ann", superseded: bool = False
    ) -> set[int]:
        """Return the keys of the records that the text index finds for a word."""
        states = (IndexState.CURRENT, IndexState.SUPERSEDED) if superseded else (IndexState.CURRENT,)
        query = LegQuery(Scope(user_id=user), source, states, self.clock.now())
        with self.background.read() as tx:
            matches = tx.search.text(query, self.background.analyser.query_terms(word))
        return {key for key, candidate in zip(matches.keys, matches.candidates, strict=True) if candidate}

    def texts(self, listing: MemoryListing | None = None) -> list[str]:
        """Return the contents of a listing's first page, oldest first."""
        page = self.memories.page(listing or MemoryListing(), limit=1000)
        return [view.record.content for view in reversed(page.views)]

    def rows(self, *tables: str) -> dict[str, list[tuple[object, ...]]]:
        """Return whole tables, as another program reads the file."""
        connection = sqlite3.connect(self.background.path)
        try:
            return {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in tables}
        finally:
            connection.close()

    def leftovers(self) -> dict[str, int]:
        """Return the tables that still hold records, with their number of rows."""
        return {name: len(rows) for name, rows in self.rows(*TABLES_OF_RECORDS).items() if rows}


@contextmanager
def open_memory_world(path: Path, *, config: ProjectConfig, embeds: bool = False) -> Iterator[MemoryWorld]:
    with open_world(path, config=config, embeds=embeds) as world:
        yield MemoryWorld(world)
