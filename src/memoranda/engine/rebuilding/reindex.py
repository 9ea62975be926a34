"""Re-indexing: the terms, lengths and filterable values of every record, as the present analyser makes them.

One transaction a batch, in key order; how far it has come is in the project's row, so that a run that was interrupted
goes on there. A record's postings are those of its list of terms at all times; only the statistics mix meanwhile. From
the first transaction to the last the project is not opened, and an engine that has it open with another analyser may
read and not write: what it wrote would be found by nobody.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace

from memoranda.engine.analyser import Analyser
from memoranda.engine.config import AnalyserConfig
from memoranda.engine.ports import Store, Transaction
from memoranda.engine.project import stored_config
from memoranda.engine.rebuilding.reading import REINDEX, Progress, entry_of, records_of, required_project, unheard
from memoranda.engine.records import JsonObject, ProjectRow
from memoranda.sdk.errors import MemoryConflictError

logger = logging.getLogger(__name__)

BATCH = 200


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """What a run did: ``records`` are those that it indexed itself, after what an interrupted one had done."""

    analyser: str
    language: str
    records: int


def reindex(
    store: Store,
    project_id: str,
    *,
    language: str | None = None,
    progress: Progress = unheard,
    batch: int = BATCH,
) -> ReindexReport:
    """Index a project anew with this process's analyser; the project may have been made with another.

    ``language`` (default: the project's own; of a run that was interrupted, that one's) becomes the project's; each
    transaction does ``batch`` records. Raises ``MemoryNotFoundError``, ``ValueError`` for an unknown language, and
    ``MemoryConflictError`` when another run takes over.
    """
    run = _Run(store, project_id, progress, batch)
    run.begin(language)
    while run.step():
        pass
    logger.info("reindexed", extra={"analyser": run.analyser.version, "records": run.done})
    return ReindexReport(run.analyser.version, run.analyser.language, run.done)


class _Run:
    def __init__(self, store: Store, project_id: str, progress: Progress, batch: int) -> None:
        self._store = store
        self._project_id = project_id
        self._progress = progress
        self._batch = batch
        self.analyser = Analyser()
        self.done = 0

    def begin(self, language: str | None) -> None:
        """Say in the project's row what is to come, unless an interrupted run has said the same."""
        with self._store.write(self._project_id) as tx:
            row = required_project(tx, self._project_id)
            mark = row.rebuilding.get(REINDEX, {})
            known = str(mark.get("language", stored_config(row).analyser.language))
            self.analyser = Analyser(language or known)
            if mark.get("analyser") != self.analyser.version:
                mark = {"analyser": self.analyser.version, "language": self.analyser.language, "after": 0}
                tx.projects.put(_marked(row, mark))

    def step(self) -> bool:
        """Index one batch, or end the run where none is left; return whether there was one."""
        with self._store.write(self._project_id) as tx:
            row, after = self._standing(tx)
            rows = tx.rebuild.walk(after, self._batch)
            if not rows:
                tx.projects.put(self._finished(row))
                return False
            config = stored_config(row)
            tx.rebuild.replace_terms([entry_of(record, self.analyser, config) for record in records_of(tx, rows)])
            tx.projects.put(_marked(row, {**row.rebuilding[REINDEX], "after": rows[-1].key}))
            total = tx.rebuild.size()
        self.done += len(rows)
        self._progress(min(self.done, total), total)
        return True

    def _standing(self, tx: Transaction) -> tuple[ProjectRow, int]:
        row = required_project(tx, self._project_id)
        mark = row.rebuilding.get(REINDEX, {})
        if mark.get("analyser") != self.analyser.version:
            raise MemoryConflictError(
                f"another process indexes project {self._project_id!r} anew, by {mark.get('analyser', 'now')!r}; "
                "this run has ended",
                code="REINDEX_TAKEN_OVER",
            )
        return row, int(str(mark["after"]))

    def _finished(self, row: ProjectRow) -> ProjectRow:
        rest = {name: mark for name, mark in row.rebuilding.items() if name != REINDEX}
        config = stored_config(row)
        if config.analyser.language != self.analyser.language:
            config = replace(config, analyser=AnalyserConfig(self.analyser.language))
            row = replace(row, config=json.loads(config.to_json()))
        return replace(row, analyser=self.analyser.version, rebuilding=rest)


def _marked(row: ProjectRow, mark: JsonObject) -> ProjectRow:
    return replace(row, rebuilding={**row.rebuilding, REINDEX: mark})
