"""Who wants to know of commits that enqueued a job."""

from __future__ import annotations

import threading
from collections.abc import Callable

Wake = Callable[[str], None]


class CommitListeners:
    """The listeners of a store, by the project they listen to; a commit costs those of its own project. Thread-safe."""

    def __init__(self) -> None:
        self.renew_lock()
        # Tuples are replaced, never changed: a commit reads them without a lock.
        self._by_project: dict[str | None, tuple[Wake, ...]] = {}

    def renew_lock(self) -> None:
        """Take over in a forked child, where whoever held the lock does not exist."""
        self._changing = threading.Lock()

    def add(self, wake: Wake, project_id: str | None) -> Callable[[], None]:
        """Call ``wake`` from now on; return what ends it."""

        # An object of its own: the same function may be added twice, and each is ended by itself.
        def listener(committed: str) -> None:
            wake(committed)

        with self._changing:
            self._by_project[project_id] = (*self._by_project.get(project_id, ()), listener)

        def end() -> None:
            with self._changing:
                left = tuple(other for other in self._by_project.get(project_id, ()) if other is not listener)
                if left:
                    self._by_project[project_id] = left
                else:
                    self._by_project.pop(project_id, None)

        return end

    def call(self, project_id: str) -> None:
        """Call whoever listens to this project, and to all."""
        for key in (project_id, None):
            for listener in self._by_project.get(key, ()):
                listener(project_id)
