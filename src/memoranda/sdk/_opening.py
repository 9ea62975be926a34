"""The one way from the SDK to the engine: the base install has none of its packages."""

from __future__ import annotations

from typing import Protocol

from memoranda.sdk._connection import Closeable
from memoranda.sdk.protocol import DEFAULT_EMBEDDER, MemoryCrudClient, MemoryRuntime


class OpenedRuntime(MemoryRuntime, MemoryCrudClient, Closeable, Protocol):
    """An engine in this process, to be closed by whoever opened it."""


def open_engine(
    path_or_url: object = "memory.db",
    *,
    project_id: str = "default",
    config: object | None = None,
    embedder: object | None = DEFAULT_EMBEDDER,
    llm: object | None = None,
    reranker: object | None = None,
    worker: bool = True,
    clock: object | None = None,
) -> OpenedRuntime:
    """Open the engine as `Memory.open` documents; ImportError naming the extra when its packages are missing."""
    try:
        from memoranda.runtime import open_runtime  # noqa: PLC0415 - the declared lazy import
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "memoranda":
            raise
        raise ImportError(
            f"Memory.open needs the engine's packages ({error.name} is missing): pip install 'memoranda[engine]'",
            name=error.name,
        ) from error
    return open_runtime(
        path_or_url,
        project_id=project_id,
        config=config,
        embedder=embedder,
        llm=llm,
        reranker=reranker,
        worker=worker,
        clock=clock,
    )
