"""What the suite asks a front door for, over HTTP: a server on a loopback socket, and the handle that talks to it."""

from __future__ import annotations

from contextlib import ExitStack, closing

from memoranda import Memory
from memoranda.runtime.fleet import Fleet, FleetSettings
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked, chosen_config, open_store
from memoranda.sdk._connecting import connect
from memoranda.sdk._connection import Connection
from memoranda.sdk._settings import HttpSettings
from memoranda.sdk.protocol import DEFAULT_EMBEDDER
from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from tests.server.shared import placed


def open_served(
    path_or_url: object,
    *,
    project_id: str = "default",
    config: object | None = None,
    embedder: object | None = DEFAULT_EMBEDDER,
    llm: object | None = None,
    reranker: object | None = None,
    worker: bool = True,
    clock: object | None = None,
) -> Memory:
    """Serve the store and return a handle of a project; closing it ends the server too.

    The arguments are those of `Memory.open`, which here concern the server: `worker` runs a fleet beside it, and
    without one whoever waits does the work.
    """
    with ExitStack() as stack:
        asked = Asked(embedder, llm, reranker, clock)
        host = stack.enter_context(closing(EngineHost(open_store(path_or_url), asked=asked, create_projects=True)))
        read = chosen_config(config)
        if read is None:
            host.provision(project_id)
        else:
            host.apply(project_id, read)
        with host.runtime(project_id):
            """The project can be opened with these providers."""
        if worker:
            fleet = Fleet(host, FleetSettings(threads=2))
            fleet.start()
            stack.callback(fleet.stop, 10.0)
        url = stack.enter_context(placed(create_app(host, OpenGatekeeper(), ServerSettings(docs=False))))
        service = stack.enter_context(closing(connect(HttpSettings(url, project_id=project_id))))
        return Memory._over(Connection(service, service, owned=stack.pop_all()), None)
    raise AssertionError("an exit stack swallows nothing")
