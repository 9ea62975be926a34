"""What a switch of embedders leaves to do: failures of texts that are refused, and jobs for what came last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memoranda.engine.jobs.failure import Cause, FailureClass
from memoranda.engine.jobs.queue import JobOwner, embed_memories_job, embed_turns_job
from memoranda.engine.jobs.worker import failure_of
from memoranda.engine.ports import DocumentRow, Transaction
from memoranda.engine.records import PROFILE, STM, Job, JobKind, VectorState

_PAGE = 200


def drop_superseded(tx: Transaction) -> None:
    """Forget the failures of embedding until now: by the switch every record has a vector, a job or a new failure."""
    after = ""
    while page := tx.failures.page(None, after, _PAGE):
        after = page[-1].id
        tx.failures.delete([failure.id for failure in page if failure.job_kind is JobKind.EMBED])


def put_off(tx: Transaction, rows: Sequence[DocumentRow], embedder: str, now: datetime) -> None:
    """Have jobs embed these records."""
    tx.index.set_vector_state([row.key for row in rows], VectorState.PENDING)
    for row in rows:
        tx.jobs.enqueue(_job(row, embedder, now))


def keep_refused(tx: Transaction, refused: Sequence[tuple[DocumentRow, str]], embedder: str, now: datetime) -> None:
    """Keep these records without a vector, and a failure for each reason and owner."""
    tx.index.set_vector_state([row.key for row, _ in refused], VectorState.REFUSED)
    groups: dict[tuple[str, bool, str], list[DocumentRow]] = {}
    for row, reason in refused:
        groups.setdefault((_job(row, embedder, now).lane, row.source == PROFILE, reason), []).append(row)
    for (_, is_profile, reason), rows in groups.items():
        job = replace(_job(rows[0], embedder, now), attempts=1)
        failure = failure_of(job, Cause(FailureClass.CONTENT, reason), now)
        payload = {**failure.payload, "keys": [row.key for row in rows]}
        # No job embeds profiles: one is embedded when it is put again.
        tx.failures.insert(replace(failure, payload=payload, retryable=not is_profile))


def _job(row: DocumentRow, embedder: str, now: datetime) -> Job:
    if row.source == STM:
        return embed_turns_job(JobOwner(row.user_id, row.session_id), embedder=embedder, now=now)
    return embed_memories_job(row.user_id, embedder=embedder, now=now)
