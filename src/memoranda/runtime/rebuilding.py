"""Making the index of a store's project anew: what `memoranda reembed` and `memoranda reindex` call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memoranda.engine.ports import Store
from memoranda.engine.project import check_project_id, stored_config
from memoranda.engine.rebuilding.reading import Progress, required_project, unheard
from memoranda.engine.rebuilding.reembed import ReembedReport, reembed
from memoranda.engine.rebuilding.reindex import ReindexReport, reindex
from memoranda.providers.tokens import estimate_tokens
from memoranda.runtime.opening import chosen_clock, chosen_config, chosen_embedder, open_store
from memoranda.sdk.errors import MemoryConfigError
from memoranda.sdk.protocol import DEFAULT_EMBEDDER

__all__ = ["ReembedReport", "ReindexReport", "reembed_project", "reindex_project"]


def reembed_project(
    path_or_url: object,
    *,
    project_id: str = "default",
    embedder: object = DEFAULT_EMBEDDER,
    config: object | None = None,
    clock: object | None = None,
    progress: Progress = unheard,
) -> ReembedReport:
    """Give a project of a store vectors of this embedder, named or passed as for ``Memory.open``; see ``reembed``.

    The default embedder is that of ``config``, else of the stored configuration, else the local one; nothing else of
    ``config`` counts.
    """
    given = chosen_config(config)
    with _opened(path_or_url, project_id) as store:
        with store.read(project_id) as tx:
            stored = stored_config(required_project(tx, project_id))
        chosen = chosen_embedder(embedder, given or stored)
        if chosen is None:
            raise MemoryConfigError("there is no embedder to embed with: name one")
        return reembed(
            store,
            project_id,
            chosen,
            clock=chosen_clock(clock),
            count_tokens=estimate_tokens,
            progress=progress,
        )


def reindex_project(
    path_or_url: object,
    *,
    project_id: str = "default",
    language: str | None = None,
    progress: Progress = unheard,
) -> ReindexReport:
    """Index a project of a store anew with the analyser of this version; see ``reindex``."""
    with _opened(path_or_url, project_id) as store:
        return reindex(store, project_id, language=language, progress=progress)


@contextmanager
def _opened(path_or_url: object, project_id: str) -> Iterator[Store]:
    check_project_id(project_id)
    store = open_store(path_or_url)
    try:
        yield store
    finally:
        store.close()
