"""Re-embedding: a second set of vectors beside the first, and a switch to it in one transaction.

Until the switch every reader and writer goes on with the first set. A record whose text changes loses its vectors of
both sets, so that a run that was interrupted goes on with the records that have none of the new set: there is no other
progress to keep. What is written meanwhile is caught up with before the switch; where writers are faster than that, the
last of it is left to embed jobs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memoranda.engine.embedding import Embedded, EmbeddingService
from memoranda.engine.jobs.failure import FailureClass, classify
from memoranda.engine.jobs.planner import JobPlanner
from memoranda.engine.ports import Clock, DocumentRow, Embedder, Store, TokenCounter, Transaction
from memoranda.engine.project import stored_config, vectors_name, with_embedder
from memoranda.engine.rebuilding.reading import REEMBED, Progress, records_of, required_project, text_of, unheard
from memoranda.engine.rebuilding.refusals import drop_superseded, keep_refused, put_off
from memoranda.engine.records import PROFILE, STM, JsonObject, ProjectRow, VectorState
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryConnectionError

logger = logging.getLogger(__name__)

BATCH = 128

_LOOK = 500
"""How many records one statement of a walk reads or cleans."""
_ROUNDS = 3
"""How often to catch up with writers before the rest is left to jobs."""


@dataclass(frozen=True, slots=True)
class ReembedReport:
    """What a run did itself: records that were embedded and refused, and pieces of other sets that were removed."""

    model: str
    dimension: int
    embedded: int
    refused: int
    removed: int


@dataclass(frozen=True, slots=True)
class _Refused:
    text: str
    reason: str


def reembed(
    store: Store,
    project_id: str,
    embedder: Embedder,
    *,
    clock: Clock,
    count_tokens: TokenCounter,
    progress: Progress = unheard,
    batch: int = BATCH,
) -> ReembedReport:
    """Give a project vectors of this embedder in place of those it has, whatever embedder made them.

    With the recorded embedder it embeds what has no vector, and removes what is left of other sets. ``batch`` is how
    many records are embedded and stored at once. An embedder that fails for now ends the run with
    ``MemoryConnectionError``; the next run goes on. Raises ``MemoryNotFoundError``, ``MemoryConflictError`` when
    another run takes over, ``MemoryBadRequestError`` when every text is refused: then the project keeps its vectors.
    """
    run = _Run(store, project_id, embedder, clock=clock, count_tokens=count_tokens, progress=progress, batch=batch)
    return run.run()


class _Run:
    def __init__(
        self,
        store: Store,
        project_id: str,
        embedder: Embedder,
        *,
        clock: Clock,
        count_tokens: TokenCounter,
        progress: Progress,
        batch: int,
    ) -> None:
        self._store = store
        self._project_id = project_id
        self._embedder = embedder
        self._clock = clock
        self._progress = progress
        self._batch = batch
        with store.read(project_id) as tx:
            row = required_project(tx, project_id)
        self._name = vectors_name(row, embedder)
        self._planner = JobPlanner(stored_config(row), embedder=self._name, extractor="")
        self._embedding = EmbeddingService(embedder, count_tokens, name=self._name)
        self._refused: dict[int, _Refused] = {}
        self._embedded = 0

    def run(self) -> ReembedReport:
        self._begin()
        refused, rounds = None, 0
        while refused is None:
            self._catch_up()
            rounds += 1
            refused = self._switch(last=rounds >= _ROUNDS)
        removed = self._remove_others(switched=True)
        report = ReembedReport(self._name, self._embedder.dimension, self._embedded, refused, removed)
        logger.info("reembedded", extra={"model": self._name, "embedded": self._embedded, "refused": refused})
        return report

    # --- the mark in the project's row

    def _mark(self, *, ready: bool) -> JsonObject:
        embedder = self._embedder
        return {
            "model": self._name,
            "fingerprint": embedder.fingerprint,
            "dimension": embedder.dimension,
            "ready": ready,
        }

    def _begin(self) -> None:
        """Say what is to come. What a run that led elsewhere left behind may have the same name, and goes first."""
        with self._store.write(self._project_id) as tx:
            row = required_project(tx, self._project_id)
            if row.rebuilding.get(REEMBED) == self._mark(ready=True):
                return
            tx.projects.put(_marked(row, self._mark(ready=False)))
        self._remove_others(switched=False)
        with self._store.write(self._project_id) as tx:
            tx.projects.put(_marked(self._standing(tx), self._mark(ready=True)))

    def _standing(self, tx: Transaction) -> ProjectRow:
        row = required_project(tx, self._project_id)
        mark = row.rebuilding.get(REEMBED, {})
        if {**mark, "ready": True} != self._mark(ready=True):
            raise MemoryConflictError(
                f"another process gave project {self._project_id!r} its vectors, or began to; this run has ended",
                code="REEMBED_TAKEN_OVER",
            )
        return row

    def _remove_others(self, *, switched: bool) -> int:
        """Remove every vector but those of the recorded set, batch by batch."""
        removed = after = 0
        while True:
            with self._store.write(self._project_id) as tx:
                row = required_project(tx, self._project_id) if switched else self._standing(tx)
                rows = tx.rebuild.walk(after, _LOOK)
                # Another run that has begun meanwhile removes what is in its way itself.
                if not rows or (switched and (REEMBED in row.rebuilding or row.embedder_model != self._name)):
                    return removed
                removed += tx.rebuild.remove_other_vectors([found.key for found in rows], row.embedder_model)
            after = rows[-1].key

    # --- embedding

    def _catch_up(self) -> None:
        """Embed the records that have no vector of the new set; those that are written meanwhile are for next time."""
        after = done = 0
        with self._store.read(self._project_id) as tx:
            total, last = tx.rebuild.count_without_vectors(self._name), tx.projects.last_key()
        while True:
            with self._store.read(self._project_id) as tx:
                found = tx.rebuild.without_vectors(self._name, after, self._batch)
                rows = [row for row in found if row.key <= last]
                texts = self._wanted(tx, rows)
            if not rows:
                return
            if texts:
                self._keep(texts, self._ask(texts))
            after, done = rows[-1].key, done + len(rows)
            self._progress(done, max(done, total))

    def _wanted(self, tx: Transaction, rows: Sequence[DocumentRow]) -> dict[int, str]:
        """Return the texts that are to be embedded: not those that were refused as they are."""
        texts = self._texts(tx, rows)
        return {key: text for key, text in texts.items() if not self._was_refused(key, text)}

    def _was_refused(self, key: int, text: str) -> bool:
        return key in self._refused and self._refused[key].text == text

    def _texts(self, tx: Transaction, rows: Sequence[DocumentRow]) -> dict[int, str]:
        embeds_turns = self._planner.embeds_turns
        meant = [row for row in rows if row.source != STM or embeds_turns or row.vector_state is not VectorState.NONE]
        texts = {record.key: text_of(record) for record in records_of(tx, meant)}
        return {key: text for key, text in texts.items() if text.strip()}

    def _ask(self, texts: Mapping[int, str]) -> Embedded:
        try:
            return self._embedding.vectors_for(texts)
        except Exception as error:
            cause = classify(error)
            if cause.failure_class is FailureClass.INTERNAL:
                raise
            raise MemoryConnectionError(
                f"the embedder {self._embedder.model_id!r} failed: {cause.reason}; what it embedded so far is kept: "
                "the next run goes on with the rest"
            ) from error

    def _keep(self, texts: Mapping[int, str], embedded: Embedded) -> None:
        """Store what still fits; a record that was changed or deleted meanwhile is not among it."""
        with self._store.write(self._project_id) as tx:
            self._standing(tx)
            now = self._texts(tx, tx.search.documents(list(texts)))
            same = {key for key, text in texts.items() if now.get(key) == text}
            tx.rebuild.add_vectors([vectors for vectors in embedded.vectors if vectors.key in same])
        self._embedded += sum(vectors.key in same for vectors in embedded.vectors)
        self._refused |= {refusal.key: _Refused(texts[refusal.key], refusal.reason) for refusal in embedded.refused}

    # --- the switch

    def _switch(self, *, last: bool) -> int | None:
        """Make the new set the project's, and return how many records are refused; None when some are to be embedded.

        ``last`` leaves these to jobs.
        """
        with self._store.write(self._project_id) as tx:
            row = self._standing(tx)
            left: list[DocumentRow] = []
            refused: list[tuple[DocumentRow, str]] = []
            for rows in self._without(tx):
                texts, wanted = self._texts(tx, rows), self._wanted(tx, rows)
                left += [found for found in rows if found.key in wanted]
                # No job embeds profiles.
                if left and not (last and all(found.source != PROFILE for found in left)):
                    return None
                refused += [
                    (found, self._refused[found.key].reason)
                    for found in rows
                    if found.key in texts and found.key not in wanted
                ]
            self._check_any(tx, refused)
            tx.rebuild.adopt_vectors(self._name)
            drop_superseded(tx)
            tx.rebuild.name_embedder(self._name)
            put_off(tx, left, self._name, self._clock.now())
            keep_refused(tx, refused, self._name, self._clock.now())
            rest = {name: mark for name, mark in row.rebuilding.items() if name != REEMBED}
            tx.projects.put(replace(with_embedder(row, self._name, self._embedder), rebuilding=rest))
        return len(refused)

    def _without(self, tx: Transaction) -> Iterator[Sequence[DocumentRow]]:
        after = 0
        while rows := tx.rebuild.without_vectors(self._name, after, _LOOK):
            yield rows
            after = rows[-1].key

    def _check_any(self, tx: Transaction, refused: Sequence[tuple[DocumentRow, str]]) -> None:
        """An embedder that takes nothing at all is the wrong one, or wrongly set up."""
        if refused and tx.rebuild.count_without_vectors(self._name) == tx.rebuild.size():
            raise MemoryBadRequestError(
                f"the embedder {self._embedder.model_id!r} refused all of {len(refused)} texts "
                f"({refused[0][1]}); the project keeps the vectors it has",
                code="EMBEDDER_REFUSED_ALL",
            )


def _marked(row: ProjectRow, mark: JsonObject) -> ProjectRow:
    return replace(row, rebuilding={**row.rebuilding, REEMBED: mark})
