"""What must follow a write, as jobs in the write's own transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from memoranda.engine.config_model import ProjectConfig, SnapshotConfig
from memoranda.engine.jobs.queue import (
    JobOwner,
    embed_memories_job,
    embed_turns_job,
    expire_job,
    extract_job,
    promote_job,
)
from memoranda.engine.ports import DocumentRow, Transaction
from memoranda.engine.records import STM, Session, Snapshot


def promotion_due(session: Session, config: SnapshotConfig) -> datetime:
    """Return when a session with unpromoted turns is due for a snapshot: at once when full, else once idle."""
    if session.unpromoted >= config.max_messages:
        return session.last_turn_at
    return session.last_turn_at + timedelta(minutes=config.stale_minutes)


def extracts(session: Session, config: ProjectConfig) -> bool:
    """Return whether the session's turns are extracted at all; its own policy can say ``off``."""
    policy = session.extraction_policy or {}
    return bool(config.extraction.kinds) and policy.get("mode") != "off"


class JobPlanner:
    """Knows which jobs follow a write; ``embedder`` and ``extractor`` are the names that new jobs ask for, or empty."""

    def __init__(self, config: ProjectConfig, *, embedder: str, extractor: str) -> None:
        self._config = config
        self._embedder = embedder
        self._extractor = extractor

    @property
    def embeds_on_write(self) -> bool:
        """Whether turns are embedded once they are written; unset means yes where there is an embedder."""
        return bool(self._embedder) and self._config.short_term.embed_on_write is not False

    @property
    def embeds_turns(self) -> bool:
        """Whether turns get a vector at some time: on writing, or ahead of their promotion."""
        ahead = self._config.snapshot.embed_stm_before_promotion is True
        return self.embeds_on_write or (bool(self._embedder) and ahead)

    @property
    def embeds_memories(self) -> bool:
        return bool(self._embedder)

    def after_turns(self, tx: Transaction, session: Session, now: datetime) -> None:
        """Enqueue what follows new turns of a session: their vectors, and a look whether it is due for a snapshot."""
        owner = JobOwner(session.user_id, session.session_id)
        if self.embeds_on_write:
            tx.jobs.enqueue(embed_turns_job(owner, embedder=self._embedder, now=now))
        if extracts(session, self._config):
            self.schedule_promotion(tx, session, now)

    def schedule_promotion(self, tx: Transaction, session: Session, now: datetime) -> None:
        """Enqueue the look at a session for when it will be due."""
        owner = JobOwner(session.user_id, session.session_id)
        run_at = max(now, promotion_due(session, self._config.snapshot))
        tx.jobs.enqueue(promote_job(owner, run_at=run_at, now=now))

    def after_turn_vectors(self, tx: Transaction, owner: JobOwner, now: datetime) -> None:
        """Enqueue a look whether the topic has shifted, which vectors tell, where that makes snapshots."""
        if not self._config.snapshot.topic_shift_enabled:
            return
        session = tx.sessions.get(owner.user_id, owner.session_id)
        if session is not None and session.unpromoted and extracts(session, self._config):
            tx.jobs.enqueue(promote_job(owner, run_at=now, now=now))

    def after_snapshot(self, tx: Transaction, snapshot: Snapshot, now: datetime) -> None:
        """Enqueue what follows a snapshot: its turns' vectors where they are wanted by then, and its extraction."""
        owner = JobOwner(snapshot.user_id, snapshot.session_id)
        if self.embeds_turns and not self.embeds_on_write:
            tx.jobs.enqueue(embed_turns_job(owner, embedder=self._embedder, now=now))
        tx.jobs.enqueue(extract_job(owner, snapshot.id, extractor=self._extractor, now=now))
        self.after_lifetimes(tx, [snapshot.expires_at], now)

    def after_memories(self, tx: Transaction, user_id: str, now: datetime) -> None:
        """Enqueue what follows memories of a user that were stored without their vectors."""
        if self.embeds_memories:
            tx.jobs.enqueue(embed_memories_job(user_id, embedder=self._embedder, now=now))

    def embeds(self, source: str) -> bool:
        """Whether the records of a source get their vectors once they are written."""
        return self.embeds_on_write if source == STM else self.embeds_memories

    def after_late_embedder(self, tx: Transaction, source: str, rows: Sequence[DocumentRow], now: datetime) -> None:
        """Enqueue the vectors of records of a source that were written before the project had an embedder."""
        if source != STM:
            for user_id in sorted({row.user_id for row in rows}):
                self.after_memories(tx, user_id, now)
            return
        for user_id, session_id in sorted({(row.user_id, row.session_id) for row in rows}):
            tx.jobs.enqueue(embed_turns_job(JobOwner(user_id, session_id), embedder=self._embedder, now=now))

    def after_lifetimes(self, tx: Transaction, expiries: Sequence[datetime | None], now: datetime) -> None:
        """Enqueue the removal of what has a lifetime."""
        ends = [end for end in expiries if end is not None]
        if ends:
            tx.jobs.enqueue(expire_job(run_at=min(ends), now=now))
