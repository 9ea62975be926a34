"""From the words of the command line to a server or a worker that runs: which store, whom it lets in, what it does."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from memoranda.engine.config import ProjectConfig
from memoranda.engine.control import ControlStore
from memoranda.engine.ports import SharedStore
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked, SystemClock, chosen_config, open_store
from memoranda.sdk.errors import MemoryConfigError
from memoranda.sdk.protocol import DEFAULT_EMBEDDER
from memoranda.server.access.administration import keys_file_of
from memoranda.server.access.gatekeeper import Access, AccessGatekeeper
from memoranda.server.access.principal import Gatekeeper, OpenGatekeeper
from memoranda.server.access.signing_keys import SigningKeys
from memoranda.server.observability.logs import LogSettings, logging_to
from memoranda.server.serving import Serving, ServingSettings, serve, work
from memoranda.server.settings import ServerSettings

Announce = Callable[[str], None]


class AnyStore(SharedStore, ControlStore, Protocol):
    """A store with all that a server needs of it."""


@dataclass(frozen=True, slots=True)
class StartOptions:
    """What a server or a worker is started with.

    ``config`` is what projects are created with. ``settings`` are fields of ``ServerSettings`` and ``ServingSettings``
    that take the place of the environment's. ``embedder`` and ``llm`` are names as for ``Memory.open``.
    """

    store: str | os.PathLike[str]
    config: Path | None = None
    keys_file: str | None = None
    embedder: str | None = DEFAULT_EMBEDDER
    llm: str | None = None
    reranker: str | None = None
    logs: LogSettings = field(default_factory=LogSettings)
    settings: Mapping[str, Any] = field(default_factory=dict)


def run_dev_server(options: StartOptions, announce: Announce) -> None:
    """Serve a store to everybody on this machine: no token, projects come to be at their first use.

    A configuration that was given is in force in all projects that are there, and in those to come; one that it may
    not change raises ``ConfigChangeError`` before anything is served.
    """
    given = {"config_model_urls": ("*",), "config_secrets": ("*",), **options.settings}
    server, serving = _settings(given)
    config = chosen_config(options.config)
    with logging_to(options.logs):
        host = _host(open_store(options.store), options, config, create_projects=True)
        _serve(Serving(host, OpenGatekeeper(server.default_project), server, serving), config, announce)


def run_server(options: StartOptions, announce: Announce, *, authentication: bool = True) -> None:
    """Serve the projects of a store to those who have a token; without ``authentication`` to everybody."""
    server, serving = _settings(options.settings)
    with logging_to(options.logs):
        config, store = chosen_config(options.config), open_store(options.store)
        host = _host(store, options, config, create_projects=not authentication)
        gatekeeper: Gatekeeper = OpenGatekeeper(server.default_project)
        if authentication:
            gatekeeper = _gatekeeper(store, options.keys_file)
        _serve(Serving(host, gatekeeper, server, serving), None, announce)


def run_worker(options: StartOptions, announce: Announce) -> None:
    """Do the background work of all projects of a store, until the process is told to end."""
    _, serving = _settings(options.settings)
    with logging_to(options.logs):
        work(_host(open_store(options.store), options, None, create_projects=False), serving, announce)


def _serve(serving: Serving, config: ProjectConfig | None, announce: Announce) -> None:
    try:
        for project_id in serving.host.projects() if config is not None else ():
            serving.host.apply(project_id, config or ProjectConfig())
    except BaseException:
        serving.host.close()
        raise
    serve(serving, announce)


def _host(store: AnyStore, options: StartOptions, config: ProjectConfig | None, *, create_projects: bool) -> EngineHost:
    asked = Asked(embedder=options.embedder, llm=options.llm, reranker=options.reranker, clock=None)
    return EngineHost(store, asked=asked, config=config, create_projects=create_projects)


def _gatekeeper(store: AnyStore, keys_file: str | None) -> AccessGatekeeper:
    clock = SystemClock()
    return AccessGatekeeper(Access.of(store, SigningKeys(keys_file_of(store.describe(), keys_file), clock), clock))


def _settings(given: Mapping[str, Any]) -> tuple[ServerSettings, ServingSettings]:
    """Return the settings of both kinds; raises ``MemoryConfigError`` for what cannot be, naming it."""
    try:
        server = ServerSettings(**{name: value for name, value in given.items() if name in ServerSettings.model_fields})
        serving = ServingSettings(
            **{name: value for name, value in given.items() if name in ServingSettings.model_fields}
        )
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        variable = f"{ServerSettings.model_config['env_prefix']}{name}".upper()
        raise MemoryConfigError(f"{name} ({variable}): {first['msg']} (got {first['input']!r})") from error
    return server, serving
