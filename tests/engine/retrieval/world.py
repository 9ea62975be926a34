"""A world to search in: words as vectors, providers that fail on request, and a store whose legs can break."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memoranda.engine.config_model import MetadataKey, ProjectConfig
from memoranda.engine.embedding import EmbeddingService
from memoranda.engine.ports import Reranker, Store, Transaction
from memoranda.engine.records import BUILT_IN_KINDS, PROFILE
from memoranda.engine.retrieval.hits import SearchResult
from memoranda.engine.retrieval.plan import Mode, SearchRequest, SourcePlan
from memoranda.engine.retrieval.search import Searcher
from memoranda.engine.retrieval.settings import RetrievalSettings
from memoranda.engine.rows import DocumentRow, LegQuery, ScoredKey, SearchRows, TextMatches
from memoranda.engine.scope import Scope
from memoranda.sdk.errors import MemoryStoreError
from tests.engine.background_world import PROJECT, count_words
from tests.engine.memory.world import MemoryWorld, open_memory_world

CONFIG = ProjectConfig(metadata_partition_key=(MetadataKey("tier", "string"),))
_SYNONYMS = {"car": "auto", "physician": "doctor"}


def word_vectors(texts: Sequence[str]) -> list[list[float]]:
    """Embed by counting words in eight buckets; words of one meaning share one."""
    vectors = []
    for text in texts:
        vector = [0.01] * 8
        for word in text.lower().replace("\n", " ").split():
            vector[zlib.crc32(_SYNONYMS.get(word, word).encode()) % 8] += 1.0
        vectors.append(vector)
    return vectors


class BrokenLegs:
    """``SearchRows`` in which the named legs of the named sources fail."""

    def __init__(self, rows: SearchRows, broken: Collection[tuple[str, str]]) -> None:
        self._rows = rows
        self._broken = broken

    def text(self, query: LegQuery, terms: Sequence[str]) -> TextMatches:
        self._check(query.source, "text")
        return self._rows.text(query, terms)

    def vectors(self, query: LegQuery, model: str, vector: Sequence[float], limit: int) -> Sequence[ScoredKey]:
        self._check(query.source, "semantic")
        return self._rows.vectors(query, model, vector, limit)

    def documents(self, keys: Sequence[int]) -> Sequence[DocumentRow]:
        return self._rows.documents(keys)

    def listing(self, query: LegQuery, limit: int) -> Sequence[int]:
        return self._rows.listing(query, limit)

    def _check(self, source: str, leg: str) -> None:
        if (source, leg) in self._broken:
            raise MemoryStoreError(f"the {leg} leg of {source} is broken")


class TransactionWithBrokenLegs:
    """A transaction whose ``search`` may fail; everything else is the real one's."""

    def __init__(self, transaction: Transaction, broken: Collection[tuple[str, str]]) -> None:
        self._transaction = transaction
        self.search = BrokenLegs(transaction.search, broken)

    def __getattr__(self, name: str) -> object:
        return getattr(self._transaction, name)


class WatchedStore:
    """A store that counts its reads and breaks legs of them on request."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.reads = 0
        self.broken: set[tuple[str, str]] = set()

    @contextmanager
    def read(self, project_id: str) -> Iterator[object]:
        self.reads += 1
        with self._store.read(project_id) as transaction:
            yield TransactionWithBrokenLegs(transaction, self.broken)

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


@dataclass
class SearchWorld:
    """A memory world, and searches over it."""

    memory: MemoryWorld
    reranker: Reranker | None = None
    settings: RetrievalSettings = field(default_factory=RetrievalSettings)

    def __post_init__(self) -> None:
        self.background = self.memory.background
        self.store = WatchedStore(self.background.store)
        if self.background.embedder is not None:
            self.background.embedder.answer = word_vectors

    def say(self, *contents: str | None, **fields: object) -> list[str]:
        """Record turns and embed them; return their ids."""
        turns = self.background.say(*contents, **fields)  # type: ignore[arg-type]
        self.background.drain(promote=False)
        return [turn.id for turn in turns]

    def searcher(self) -> Searcher:
        return Searcher(
            self.store,  # type: ignore[arg-type]  # a proxy of the real one
            PROJECT,
            analyser=self.background.analyser,
            clock=self.background.clock,
            embedding=EmbeddingService(self.background.embedder, count_words),
            reranker=self.reranker,
            kinds=(*BUILT_IN_KINDS, PROFILE),
            settings=self.settings,
        )

    def search(
        self,
        query: str,
        *sources: str | SourcePlan,
        mode: Mode = Mode.HYBRID,
        user: str | None = "ann",
        **fields: object,
    ) -> SearchResult:
        """Search sources (``semantic`` where none is named) as a user."""
        plans = [
            source if isinstance(source, SourcePlan) else SourcePlan(source, mode)
            for source in (sources or ("semantic",))
        ]
        return self.searcher().search(SearchRequest(query, Scope(user_id=user), plans, **fields))  # type: ignore[arg-type]

    def texts(self, query: str, *sources: str | SourcePlan, **fields: object) -> list[str]:
        """Return the texts that a search finds, best first."""
        return [hit.text for hit in self.search(query, *sources, **fields).hits]  # type: ignore[arg-type]


@contextmanager
def open_search_world(path: Path, *, embeds: bool) -> Iterator[SearchWorld]:
    with open_memory_world(path, config=CONFIG, embeds=embeds) as memory:
        yield SearchWorld(memory)
