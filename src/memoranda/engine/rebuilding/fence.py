"""A store that lets an engine go on only while the project stands as the engine was opened on it.

Another process may give the project other vectors or other terms. An engine that missed it would search for what is no
longer there, and write what nobody finds; it is told to be opened again instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memoranda.engine.ports import Store, StoreDescription, Transaction
from memoranda.engine.rebuilding.reading import REINDEX
from memoranda.engine.rebuilding.rows import Footing
from memoranda.engine.records import ProjectRow
from memoranda.sdk.errors import MemoryConflictError, MemoryEmbedderMismatchError


class FencedStore:
    """``Store`` for one open engine; transactions raise ``MemoryConflictError`` once the project has moved on."""

    def __init__(self, store: Store, opened: ProjectRow) -> None:
        self._store = store
        self._project_id = opened.project_id
        self._opened = Footing(
            opened.analyser,
            opened.embedder_model,
            opened.embedder_fingerprint,
            opened.embedder_dimension,
            rebuilding=False,
        )

    @contextmanager
    def read(self, project_id: str) -> Iterator[Transaction]:
        with self._store.read(project_id) as tx:
            found = tx.rebuild.footing()
            if found != self._opened:
                self._check(found)
            yield tx

    @contextmanager
    def write(self, project_id: str, *, durable: bool = True) -> Iterator[Transaction]:
        with self._store.write(project_id, durable=durable) as tx:
            found = tx.rebuild.footing()
            if found != self._opened:
                self._check(found)
                self._check_index_rests(tx)
            yield tx

    def after_commit(self, wake: Callable[[str], None], *, project_id: str | None = None) -> Callable[[], None]:
        return self._store.after_commit(wake, project_id=project_id)

    def describe(self) -> StoreDescription:
        return self._store.describe()

    def close(self) -> None:
        self._store.close()

    def _check(self, found: Footing | None) -> None:
        opened = self._opened
        if found is None:
            return
        if found.analyser != opened.analyser:
            raise MemoryConflictError(
                f"project {self._project_id!r} was indexed anew, by analyser {found.analyser!r}, while it was open "
                f"with {opened.analyser!r}: open it again",
                code="ANALYSER_MISMATCH",
            )
        if opened.embedder_model and _embedder(found) != _embedder(opened):
            raise MemoryEmbedderMismatchError(
                f"project {self._project_id!r} was given vectors of {found.embedder_model!r} "
                f"({found.embedder_dimension} dimensions) while it was open with {opened.embedder_model!r} "
                f"({opened.embedder_dimension} dimensions): open it again with the new embedder",
            )

    def _check_index_rests(self, tx: Transaction) -> None:
        """Refuse to write terms that the run which indexes the project anew would not see."""
        row = tx.projects.get()
        mark = {} if row is None else row.rebuilding.get(REINDEX, {})
        if mark and mark.get("analyser") != self._opened.analyser:
            raise MemoryConflictError(
                f"project {self._project_id!r} is being indexed anew, by analyser {mark.get('analyser')!r}: nothing "
                "was written; open it again once `memoranda reindex` is done",
                code="REINDEXING",
            )


def _embedder(footing: Footing) -> tuple[str, str, int]:
    return footing.embedder_model, footing.embedder_fingerprint, footing.embedder_dimension
