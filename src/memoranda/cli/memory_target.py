"""Whose configuration `memoranda memory` works on: a project of a server, or of a store on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from memoranda.cli.ending import CommandError, WrongUsageError
from memoranda.cli.store import require_store
from memoranda.sdk._environment import read_environment
from memoranda.sdk._settings import HttpSettings, resolve_settings

if TYPE_CHECKING:
    from memoranda.runtime.configuring import ConfigState, ProjectConfigs

_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class Told:
    """What a target says of its project. ``state`` is `ready`, `failed` or `not provisioned`."""

    state: str
    message: str
    pending: bool
    changes: tuple[str, ...] = ()
    image: str | None = None


def server_settings(base_url: str | None, project_id: str | None) -> HttpSettings | None:
    """Return the server that is named, here or in the environment; None where none is."""
    environment = read_environment()
    if base_url is None and environment.base_url is None:
        return None
    return resolve_settings(
        service_account_token=None, api_key=None, base_url=base_url, project_id=project_id, environment=environment
    )


class ServerTarget:
    """A project of a server, over HTTP."""

    def __init__(self, settings: HttpSettings) -> None:
        headers = {} if settings.token is None else {"Authorization": f"Bearer {settings.token}"}
        self.name = settings.base_url + settings.base_path
        self._client = httpx.Client(base_url=self.name, headers=headers, timeout=_TIMEOUT)

    def configure(self, file: Path) -> Told:
        from memoranda.runtime.config_check import block_of

        return self._config(self._ask("PUT", "/config", json={"memory": block_of(file)}))

    def apply(self) -> bool:
        synced = bool(self._ask("POST", "/config/sync")["synced"])
        self._ask("POST", "/runtime/restart")
        return synced

    def told(self) -> Told:
        runtime = self._ask("GET", "/runtime")
        missing = runtime.get("blocked_on") == "NO_WORKSPACE_ENDPOINT"
        changes = self._ask("GET", "/config").get("changes", ()) if runtime.get("pending_config") else ()
        return Told(
            state="not provisioned" if missing else str(runtime["state"]),
            message=str(runtime.get("message") or ""),
            pending=bool(runtime.get("pending_config")),
            changes=tuple(changes),
            image=runtime.get("resolved_memory_image"),
        )

    def close(self) -> None:
        self._client.close()

    def _config(self, body: Mapping[str, Any]) -> Told:
        return Told("ready", "", bool(body["pending"]), tuple(body["changes"]))

    def _ask(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        try:
            answer = self._client.request(method, path, **sent)
            body = answer.json()
        except httpx.HTTPError as error:
            raise CommandError(f"{self.name} cannot be reached: {error}") from error
        except ValueError as error:
            raise CommandError(f"{self.name}{path} answered {answer.status_code} and no JSON") from error
        if not answer.is_success or not isinstance(body, dict):
            detail = body.get("error") or body.get("detail") if isinstance(body, dict) else body
            raise CommandError(f"{self.name}{path} answered {answer.status_code}: {detail}")
        return body


class StoreTarget:
    """A project of a store that this process opens itself."""

    def __init__(self, store: str, project_id: str, configs: ProjectConfigs) -> None:
        self.name = f"project {project_id!r} of {store}"
        self._project_id = project_id
        self._configs = configs

    def configure(self, file: Path) -> Told:
        from memoranda.runtime.config_check import read_config

        return _told(self._configs.store(self._project_id, read_config(file)))

    def apply(self) -> bool:
        return self._configs.apply(self._project_id)

    def told(self) -> Told:
        return _told(self._configs.state(self._project_id))


def _told(state: ConfigState) -> Told:
    return Told("ready", "ready", state.pending is not None, tuple(state.changes))


@contextmanager
def target(
    store: str | None, base_url: str | None, project_id: str | None, default_store: str
) -> Iterator[ServerTarget | StoreTarget]:
    """Open what is named: a server, else a store; without either the server of the environment, else the store."""
    if store is not None and base_url is not None:
        raise WrongUsageError("--store and --base-url name two different things; give one of them")
    settings = None if store is not None else server_settings(base_url, project_id)
    if settings is not None:
        server = ServerTarget(settings)
        try:
            yield server
        finally:
            server.close()
        return
    from memoranda.runtime.configuring import open_configs

    require_store(default_store)
    project = project_id or "default"
    with open_configs(default_store) as configs:
        yield StoreTarget(default_store, project, configs)
