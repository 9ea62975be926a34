"""A server on loopback for tests: real HTTP, in a thread of this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from memoranda.engine.extraction.items import Extractor
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked, chosen_config, open_store
from memoranda.server.serving import listening
from memoranda.testing.clock import ManualClock
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.extractors import QuietExtractor

TICKETS = "tickets"
CONFIG: dict[str, Any] = {
    "memory": {
        "custom_memory_types": [
            {"name": TICKETS, "collection": "tickets", "tags": [{"name": "queue"}, {"name": "profile.location"}]},
        ],
        "metadata_partition_key": [{"name": "tier", "type": "string"}],
    }
}
START_SECONDS = 20.0


def open_host(
    folder: Path,
    *,
    config: dict[str, Any] | None = None,
    create_projects: bool = True,
    clock: ManualClock | None = None,
    extractor: Extractor | None = None,
) -> EngineHost:
    """Return a host over a store in ``folder``, with the embedder and (by default) the extractor of tests.

    Projects come to be at their first use, with ``CONFIG`` unless another configuration is given.
    """
    return EngineHost(
        open_store(folder / "memory.db"),
        asked=Asked(HashedEmbedder(), extractor or QuietExtractor(), None, clock),
        config=chosen_config(CONFIG if config is None else config),
        create_projects=create_projects,
    )


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Serve an application on a free port of loopback while the block runs; yield its URL."""
    with listening("127.0.0.1", 0) as listener:
        config = uvicorn.Config(app, log_level="critical", access_log=False, ws="none", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="live-server", daemon=True)
        thread.start()
        try:
            _wait_until_started(server, thread)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the server did not start")
        time.sleep(0.005)
