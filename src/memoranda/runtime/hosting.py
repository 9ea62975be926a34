"""The engines of one store, one a project: opened at first use, shared by all callers, closed when idle."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memoranda.engine.config import ProjectConfig
from memoranda.engine.engine import MemoryEngine, Providers
from memoranda.engine.ports import SharedStore
from memoranda.engine.project import check_project_id, stored_config
from memoranda.engine.records import JsonObject, ProjectRow
from memoranda.runtime.opening import Asked, chosen_providers
from memoranda.runtime.runtime import EngineRuntime
from memoranda.sdk.errors import (
    MemoryClientError,
    MemoryConflictError,
    MemoryNotProvisionedError,
    MemoryStoreError,
)

logger = logging.getLogger(__name__)

UNKNOWN_PROJECT = "NO_WORKSPACE_ENDPOINT"
"""The code of an error that says: this project does not exist here."""
CANNOT_OPEN = "PROJECT_RUNTIME_FAILED"
"""The code of an error that says: the project exists and cannot be opened as it is configured."""


class _Hosted:
    """One project's engine and those who use it. ``leases`` is guarded by the host's lock, the rest by ``opening``."""

    def __init__(self, project_id: str) -> None:
        self.project_id = project_id
        self.opening = threading.Lock()
        self.runtime: EngineRuntime | None = None
        self.leases = 0
        self.config: JsonObject | None = None
        self.looked_at = 0.0


class EngineHost:
    """The engines of one store. Thread-safe; an engine is never closed under a caller.

    Engines run no background work of their own: see ``memoranda.runtime.fleet``. Providers are chosen from a project's
    stored configuration and shared between the projects that ask for the same.
    """

    def __init__(
        self,
        store: SharedStore,
        *,
        asked: Asked,
        config: ProjectConfig | None = None,
        create_projects: bool = False,
        max_open: int = 256,
        relook_seconds: float = 1.0,
    ) -> None:
        """Serve the projects of ``store``, which the host closes.

        ``config`` is what projects are created with; ``create_projects`` creates one at its first use. Idle engines
        beyond ``max_open`` are closed, those not used for longest first. A configuration that another process applied
        is noticed within ``relook_seconds``.
        """
        self.store = store
        self._asked = asked
        self._config = config
        self._create_projects = create_projects
        self._max_open = max_open
        self._relook_seconds = relook_seconds
        self._hosted: OrderedDict[str, _Hosted] = OrderedDict()
        self._lock = threading.Lock()
        self._returned = threading.Condition(self._lock)
        self._leased = 0
        self._closed = False
        self._providers: dict[str, Providers] = {}
        self._choosing = threading.Lock()
        self._wake: Callable[[str], None] | None = None

    @contextmanager
    def runtime(self, project_id: str) -> Iterator[EngineRuntime]:
        """Lease the runtime of a project, opening it where needed.

        Raises ``MemoryNotProvisionedError``: code ``NO_WORKSPACE_ENDPOINT`` for a project that does not exist (unless
        projects are created at first use), ``PROJECT_RUNTIME_FAILED`` for one that cannot be opened as configured.
        """
        hosted, runtime = self._lease(project_id)
        try:
            yield runtime
        except MemoryConflictError as error:
            if error.code == "ANALYSER_MISMATCH" or error.error_code == "EMBEDDER_MISMATCH":
                self._retire(hosted)  # Another process gave the project other terms or vectors: open it anew.
            raise
        finally:
            self._release(hosted)

    def projects(self) -> list[str]:
        """Return the ids of all projects of the store, in order."""
        return list(self.store.projects())

    def create(self, project_id: str, config: ProjectConfig | None = None) -> None:
        """Create a project, with the host's configuration unless one is given.

        Raises ``MemoryConflictError`` (code ``PROJECT_EXISTS``) when there is one of this id.
        """
        check_project_id(project_id)
        if self._row(project_id) is not None:
            raise MemoryConflictError(f"there is a project {project_id!r} already", code="PROJECT_EXISTS")
        self.apply(project_id, config or self._config or ProjectConfig())

    def provision(self, project_id: str) -> bool:
        """Create a project that is not there, where projects are created at first use; return whether it was created.

        Raises ``MemoryNotProvisionedError`` where they are not.
        """
        if self._row(check_project_id(project_id)) is not None:
            return False
        with self.runtime(project_id):
            return True

    def apply(self, project_id: str, config: ProjectConfig) -> None:
        """Put a configuration into force, creating the project where there is none; callers get it from now on.

        Raises ``MemoryConfigError`` for what may not change or cannot be had (a missing key), and
        ``MemoryConflictError`` for another embedder than that of the project's vectors; then nothing has changed.
        """
        self._open_engine(project_id, config).close()
        self.reload(project_id)

    def reload(self, project_id: str) -> None:
        """Have the project opened anew by whoever asks next; calls under way end on the engine they have."""
        with self._lock:
            hosted = self._hosted.get(project_id)
        if hosted is not None:
            self._retire(hosted)

    def open_projects(self) -> list[str]:
        """Return the projects that have an engine in this process now."""
        with self._lock:
            return list(self._hosted)

    def leave_work_to(self, wake: Callable[[str], None]) -> None:
        """Say who runs the background work; ``wake`` is called with a project whose work somebody waits for.

        Until then whoever waits for it does it.
        """
        self._wake = wake
        for project_id in self.open_projects():
            self.reload(project_id)

    def close(self, timeout: float = 30.0) -> None:
        """Close every engine once its callers are done (for at most ``timeout`` seconds), then the store."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if not self._returned.wait_for(lambda: self._leased == 0, timeout):
                logger.warning("host.closed_under_callers", extra={"leases": self._leased})
            left = list(self._hosted.values())
            self._hosted.clear()
        for hosted in left:
            _close(hosted)
        self.store.close()

    # --- leases

    def _lease(self, project_id: str) -> tuple[_Hosted, EngineRuntime]:
        while True:
            hosted = self._taken(project_id)
            try:
                runtime = self._opened(hosted)
                if not self._is_outdated(hosted):
                    return hosted, runtime
                self._retire(hosted)
            except BaseException:
                self._retire(hosted)
                self._release(hosted)
                raise
            self._release(hosted)

    def _taken(self, project_id: str) -> _Hosted:
        with self._lock:
            if self._closed:
                raise MemoryStoreError("the server is shutting down; ask again", status=503, code="SHUTTING_DOWN")
            hosted = self._hosted.get(project_id)
            if hosted is None:
                hosted = self._hosted[project_id] = _Hosted(project_id)
            self._hosted.move_to_end(project_id)
            hosted.leases += 1
            self._leased += 1
            return hosted

    def _release(self, hosted: _Hosted) -> None:
        with self._lock:
            hosted.leases -= 1
            self._leased -= 1
            unused = [hosted] if hosted.leases == 0 and self._hosted.get(hosted.project_id) is not hosted else []
            unused += self._evicted()
            if self._leased == 0:
                self._returned.notify_all()
        for each in unused:
            _close(each)

    def _evicted(self) -> list[_Hosted]:
        """Take out what is idle beyond ``max_open``, the longest unused first."""
        beyond = len(self._hosted) - self._max_open
        if beyond <= 0:
            return []
        idle = [hosted for hosted in self._hosted.values() if hosted.leases == 0][:beyond]
        for hosted in idle:
            del self._hosted[hosted.project_id]
        return idle

    def _retire(self, hosted: _Hosted) -> None:
        """Give this engine to nobody any more; it is closed now, or by the last who uses it."""
        with self._lock:
            if self._hosted.get(hosted.project_id) is not hosted:
                return
            del self._hosted[hosted.project_id]
            unused = hosted.leases == 0
        if unused:
            _close(hosted)

    # --- opening

    def _opened(self, hosted: _Hosted) -> EngineRuntime:
        with hosted.opening:
            if hosted.runtime is None:
                row = self._row(check_project_id(hosted.project_id))
                if row is None and not self._create_projects:
                    raise MemoryNotProvisionedError(
                        f"there is no project {hosted.project_id!r} here: create it (memoranda project create), or "
                        "check the project id",
                        status=404,
                        code=UNKNOWN_PROJECT,
                    )
                engine = self._open_engine(hosted.project_id, self._config if row is None else None)
                self._adopt(hosted, engine)
            if hosted.runtime is None:
                raise AssertionError("adopting an engine leaves a runtime")
            return hosted.runtime

    def _adopt(self, hosted: _Hosted, engine: MemoryEngine) -> None:
        wake, project_id = self._wake, hosted.project_id
        if wake is not None:
            engine.background.leave_to_others(lambda: wake(project_id))
        row = self._row(project_id)
        hosted.config, hosted.looked_at = (None if row is None else row.config), time.monotonic()
        hosted.runtime = EngineRuntime(engine, shares_store=True)

    def _open_engine(self, project_id: str, config: ProjectConfig | None) -> MemoryEngine:
        in_force = stored_config(self._row(project_id)) if config is None else config
        try:
            providers = self._chosen_providers(in_force)
            return MemoryEngine(self.store, project_id, providers, config=config, worker=False)
        except (MemoryClientError, MemoryConflictError) as error:
            if config is not None:
                raise  # It is the caller's configuration that cannot be.
            raise MemoryNotProvisionedError(
                f"project {project_id!r} cannot be opened: {error}", status=503, code=CANNOT_OPEN
            ) from error

    def _chosen_providers(self, config: ProjectConfig) -> Providers:
        key = repr((config.voyage, config.extraction_llm))
        with self._choosing:
            if key not in self._providers:
                self._providers[key] = chosen_providers(self._asked, config)
            return self._providers[key]

    # --- what other processes do

    def _is_outdated(self, hosted: _Hosted) -> bool:
        """Whether another process has put a configuration into force since; looked up once in a while, by one."""
        if time.monotonic() - hosted.looked_at < self._relook_seconds:
            return False
        hosted.looked_at = time.monotonic()
        row = self._row(hosted.project_id)
        return row is not None and row.config != hosted.config

    def _row(self, project_id: str) -> ProjectRow | None:
        with self.store.read(project_id) as tx:
            return tx.projects.get()


def _close(hosted: _Hosted) -> None:
    if hosted.runtime is not None:
        hosted.runtime.close()
