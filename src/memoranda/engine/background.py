"""Wires the background work of one project: who runs which job, and the service in front."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from memoranda.engine.analyser import Analyser
from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.embedding import EmbeddingService
from memoranda.engine.extraction.items import Extractor
from memoranda.engine.extraction.local import LocalExtractor
from memoranda.engine.extraction.pipeline import ExtractHandler, snapshot_failed
from memoranda.engine.extraction.reconcile import Reconciler
from memoranda.engine.extraction.related import RelatedMemories
from memoranda.engine.extraction.snapshot import Promoter
from memoranda.engine.feed.reading import ChangeFeed
from memoranda.engine.jobs.backfill import BackfillHandler
from memoranda.engine.jobs.embed import EmbedHandler
from memoranda.engine.jobs.expire import ExpireHandler
from memoranda.engine.jobs.handler import JobHandler
from memoranda.engine.jobs.planner import JobPlanner
from memoranda.engine.jobs.service import BackgroundService
from memoranda.engine.jobs.worker import Handlers, Worker, WorkerSettings
from memoranda.engine.memories import MemoryWriter
from memoranda.engine.ports import Clock, Store
from memoranda.engine.records import BUILT_IN_KINDS, IMAGE, JobKind


@dataclass(frozen=True, slots=True)
class BackgroundParts:
    """What background work stands on. ``extractors`` by the name that jobs ask for; ``purge`` ends deletions."""

    store: Store
    project_id: str
    clock: Clock
    config: ProjectConfig
    analyser: Analyser
    planner: JobPlanner
    writer: MemoryWriter
    embedding: EmbeddingService
    extractors: Mapping[str, Extractor]
    purge: JobHandler | None = None


def build_background(parts: BackgroundParts, settings: WorkerSettings | None = None) -> BackgroundService:
    """Return the service with its worker, which is not started; providers in ``settings`` are those of the parts.

    The built-in extractor is always there: its jobs must not wait forever once a project has a model.
    """
    built_in = LocalExtractor()
    parts = replace(parts, extractors={built_in.name: built_in, **parts.extractors})
    store, project_id, clock = parts.store, parts.project_id, parts.clock
    promoter = Promoter(
        store, project_id, clock, config=parts.config, planner=parts.planner, embedder=parts.embedding.name
    )
    feed = ChangeFeed(store, project_id, clock, parts.config.change_feed)
    embedder = (parts.embedding.name,) if parts.embedding.available else ()
    provided = replace(settings or WorkerSettings(), extractors=("", *parts.extractors), embedders=("", *embedder))
    extract = ExtractHandler(
        store,
        project_id,
        clock,
        config=parts.config,
        extractors=parts.extractors,
        reconciler=Reconciler(parts.writer, parts.analyser, clock),
        related=RelatedMemories(parts.analyser, clock, parts.embedding),
    )
    handlers = Handlers(
        {JobKind.EXTRACT: extract, **_handlers(parts, promoter, feed)},
        on_failure={JobKind.EXTRACT: snapshot_failed},
        before=feed.tidy,
    )
    worker = Worker(store, project_id, clock, handlers, provided)
    return BackgroundService(store, project_id, clock, worker=worker, promoter=promoter, provide=extract.provide)


def _handlers(parts: BackgroundParts, promoter: Promoter, feed: ChangeFeed) -> dict[JobKind, JobHandler]:
    store, project_id, clock = parts.store, parts.project_id, parts.clock
    kinds = (*BUILT_IN_KINDS, *(custom.name for custom in parts.config.custom_memory_types))
    handlers: dict[JobKind, JobHandler] = {
        JobKind.PROMOTE: promoter,
        JobKind.EXPIRE: ExpireHandler(store, project_id, clock, parts.writer, feed),
        JobKind.BACKFILL: BackfillHandler(
            store, project_id, clock, analyser=parts.analyser, config=parts.config, planner=parts.planner
        ),
    }
    if parts.embedding.available:
        handlers[JobKind.EMBED] = EmbedHandler(
            store, project_id, clock, parts.embedding, (*kinds, IMAGE), planner=parts.planner
        )
    if parts.purge is not None:
        handlers[JobKind.PURGE] = parts.purge
    return handlers
