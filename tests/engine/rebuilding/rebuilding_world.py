"""A store file that is made anew in tests: what is in it, how it is interrupted, and what must hold afterwards."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memoranda import Memory, MemoryRequestContext
from memoranda.engine.analyser import Analyser
from memoranda.engine.embedding import EmbeddingService
from memoranda.engine.ports import Embedder, Store, StoreDescription, Transaction
from memoranda.engine.project import stored_config
from memoranda.engine.rebuilding.reading import entry_of, records_of, text_of
from memoranda.engine.rebuilding.reembed import ReembedReport, reembed
from memoranda.engine.records import VectorState
from memoranda.runtime.opening import SystemClock
from memoranda.stores.sqlite import SqliteStore
from memoranda.testing import integrity
from memoranda.testing.embedders import HashedEmbedder

PROJECT = "default"
BATCH = 4
MEMORIES = (
    "The kitchen is painted green",
    "She keeps bees behind the house",
    "Der Hund schläft in den Häusern",
    "Die Katzen liegen auf den Dächern",
    "Trains to Graz leave every hour",
    "The piano was tuned in spring",
    "He walks along the river in the evening",
)
TURNS = ("I bought a green kettle", "The bees are swarming", "Wir wohnen in einem Haus", "The river is high today")


class Stopped(BaseException):
    """What an interruption raises."""


def old_embedder() -> HashedEmbedder:
    return HashedEmbedder(dimension=512, model_id="old")


def new_embedder() -> HashedEmbedder:
    return HashedEmbedder(dimension=64, model_id="new")


def open_memory(path: Path, embedder: Embedder | None) -> Memory:
    return Memory.open(path, embedder=embedder, worker=False)


def handle(memory: Memory, user: str = "ann", session: str | None = None) -> Memory:
    return memory.bind(MemoryRequestContext(user_id=user, session_id=session))


def fill(path: Path, embedder: Embedder | None) -> None:
    """Write memories of two users, a superseded one among them, and turns; all with their vectors."""
    with open_memory(path, embedder) as memory:
        for number, text in enumerate(MEMORIES):
            handle(memory).save_semantic(text=text, label=f"fact {number}")
            handle(memory, "bob").save_semantic(text=f"Bob says: {text}", label=f"fact {number}")
        for text in TURNS:
            handle(memory, session="s").record_turn(role="user", content=text)
        memory.wait_until_idle(promote=False)


@contextmanager
def opened_store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(path)
    try:
        yield store
    finally:
        store.close()


def count_words(text: str) -> int:
    return len(text.split())


def run_reembed(
    path: Path, embedder: Embedder, *, progress: Callable[[int, int], None] = lambda done, total: None
) -> ReembedReport:
    with opened_store(path) as store:
        return reembed_in(store, embedder, progress=progress)


def reembed_in(
    store: Store, embedder: Embedder, *, progress: Callable[[int, int], None] = lambda done, total: None
) -> ReembedReport:
    return reembed(
        store,
        PROJECT,
        embedder,
        clock=SystemClock(),
        count_tokens=count_words,
        progress=progress,
        batch=BATCH,
    )


@dataclass
class StoppingStore:
    """A store that ends the run in its ``at``-th change: before it is committed, or right after."""

    store: Store
    at: int
    committed: bool
    changes: int = field(default=0)

    @contextmanager
    def read(self, project_id: str) -> Iterator[Transaction]:
        with self.store.read(project_id) as tx:
            yield tx

    @contextmanager
    def write(self, project_id: str, *, durable: bool = True) -> Iterator[Transaction]:
        self.changes += 1
        with self.store.write(project_id) as tx:
            yield tx
            if self.changes == self.at and not self.committed:
                raise Stopped
        if self.changes == self.at:
            raise Stopped

    def after_commit(self, wake: Callable[[str], None], *, project_id: str | None = None) -> Callable[[], None]:
        return self.store.after_commit(wake, project_id=project_id)

    def describe(self) -> StoreDescription:
        return self.store.describe()

    def close(self) -> None:
        self.store.close()


def stopped_everywhere(path: Path, folder: Path, run: Callable[[Store], object], *, committed: bool) -> Iterator[Path]:
    """Give copies of a store in which a run was stopped in its first change, its second, and so on to its last."""
    at = 0
    while True:
        at += 1
        copy = folder / f"{at}.db"
        shutil.copy(path, copy)
        with opened_store(copy) as store:
            stopping = StoppingStore(store, at, committed)
            try:
                run(stopping)
            except Stopped:
                pass
            else:
                assert at > 3, "the run has changes to be stopped in"
                return
        yield copy


def check_vectors(path: Path, embedder: Embedder, *, without: Sequence[str] = ()) -> None:
    """Every record has the vectors of its text by this embedder and no other, but for those texts."""
    assert integrity.check(path) == []
    with opened_store(path) as store, store.read(PROJECT) as tx:
        row = tx.projects.get()
        assert row is not None
        assert (row.embedder_fingerprint, row.embedder_dimension) == (embedder.fingerprint, embedder.dimension)
        assert "reembed" not in row.rebuilding
        service = EmbeddingService(embedder, count_words, name=row.embedder_model)
        rows = tx.rebuild.walk(0, 1000)
        texts = {record.key: text_of(record) for record in records_of(tx, rows)}
        wanted = {key: text for key, text in texts.items() if text not in without}
        assert {found.key for found in rows} == texts.keys()
        expected = {vectors.key: vectors for vectors in service.vectors_for(wanted).vectors}
        found = {vectors.key: vectors for vectors in tx.search.vectors_of(list(texts), row.embedder_model)}
        assert found == expected
        states = {found.key: found.vector_state for found in rows}
        assert {key for key, state in states.items() if state is VectorState.PRESENT} == wanted.keys()
    with opened_store(path) as store, store.write(PROJECT) as tx:
        assert tx.rebuild.remove_other_vectors(list(texts), row.embedder_model) == 0


def check_terms(path: Path, language: str) -> None:
    """Every record is indexed as the analyser of this language has it."""
    assert integrity.check(path) == []
    analyser = Analyser(language)
    with opened_store(path) as store, store.read(PROJECT) as tx:
        row = tx.projects.get()
        assert row is not None
        assert (row.analyser, row.rebuilding) == (analyser.version, {})
        assert stored_config(row).analyser.language == language
        rows = tx.rebuild.walk(0, 999)
        entries = [entry_of(record, analyser, stored_config(row)) for record in records_of(tx, rows)]
    expected = {entry.key: (dict(entry.terms), entry.length) for entry in entries}
    assert {key: found for key, found in indexed_terms(path).items() if key in expected} == expected


def indexed_terms(path: Path) -> dict[int, tuple[dict[str, int], int]]:
    """Return the terms that the postings of a store give each record, and its length."""
    found: dict[int, tuple[dict[str, int], int]] = {}
    connection = sqlite3.connect(path)
    try:
        for key, term, frequency, length in connection.execute("SELECT key, term, tf, length FROM postings"):
            found[key] = ({**found.get(key, ({}, 0))[0], term: frequency}, length)
    finally:
        connection.close()
    return found


def texts_found(memory: Memory, query: str, user: str = "ann") -> list[str]:
    return [str(chunk.content) for chunk in handle(memory, user).search(query, sources=["semantic"], mode="semantic")]
