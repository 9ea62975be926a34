"""The memories of one project: saved, changed, deleted and read."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.deletion_counts import DeletionCounts
from memoranda.engine.draft_checks import checked_draft
from memoranda.engine.drafts import MemoryChanges, MemoryDraft, SaveStatus, Written
from memoranda.engine.embedding import EmbeddingService, Refusal
from memoranda.engine.indexing import memory_text
from memoranda.engine.jobs.failure import Cause, FailureClass
from memoranda.engine.jobs.queue import embed_memories_job
from memoranda.engine.jobs.worker import failure_of
from memoranda.engine.memories import MemoryWriter, Vectors
from memoranda.engine.memory_reads import MemoryReader
from memoranda.engine.memory_states import needs_reindexing, new_record
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.engine.records import MemoryRecord, MemoryStatus, VectorState
from memoranda.engine.text import require_storable_id
from memoranda.sdk.errors import MemoryAuthError, MemoryBadRequestError, MemoryConflictError, MemoryNotFoundError

logger = logging.getLogger(__name__)

LONGEST_EMBEDDED_AT_ONCE = 20_000
"""Characters; the many pieces of a longer text are embedded by a job, so that a save does not wait for them."""


@dataclass(frozen=True, slots=True)
class SaveRequest:
    """A draft with what belongs to the call: its idempotency key and the caller's own vectors for its text."""

    draft: MemoryDraft
    idempotency_key: str | None = None
    embedding: Sequence[float] | None = None
    embeddings: Sequence[Sequence[float]] | None = None

    @property
    def given(self) -> Sequence[Sequence[float]] | None:
        """The caller's own vectors, one for each piece."""
        return self.embeddings if self.embedding is None else (self.embedding,)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """The vectors of one call's texts by position, and those that the embedder refused."""

    vectors: Mapping[int, Vectors]
    refused: Mapping[int, Refusal]


@dataclass(frozen=True, slots=True)
class PreparedSaves:
    """Saves that are checked and embedded, and not written yet."""

    requests: Sequence[SaveRequest]
    embedded: _Prepared


class MemoryService(MemoryReader):
    """Saves, changes and deletes memories; reads are those of ``MemoryReader``."""

    def __init__(
        self,
        store: Store,
        project_id: str,
        *,
        writer: MemoryWriter,
        embedding: EmbeddingService,
        clock: Clock,
        config: ProjectConfig,
    ) -> None:
        super().__init__(store, project_id, clock)
        self._writer = writer
        self._embedding = embedding
        self._config = config

    def save(
        self, draft: MemoryDraft, *, idempotency_key: str | None = None, embedding: Sequence[float] | None = None
    ) -> Written:
        """Save one memory. The same key with the same draft gives the record that it saved.

        Raises ``MemoryBadRequestError`` for a draft that cannot be stored, ``MemoryConflictError`` when the key was
        used for another draft (``IDEMPOTENCY_CONFLICT``) or a procedure exists (``PROCEDURE_EXISTS``).
        """
        request = SaveRequest(draft, idempotency_key, embedding)
        return self._save_all([self._checked(request)])[0]

    def save_many(self, requests: Sequence[SaveRequest]) -> list[Written]:
        """Save memories in order, in one transaction: all or none. An error names the item by its position."""
        checked: list[SaveRequest] = []
        for position, request in enumerate(requests):
            try:
                checked.append(self._checked(request))
            except MemoryBadRequestError as error:
                raise MemoryBadRequestError(f"item {position}: {error.message}", code=error.code) from error
        return self._save_all(checked) if checked else []

    def update(
        self,
        memory_id: str,
        changes: MemoryChanges,
        *,
        user_id: str | None = None,
        embedding: Sequence[float] | None = None,
        embeddings: Sequence[Sequence[float]] | None = None,
    ) -> Written:
        """Write a new version; the id stays. Raises ``MemoryNotFoundError`` and ``MemoryConflictError``."""
        with self._store.read(self._project_id) as tx:
            before = self._owned(tx, memory_id, user_id)
        after = self._writer.changed(before, changes)
        own = embeddings if embedding is None else (embedding,)
        given = {0: own} if own is not None else {}
        changes_text = needs_reindexing(before, after)
        prepared = self._embed({0: memory_text(after)} if changes_text else {}, given)
        with self._store.write(self._project_id) as tx:
            record = self._owned(tx, memory_id, user_id)
            vectors = prepared.vectors.get(0)
            # What another call changed in between may be what the vector does not say.
            if own is None and memory_text(self._writer.changed(record, changes)) != memory_text(after):
                vectors = None
            written = self._writer.update(tx, record, changes, vectors=vectors)
            self._keep_refusal(tx, written, prepared.refused.get(0))
        return written

    def delete(self, memory_id: str, *, user_id: str | None = None) -> DeletionCounts:
        """Remove a memory with its history, links, sources and index rows. Raises ``MemoryNotFoundError``."""
        with self._store.write(self._project_id) as tx:
            return self._writer.remove(tx, [self._owned(tx, memory_id, user_id)])

    def retire(self, memory_id: str, *, user_id: str | None = None) -> None:
        """End a memory now without removing it; nothing takes its place. Raises ``MemoryNotFoundError``."""
        with self._store.write(self._project_id) as tx:
            record = self._owned(tx, memory_id, user_id)
            if record.status is MemoryStatus.CURRENT:
                self._writer.retire(tx, record, self._clock.now())

    # --- parts

    def _checked(self, request: SaveRequest) -> SaveRequest:
        key = request.idempotency_key
        if key is not None and not require_storable_id("idempotency_key", key).strip():
            raise MemoryBadRequestError("idempotency_key must not be blank; leave it out", code="INVALID_REQUEST")
        return replace(request, draft=checked_draft(request.draft, self._config))

    def prepared(self, requests: Sequence[SaveRequest]) -> PreparedSaves:
        """Check and embed saves, for a transaction that is the caller's; raises ``MemoryBadRequestError``."""
        return self._prepared([self._checked(request) for request in requests])

    def write(self, tx: Transaction, saves: PreparedSaves) -> list[Written]:
        """Write prepared saves in order."""
        numbered = enumerate(saves.requests)
        return [self._save_one(tx, request, position, saves.embedded) for position, request in numbered]

    def _save_all(self, requests: Sequence[SaveRequest]) -> list[Written]:
        saves = self._prepared(requests)
        with self._store.write(self._project_id) as tx:
            return self.write(tx, saves)

    def _prepared(self, requests: Sequence[SaveRequest]) -> PreparedSaves:
        now = self._clock.now()
        texts = {
            position: memory_text(new_record(request.draft, key=0, now=now))
            for position, request in enumerate(requests)
            if request.given is None
        }
        given = {at: request.given for at, request in enumerate(requests) if request.given is not None}
        return PreparedSaves(requests, self._embed(texts, given))

    def _save_one(self, tx: Transaction, request: SaveRequest, position: int, prepared: _Prepared) -> Written:
        draft, key = request.draft, request.idempotency_key
        if key is None:
            written = self._writer.save(tx, draft, vectors=prepared.vectors.get(position))
        else:
            earlier = self._saved_before(tx, draft, key)
            if earlier is not None:
                return earlier
            written = self._writer.save(tx, draft, vectors=prepared.vectors.get(position))
            tx.memories.remember_save(draft.user_id, key, written.record.id, draft.digest(), self._clock.now())
        self._keep_refusal(tx, written, prepared.refused.get(position))
        return written

    def _saved_before(self, tx: Transaction, draft: MemoryDraft, key: str) -> Written | None:
        saved = tx.memories.saved(draft.user_id, key)
        record = None if saved is None else self._find(tx, saved[0], None)
        if saved is None or record is None:
            return None
        if saved[1] != draft.digest():
            raise MemoryConflictError(
                f"idempotency key {key!r} was used for another memory (id {record.id}); use a new key for new content",
                code="IDEMPOTENCY_CONFLICT",
            )
        rows = tx.search.documents([record.key])
        return Written(record, SaveStatus.REPEATED, rows[0].vector_state if rows else VectorState.NONE)

    def _embed(self, texts: Mapping[int, str], given: Mapping[int, Sequence[Sequence[float]]]) -> _Prepared:
        """Embed before the transaction; what is long or fails for now is stored without, and a job follows."""
        texts = {at: text for at, text in texts.items() if len(text) <= LONGEST_EMBEDDED_AT_ONCE}
        vectors: dict[int, Vectors] = {at: self._embedding.given_pieces(at, own) for at, own in given.items()}
        if not self._embedding.available or not texts:
            return _Prepared(vectors, {})
        try:
            embedded = self._embedding.vectors_for(texts)
        except Exception as error:  # noqa: BLE001 - an embedder raises what it likes; the record's job tries again
            logger.warning("embedding_deferred", extra={"records": len(texts), "error": type(error).__name__})
            return _Prepared(vectors, {})
        vectors |= {found.key: found for found in embedded.vectors}
        vectors |= {refusal.key: VectorState.REFUSED for refusal in embedded.refused}
        return _Prepared(vectors, {refusal.key: refusal for refusal in embedded.refused})

    def _keep_refusal(self, tx: Transaction, written: Written, refusal: Refusal | None) -> None:
        if refusal is None or written.vector_state is not VectorState.REFUSED:
            return
        now = self._clock.now()
        job = embed_memories_job(written.record.user_id, embedder=self._embedding.name, now=now)
        failure = failure_of(job, Cause(FailureClass.CONTENT, refusal.reason), now)
        tx.failures.insert(replace(failure, payload={**failure.payload, "keys": [written.record.key]}))

    def _owned(self, tx: Transaction, memory_id: str, user_id: str | None) -> MemoryRecord:
        """Return a memory that the caller may change: a named user changes only their own, whoever may read it."""
        found = self._find(tx, memory_id, user_id)
        if found is None:
            raise MemoryNotFoundError(f"there is no memory {memory_id!r} that this call may see", code="NOT_FOUND")
        if user_id is not None and found.user_id not in ("", user_id):
            raise MemoryAuthError(
                f"memory {memory_id!r} belongs to another user: change it as its owner, or with a handle that is bound "
                "to no user",
                code="NOT_OWNER",
            )
        return found
