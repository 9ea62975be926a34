"""What must follow a write, as jobs in the write's own transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from memoranda.engine.config_model import ProjectConfig, SnapshotConfig
from memoranda.engine.extraction.cutting import new_snapshot, policy_runs
from memoranda.engine.jobs.queue import (
    JobOwner,
    embed_memories_job,
    embed_turns_job,
    expire_job,
    extract_job,
    promote_job,
    reread_job,
    session_extract_lane,
)
from memoranda.engine.ports import DocumentRow, Transaction
from memoranda.engine.records import STM, Job, JsonObject, Session, Snapshot, SnapshotState
from memoranda.engine.session_policies import SessionPolicy, counted_calls, policy_of, with_counted_calls

BY_POLICY: Final = "policy"
"""Why a snapshot was made: its session's policy says so."""
CALLERS_TURN: Final = timedelta(seconds=30)
"""How long a worker leaves work to the caller who said that it does it."""


def promotion_due(session: Session, config: SnapshotConfig) -> datetime:
    """Return when a session with unpromoted turns is due for a snapshot: at once when full, else once idle."""
    if session.unpromoted >= config.max_messages:
        return session.last_turn_at
    return session.last_turn_at + timedelta(minutes=config.stale_minutes)


def extracts(session: Session, config: ProjectConfig) -> bool:
    """Return whether the session's turns are extracted at all; its own policy can say ``off``."""
    policy = policy_of(session.extraction_policy)
    return bool(config.extraction.kinds) if policy is None else not policy.off


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

    def after_turns(
        self, tx: Transaction, session: Session, now: datetime, *, policy: JsonObject | None = None
    ) -> None:
        """Enqueue what follows new turns of a session: their vectors, and a look whether it is due for a snapshot.

        A session with a policy of its own (or that of this write, ``policy``) has its snapshots made at once.
        """
        owner = JobOwner(session.user_id, session.session_id)
        if self.embeds_on_write:
            tx.jobs.enqueue(embed_turns_job(owner, embedder=self._embedder, now=now))
        own = policy_of(session.extraction_policy if policy is None else policy)
        if own is not None:
            self._follow(tx, session, own, now)
        elif extracts(session, self._config):
            self.schedule_promotion(tx, session, now)

    def after_change(self, tx: Transaction, session: Session, now: datetime) -> None:
        """Enqueue the vectors of turns that were changed."""
        if self.embeds_turns:
            owner = JobOwner(session.user_id, session.session_id)
            tx.jobs.enqueue(embed_turns_job(owner, embedder=self._embedder, now=now))

    def _follow(self, tx: Transaction, session: Session, policy: SessionPolicy, now: datetime) -> None:
        """Make the snapshots that a policy wants after one more write of turns."""
        if policy.off:
            # Passed over for good: switching extraction on later does not reach back.
            tx.sessions.set_promoted(session.user_id, session.session_id, session.last_seq, now)
            return
        before = counted_calls(session)
        calls = before + 1
        runs = policy_runs(session, policy, calls, rest=False)
        self.cut_runs(tx, session, runs, BY_POLICY, policy=policy, now=now)
        if runs or policy.calls == 1:
            calls = 0
        if calls != before:
            tx.sessions.update(replace(session, runtime_state=with_counted_calls(session.runtime_state, calls)))
        if session.last_seq > (runs[-1][1] if runs else session.promoted_seq):
            # What stays below the policy's number is read once the conversation rests.
            self.schedule_promotion(tx, session, now, idle_only=True)

    def cut_runs(
        self,
        tx: Transaction,
        session: Session,
        runs: Sequence[tuple[int, int]],
        reason: str,
        *,
        policy: SessionPolicy | None,
        now: datetime,
    ) -> list[Snapshot]:
        """Store the snapshots of runs of unpromoted turns, with what must follow them; a run without turns has none."""
        made: list[Snapshot] = []
        for run in runs:
            present = len(tx.turns.run(session.user_id, session.session_id, *run))
            if present:
                snapshot = new_snapshot(session, run, present, reason, now, self._config.snapshot)
                tx.snapshots.insert(snapshot)
                tx.turns.mark_promoted(session.user_id, session.session_id, *run, snapshot.id)
                self.after_snapshot(tx, snapshot, now, policy)
                made.append(snapshot)
        if runs:
            tx.sessions.set_promoted(session.user_id, session.session_id, runs[-1][1], now)
        return made

    def after_edit(self, tx: Transaction, session: Session, turn_seq: int, now: datetime) -> bool:
        """Have a turn that was read before its content changed read again; return whether that is wanted and needed.

        One that was not read yet is read with its new content anyway.
        """
        if turn_seq > session.promoted_seq or not extracts(session, self._config):
            return False
        ids = {turn.snapshot_id for turn in tx.turns.run(session.user_id, session.session_id, turn_seq, turn_seq)}
        snapshot = next((tx.snapshots.get(each) for each in ids if each), None)
        if snapshot is None or snapshot.state is SnapshotState.PENDING:
            return False
        job = reread_job(self._extract_job(snapshot, policy_of(session.extraction_policy), now), turn_seq)
        return tx.jobs.enqueue(job)

    def schedule_promotion(self, tx: Transaction, session: Session, now: datetime, *, idle_only: bool = False) -> None:
        """Enqueue the look at a session for when it will be due: when full or idle, or idle only."""
        owner = JobOwner(session.user_id, session.session_id)
        idle = session.last_turn_at + timedelta(minutes=self._config.snapshot.stale_minutes)
        run_at = max(now, idle if idle_only else promotion_due(session, self._config.snapshot))
        tx.jobs.enqueue(promote_job(owner, run_at=run_at, now=now))

    def after_turn_vectors(self, tx: Transaction, owner: JobOwner, now: datetime) -> None:
        """Enqueue a look whether the topic has shifted, which vectors tell, where that makes snapshots."""
        if not self._config.snapshot.topic_shift_enabled:
            return
        session = tx.sessions.get(owner.user_id, owner.session_id)
        if session is None or policy_of(session.extraction_policy) is not None:
            return
        if session.unpromoted and extracts(session, self._config):
            tx.jobs.enqueue(promote_job(owner, run_at=now, now=now))

    def after_snapshot(
        self, tx: Transaction, snapshot: Snapshot, now: datetime, policy: SessionPolicy | None = None
    ) -> None:
        """Enqueue what follows a snapshot: its turns' vectors where they are wanted by then, and its extraction."""
        owner = JobOwner(snapshot.user_id, snapshot.session_id)
        if self.embeds_turns and not self.embeds_on_write:
            tx.jobs.enqueue(embed_turns_job(owner, embedder=self._embedder, now=now))
        tx.jobs.enqueue(self._extract_job(snapshot, policy, now))
        self.after_lifetimes(tx, [snapshot.expires_at], now)

    def _extract_job(self, snapshot: Snapshot, policy: SessionPolicy | None, now: datetime) -> Job:
        owner = JobOwner(snapshot.user_id, snapshot.session_id)
        job = extract_job(owner, snapshot.id, extractor=self._extractor, now=now)
        if policy is None:
            return job
        newest = snapshot.last_seq - snapshot.first_seq + 1
        return replace(
            job,
            # One session never waits for the model of another.
            lane=session_extract_lane(snapshot.user_id, snapshot.session_id),
            extractor=policy.extractor or job.extractor,
            run_at=job.run_at if policy.background else job.run_at + CALLERS_TURN,
            payload={**job.payload, **policy.job_payload(newest)},
        )

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
