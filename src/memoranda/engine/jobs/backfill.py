"""The back-fill job: gives the records of a source what was declared later, filter keys or the first embedder."""

from __future__ import annotations

from collections.abc import Sequence

from memoranda.engine.analyser import Analyser
from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.indexing import entry_for_image, entry_for_memory, entry_for_turn
from memoranda.engine.jobs.handler import Lease, Outcome
from memoranda.engine.jobs.planner import JobPlanner
from memoranda.engine.ports import Clock, DocumentRow, Store, Transaction
from memoranda.engine.project import after_filling
from memoranda.engine.records import IMAGE, STM, IndexEntry, Job, VectorState

_BATCH = 500


class BackfillHandler:
    """Runs back-fill jobs: walks the index of one source in key order."""

    def __init__(
        self,
        store: Store,
        project_id: str,
        clock: Clock,
        *,
        analyser: Analyser,
        config: ProjectConfig,
        planner: JobPlanner,
    ) -> None:
        self._store = store
        self._project_id = project_id
        self._clock = clock
        self._planner = planner
        self._analyser = analyser
        self._config = config

    def handle(self, job: Job, lease: Lease) -> Outcome:
        source = str(job.payload["source"])
        after, outcome = 0, Outcome.NOTHING
        while not lease.finished:
            lease.check()
            with self._store.write(self._project_id) as tx:
                rows = tx.index.keys_after(source, after, _BATCH)
                if rows:
                    tx.index.replace_values(self._entries(tx, source, rows))
                    self._embed(tx, source, rows)
                    after, outcome = rows[-1].key, Outcome.DONE
                else:
                    _mark_filled(tx, source)
                    lease.finish(tx)
        return outcome

    def _embed(self, tx: Transaction, source: str, rows: Sequence[DocumentRow]) -> None:
        without = [row for row in rows if row.vector_state is VectorState.NONE]
        if without and self._planner.embeds(source):
            tx.index.set_vector_state([row.key for row in without], VectorState.PENDING)
            self._planner.after_late_embedder(tx, source, without, self._clock.now())

    def _entries(self, tx: Transaction, source: str, rows: Sequence[DocumentRow]) -> list[IndexEntry]:
        ids = [row.record_id for row in rows]
        if source == STM:
            return [entry_for_turn(turn, self._analyser, self._config) for turn in tx.turns.get(ids)]
        if source == IMAGE:
            return [entry_for_image(image, self._analyser, self._config) for image in tx.images.get(ids)]
        return [entry_for_memory(record, self._analyser, self._config) for record in tx.memories.get(ids)]


def _mark_filled(tx: Transaction, source: str) -> None:
    row = tx.projects.get()
    if row is not None:
        tx.projects.put(after_filling(row, source))
