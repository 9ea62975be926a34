"""A project's configuration from outside: stored first, put into force when asked. Storing is not applying."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from memoranda.engine.config import ProjectConfig, check_change
from memoranda.engine.config_writing import changed_keys, config_document
from memoranda.engine.ports import SharedStore
from memoranda.engine.project import check_project_id, stored_config
from memoranda.engine.records import JsonObject, ProjectRow
from memoranda.runtime.hosting import UNKNOWN_PROJECT, EngineHost
from memoranda.runtime.opening import Asked, open_store
from memoranda.sdk.errors import MemoryNotProvisionedError
from memoranda.sdk.protocol import DEFAULT_EMBEDDER


@dataclass(frozen=True, slots=True)
class ConfigState:
    """The configuration in force, and the one that waits to be applied, if any."""

    applied: ProjectConfig
    pending: ProjectConfig | None = None

    @property
    def stored(self) -> ProjectConfig:
        """The configuration that was stored last."""
        return self.pending or self.applied

    @property
    def changes(self) -> list[str]:
        """The keys that applying the pending configuration changes."""
        return [] if self.pending is None else changed_keys(self.applied, self.pending)

    @property
    def document(self) -> JsonObject:
        """The ``memory:`` block of ``stored``."""
        return config_document(self.stored)


class ProjectConfigs:
    """The configurations of a host's projects."""

    def __init__(self, host: EngineHost) -> None:
        self._host = host
        self._store: SharedStore = host.store

    def state(self, project_id: str) -> ConfigState:
        """Return a project's configurations; ``MemoryNotProvisionedError`` when there is no such project."""
        return _state(self._row(project_id))

    def store(self, project_id: str, config: ProjectConfig) -> ConfigState:
        """Keep a configuration beside the one in force, to be applied later; it takes the place of one that waits.

        Raises ``ConfigChangeError`` where it changes what may not change; then nothing is stored.
        """
        check_change(_state(self._row(project_id)).applied, config)
        with self._store.write(project_id) as tx:
            row = _required(project_id, tx.projects.get())
            check_change(stored_config(row), config)
            document: JsonObject | None = json.loads(config.to_json())
            row = replace(row, pending_config=None if config == stored_config(row) else document)
            tx.projects.put(row)
        return _state(row)

    def apply(self, project_id: str) -> bool:
        """Put what waits into force, here and in every other process; return whether anything waited.

        Raises ``MemoryConfigError`` and ``MemoryConflictError`` when it cannot be; then what was in force stays.
        """
        pending = _state(self._row(project_id)).pending
        if pending is None:
            return False
        self._host.apply(project_id, pending)
        with self._store.write(project_id) as tx:
            row = _required(project_id, tx.projects.get())
            # Whatever was stored in the meantime still waits.
            if _state(row).pending == pending:
                tx.projects.put(replace(row, pending_config=None))
        return True

    def _row(self, project_id: str) -> ProjectRow:
        with self._store.read(check_project_id(project_id)) as tx:
            return _required(project_id, tx.projects.get())


@contextmanager
def open_configs(path_or_url: object) -> Iterator[ProjectConfigs]:
    """Open the configurations of a store's projects, and close it afterwards."""
    asked = Asked(embedder=DEFAULT_EMBEDDER, llm=None, reranker=None, clock=None)
    host = EngineHost(open_store(path_or_url), asked=asked)
    try:
        yield ProjectConfigs(host)
    finally:
        host.close()


def _required(project_id: str, row: ProjectRow | None) -> ProjectRow:
    if row is None:
        raise MemoryNotProvisionedError(
            f"there is no project {project_id!r} here: create it (memoranda project create), or check the project id",
            status=404,
            code=UNKNOWN_PROJECT,
        )
    return row


def _state(row: ProjectRow) -> ConfigState:
    pending = None if row.pending_config is None else ProjectConfig.from_json(json.dumps(row.pending_config))
    return ConfigState(stored_config(row), pending)
