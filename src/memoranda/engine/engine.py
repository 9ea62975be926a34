"""The memory engine of one project: services wired to a store and providers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memoranda.engine.analyser import Analyser
from memoranda.engine.background import BackgroundParts, build_background
from memoranda.engine.config import CustomType, ProjectConfig
from memoranda.engine.context.assemble import ContextAssembler
from memoranda.engine.deletion import DeletionService
from memoranda.engine.embedding import EmbeddingService
from memoranda.engine.extraction.items import Extractor
from memoranda.engine.feed.reading import ChangeFeed
from memoranda.engine.images import ImageService, ImageWriter
from memoranda.engine.jobs.planner import JobPlanner
from memoranda.engine.links import LinkService
from memoranda.engine.memories import MemoryWriter
from memoranda.engine.memory_service import MemoryService
from memoranda.engine.ports import Clock, Embedder, Reranker, Store, TokenCounter
from memoranda.engine.profiles import ProfileService
from memoranda.engine.project import check_project_id, open_project, searched_kinds, stored_config
from memoranda.engine.purge import PurgeHandler, Purger
from memoranda.engine.rebuilding.fence import FencedStore
from memoranda.engine.records import BUILT_IN_KINDS, ProjectRow
from memoranda.engine.retrieval.search import Searcher
from memoranda.engine.turns import TurnService
from memoranda.sdk.errors import MemoryBadRequestError


@dataclass(frozen=True, slots=True)
class Providers:
    """What the engine is given from outside; without an ``embedder`` search is by text alone."""

    clock: Clock
    count_tokens: TokenCounter
    extractor: Extractor
    embedder: Embedder | None = None
    reranker: Reranker | None = None


class MemoryEngine:
    """One project of one store, open. Thread-safe; a forked child uses it as it is."""

    def __init__(
        self, store: Store, project_id: str, providers: Providers, *, config: ProjectConfig | None, worker: bool
    ) -> None:
        """Open the project; see ``open_project`` for what is compared and stored. ``worker`` runs background work."""
        self.store: Store = store
        self.project_id = check_project_id(project_id)
        self.clock = providers.clock
        self._closed = False
        self._end_waking: Callable[[], None] | None = None
        self.analyser = Analyser(self._configured(config).analyser.language)
        opened = open_project(
            store,
            project_id,
            config=config,
            analyser_version=self.analyser.version,
            embedder=providers.embedder,
            clock=providers.clock,
        )
        # From here on nothing reads or writes past another process that changes the terms or the vectors.
        self.store = FencedStore(store, opened.row)
        self.config = opened.config
        self._wire(providers, opened.row.embedder_model)
        if worker:
            # A forked child starts a worker of its own with its first write.
            self._end_waking = store.after_commit(lambda _: self._ensure_worker(), project_id=project_id)
            self._ensure_worker()

    def _configured(self, config: ProjectConfig | None) -> ProjectConfig:
        """Return the configuration that will be in force, whose language the analyser needs to know first."""
        if config is not None:
            return config
        with self.store.read(self.project_id) as tx:
            return stored_config(tx.projects.get())

    def _wire(self, providers: Providers, recorded_embedder: str) -> None:
        store, project_id, clock, config = self.store, self.project_id, self.clock, self.config
        name = recorded_embedder if providers.embedder is not None else None
        self.embedding = EmbeddingService(providers.embedder, providers.count_tokens, name=name)
        # Opened without the project's embedder, jobs wait for a worker that has it.
        planner = JobPlanner(config, embedder=recorded_embedder, extractor=providers.extractor.name)
        writer = MemoryWriter(self.analyser, clock, config, planner)
        purger = Purger(writer)
        self.turns = TurnService(
            store, project_id, analyser=self.analyser, clock=clock, config=config, planner=planner, purger=purger
        )
        self.memories = MemoryService(
            store, project_id, writer=writer, embedding=self.embedding, clock=clock, config=config
        )
        self.links = LinkService(store, project_id, writer=writer, clock=clock)
        self.profiles = ProfileService(
            store, project_id, analyser=self.analyser, embedding=self.embedding, clock=clock, config=config
        )
        images = ImageWriter(self.analyser, clock, config, planner)
        self.images = ImageService(store, project_id, writer=images, clock=clock)
        self.deletion = DeletionService(store, project_id, purger=purger, clock=clock)
        self.searcher = Searcher(
            store,
            project_id,
            analyser=self.analyser,
            clock=clock,
            embedding=self.embedding,
            reranker=providers.reranker,
            kinds=searched_kinds(config),
        )
        self.assembler = ContextAssembler(self.searcher, providers.count_tokens)
        self.feed = ChangeFeed(store, project_id, clock, config.change_feed)
        self.background = build_background(
            BackgroundParts(
                store=store,
                project_id=project_id,
                clock=clock,
                config=config,
                analyser=self.analyser,
                planner=planner,
                writer=writer,
                embedding=self.embedding,
                extractors={providers.extractor.name: providers.extractor},
                purge=PurgeHandler(store, project_id, purger),
            )
        )

    def _ensure_worker(self) -> None:
        """Have a worker in this process."""
        if not self._closed and not self.background.worker.running:
            self.background.worker.start()

    def custom_type(self, name: str) -> CustomType:
        """Return a declared custom type; ``MemoryBadRequestError`` for any other name."""
        declared = self.config.custom_type(name)
        if declared is None:
            known = ", ".join(sorted(custom.name for custom in self.config.custom_memory_types)) or "none"
            raise MemoryBadRequestError(
                f"unknown custom memory type {name!r}; declared in memory.custom_memory_types: {known}",
                code="UNKNOWN_MEMORY_TYPE",
            )
        return declared

    def check_kind(self, name: str) -> None:
        """Raise ``MemoryBadRequestError`` unless a kind is built in or declared."""
        if name not in BUILT_IN_KINDS:
            self.custom_type(name)

    def project(self) -> ProjectRow:
        """Return the project's row as it is now."""
        with self.store.read(self.project_id) as tx:
            row = tx.projects.get()
        if row is None:
            raise MemoryBadRequestError(f"project {self.project_id!r} is not in this store", code="PROJECT_UNKNOWN")
        return row

    def close(self) -> None:
        """Stop the worker after its present job; what is queued is durable and goes on later. The store stays open."""
        self._closed = True
        if self._end_waking is not None:
            self._end_waking()
        self.background.worker.stop()
