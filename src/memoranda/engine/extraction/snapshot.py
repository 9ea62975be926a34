"""Promotion: when a session's turns become snapshots, and how they are cut."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.extraction.cutting import policy_runs, runs
from memoranda.engine.extraction.topics import PlacedVector, Vector, topic_shifts, unit_vector
from memoranda.engine.jobs.handler import Lease, Outcome
from memoranda.engine.jobs.planner import JobPlanner, extracts, promotion_due
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.engine.records import Job, Session, Snapshot
from memoranda.engine.scope import Scope
from memoranda.engine.session_policies import counted_calls, policy_of

FULL = "max_messages"
IDLE = "idle"
REQUESTED = "requested"
TOPIC = "topic_shift"

_PAGE = 100


class Promoter:
    """Cuts snapshots, for the promote job and on request."""

    def __init__(
        self,
        store: Store,
        project_id: str,
        clock: Clock,
        *,
        config: ProjectConfig,
        planner: JobPlanner,
        embedder: str = "",
    ) -> None:
        self._store = store
        self._project_id = project_id
        self._clock = clock
        self._config = config
        self._planner = planner
        self._embedder = embedder

    def handle(self, job: Job, lease: Lease) -> Outcome:
        """Promote what is due of one session; what is not yet due gets its next look in the same transaction."""
        with self._store.write(self._project_id) as tx:
            lease.finish(tx)
            session = tx.sessions.get(job.user_id, job.session_id)
            if session is None or not session.unpromoted:
                return Outcome.NOTHING
            return self._promote_due(tx, session)

    def promote(self, scope: Scope) -> list[Snapshot]:
        """Promote every unpromoted turn of the sessions in scope now; return the snapshots.

        Sessions are cut page by page, each page in one transaction.
        """
        made: list[Snapshot] = []
        while True:
            with self._store.write(self._project_id) as tx:
                sessions = tx.sessions.unpromoted(scope, _PAGE)
                for session in sessions:
                    made += self._cut(tx, session, REQUESTED, rest=True)
            if len(sessions) < _PAGE:
                return made

    def _promote_due(self, tx: Transaction, session: Session) -> Outcome:
        config, now = self._config.snapshot, self._clock.now()
        own = policy_of(session.extraction_policy) is not None
        idle = now >= session.last_turn_at + timedelta(minutes=config.stale_minutes)
        made, session = ([], session) if own else self._cut_topics(tx, session)
        if idle or (not own and promotion_due(session, config) <= now):
            made += self._cut(tx, session, IDLE if idle else FULL, rest=idle)
        left = tx.sessions.get(session.user_id, session.session_id)
        if left is not None and left.unpromoted:
            self._planner.schedule_promotion(tx, left, now, idle_only=own)
        return Outcome.DONE if made else Outcome.NOTHING

    def _cut_topics(self, tx: Transaction, session: Session) -> tuple[list[Snapshot], Session]:
        """Make snapshots of the topics that are over; the last turns, with the present topic, stay unpromoted."""
        made: list[Snapshot] = []
        if not self._config.snapshot.topic_shift_enabled or not self._embedder or not session.unpromoted:
            return made, session
        for first in self._shifts(tx, session):
            made += self._cut(tx, replace(session, last_seq=first - 1), TOPIC, rest=True)
            session = replace(session, promoted_seq=first - 1)
        return made, session

    def _shifts(self, tx: Transaction, session: Session) -> list[int]:
        turns = tx.turns.run(session.user_id, session.session_id, session.promoted_seq + 1, session.last_seq)
        numbers = {turn.key: turn.turn_seq for turn in turns}
        units = [(numbers[each.key], unit_vector(each)) for each in tx.search.vectors_of(list(numbers), self._embedder)]
        placed = [
            PlacedVector(turn_seq, vector) for turn_seq, vector in sorted(units, key=_number) if vector is not None
        ]
        return topic_shifts(placed, self._config.snapshot.topic_shift_threshold)

    def _cut(self, tx: Transaction, session: Session, reason: str, *, rest: bool) -> list[Snapshot]:
        now = self._clock.now()
        if not extracts(session, self._config):
            # Passed over for good: switching extraction on later does not reach back.
            tx.sessions.set_promoted(session.user_id, session.session_id, session.last_seq, now)
            return []
        policy = policy_of(session.extraction_policy)
        cut = (
            list(runs(session, self._config.snapshot.max_messages, rest=rest))
            if policy is None
            else policy_runs(session, policy, counted_calls(session), rest=rest)
        )
        return self._planner.cut_runs(tx, session, cut, reason, policy=policy, now=now)


def _number(placed: tuple[int, Vector | None]) -> int:
    return placed[0]
