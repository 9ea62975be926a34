"""The in-process runtime: the SDK's three protocols over one engine."""

from __future__ import annotations

import logging

from memoranda.engine.config import ProjectConfig
from memoranda.engine.engine import MemoryEngine
from memoranda.engine.ports import Store
from memoranda.engine.project import stored_config
from memoranda.engine.records import ORG, SEMANTIC, IndexState
from memoranda.engine.rows import LegQuery
from memoranda.engine.scope import Scope
from memoranda.runtime.contexts import ContextCalls
from memoranda.runtime.management import ManagementCalls
from memoranda.runtime.opening import (
    Asked,
    chosen_config,
    chosen_providers,
    names_providers,
    open_store,
)
from memoranda.runtime.records import RecordCalls
from memoranda.runtime.searches import SearchCalls
from memoranda.runtime.turns import TurnCalls
from memoranda.sdk.models import MemoryChunk
from memoranda.sdk.protocol import DEFAULT_EMBEDDER, MemoryRequestContext
from memoranda.stores.sql.store import SqlStore


class EngineRuntime(TurnCalls, SearchCalls, ContextCalls, RecordCalls, ManagementCalls):
    """``MemoryRuntime``, ``MemoryCrudClient`` and ``MemoryManagement`` over a ``MemoryEngine``."""

    def __init__(self, engine: MemoryEngine, *, shares_store: bool = False) -> None:
        super().__init__(engine)
        self._shares_store = shares_store

    @property
    def engine(self) -> MemoryEngine:
        return self._engine

    def close(self) -> None:
        """Close the engine and its store; accepted work is durable and is finished after reopening. Again is harmless.

        A store that serves other engines as well is left to whoever opened it.
        """
        self._engine.close()
        if not self._shares_store:
            self._engine.store.close()


def open_runtime(
    path_or_url: object = "memory.db",
    *,
    project_id: str = "default",
    config: object | None = None,
    embedder: object | None = DEFAULT_EMBEDDER,
    llm: object | None = None,
    reranker: object | None = None,
    worker: bool = True,
    clock: object | None = None,
) -> EngineRuntime:
    """Open a project of a store with an engine in this process; ``Memory.open`` documents the arguments.

    Everything that was passed is checked before the store is opened or created.
    """
    read_config, asked = chosen_config(config), Asked(embedder, llm, reranker, clock)
    providers = chosen_providers(asked, read_config or ProjectConfig())
    store = open_store(path_or_url)
    try:
        if read_config is None:
            stored = _stored_config(store, project_id)
            providers = chosen_providers(asked, stored) if names_providers(stored) else providers
        engine = MemoryEngine(store, project_id, providers, config=read_config, worker=worker)
        _set_log_level(engine.config)
        _prepare_reads(engine, store)
        return EngineRuntime(engine)
    except BaseException:
        store.close()
        raise


def _prepare_reads(engine: MemoryEngine, store: SqlStore) -> None:
    """Make now what is made once a process and would otherwise keep the first read waiting: models, statements."""
    for model in (MemoryRequestContext, MemoryChunk):
        model.model_rebuild()
    store.prepare_reads()
    nothing = LegQuery(Scope(visibility=ORG), SEMANTIC, (IndexState.CURRENT,), engine.clock.now())
    with engine.store.read(engine.project_id) as tx:
        tx.search.text(nothing, ())


def _set_log_level(config: ProjectConfig) -> None:
    """Have our loggers tell as much as the configuration says; where it says nothing, nothing is changed."""
    if config.log_level is not None:
        logging.getLogger("memoranda").setLevel(config.log_level.upper())


def _stored_config(store: Store, project_id: str) -> ProjectConfig:
    with store.read(project_id) as tx:
        return stored_config(tx.projects.get())
