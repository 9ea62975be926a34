"""The embed job: gives records that await their vectors these vectors, in batches, and keeps what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memoranda.engine.embedding import Embedded, EmbeddingService, Refusal
from memoranda.engine.indexing import memory_text, turn_text
from memoranda.engine.jobs.failure import Cause, FailureClass
from memoranda.engine.jobs.handler import Lease, Outcome
from memoranda.engine.jobs.planner import JobPlanner
from memoranda.engine.jobs.queue import JobOwner
from memoranda.engine.jobs.worker import failure_of
from memoranda.engine.ports import Clock, DocumentRow, Store, Transaction
from memoranda.engine.records import IMAGE, STM, Failure, Job, VectorState

_BATCH = 128


class EmbedHandler:
    """Runs embed jobs: the turns of one session, or the memories of one user, those of all ``kinds`` together."""

    def __init__(
        self,
        store: Store,
        project_id: str,
        clock: Clock,
        embedding: EmbeddingService,
        kinds: Sequence[str],
        *,
        planner: JobPlanner | None = None,
    ) -> None:
        self._store = store
        self._project_id = project_id
        self._clock = clock
        self._embedding = embedding
        self._kinds = tuple(kinds)
        self._planner = planner

    def handle(self, job: Job, lease: Lease) -> Outcome:
        """Embed until nothing waits. Every batch is a whole: a job that is run twice does nothing twice."""
        outcome = Outcome.NOTHING
        while not lease.finished:
            lease.check()
            with self._store.read(self._project_id) as tx:
                texts = _texts(tx, self._waiting(tx, job))
            embedded = self._embedding.vectors_for(texts) if texts else Embedded((), ())
            with self._store.write(self._project_id) as tx:
                self._keep(tx, job, texts, embedded)
                if not self._waiting(tx, job):
                    lease.finish(tx)
            outcome = Outcome.DONE if texts else outcome
        return outcome

    def _waiting(self, tx: Transaction, job: Job) -> Sequence[DocumentRow]:
        session_id = job.payload.get("session_id")
        if isinstance(session_id, str):
            return tx.index.awaiting_vectors(STM, job.user_id, session_id, _BATCH)
        rows: list[DocumentRow] = []
        for kind in self._kinds:
            if len(rows) < _BATCH:
                rows.extend(tx.index.awaiting_vectors(kind, job.user_id, None, _BATCH - len(rows)))
        return rows

    def _keep(self, tx: Transaction, job: Job, texts: Mapping[int, str], embedded: Embedded) -> None:
        """Store what still fits: a record that was changed meanwhile waits for the next round."""
        waiting = self._waiting(tx, job)
        now = _texts(tx, waiting)
        same = {key for key, text in texts.items() if now.get(key) == text}
        vectors = [vector for vector in embedded.vectors if vector.key in same]
        if vectors:
            tx.index.put_vectors(vectors)
            self._tell_of_turns(tx, job)
        refused = [refusal for refusal in embedded.refused if refusal.key in same]
        if refused:
            tx.index.set_vector_state([refusal.key for refusal in refused], VectorState.REFUSED)
            self._keep_refused(tx, job, refused)
        # Blank text is never embedded, and what is hidden is on its way out.
        nothing = [row.key for row in waiting if not now.get(row.key, "").strip()]
        if nothing:
            tx.index.set_vector_state(nothing, VectorState.NONE)

    def _tell_of_turns(self, tx: Transaction, job: Job) -> None:
        session_id = job.payload.get("session_id")
        if self._planner is not None and isinstance(session_id, str):
            self._planner.after_turn_vectors(tx, JobOwner(job.user_id, session_id), self._clock.now())

    def _keep_refused(self, tx: Transaction, job: Job, refused: Sequence[Refusal]) -> None:
        by_reason: dict[str, list[int]] = {}
        for refusal in refused:
            by_reason.setdefault(refusal.reason, []).append(refusal.key)
        for reason, keys in by_reason.items():
            failure = failure_of(job, Cause(FailureClass.CONTENT, reason), self._clock.now())
            tx.failures.insert(_with_keys(failure, keys))


def _with_keys(failure: Failure, keys: Sequence[int]) -> Failure:
    return replace(failure, payload={**failure.payload, "keys": list(keys)})


def _texts(tx: Transaction, rows: Sequence[DocumentRow]) -> dict[int, str]:
    """Return what is embedded of each of these records that exists, by key."""
    if not rows:
        return {}
    ids = [row.record_id for row in rows]
    if rows[0].source == STM:
        return {turn.key: turn_text(turn) for turn in tx.turns.get(ids)}
    images = [row.record_id for row in rows if row.source == IMAGE]
    texts = {record.key: memory_text(record) for record in tx.memories.get(ids)}
    return texts | {image.key: image.description for image in tx.images.get(images)}
