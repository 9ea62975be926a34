"""Deleting a turn, a session or a user, with everything derived from it: one act to the caller, reported in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from memoranda.engine.deletion_counts import DeletionCounts
from memoranda.engine.ids import new_id
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.engine.purge import Purger, PurgeWork
from memoranda.engine.records import Job, JobKind, JobState, Tombstone
from memoranda.engine.scope import Scope
from memoranda.sdk.errors import MemoryBadRequestError, MemoryNotFoundError

_LEASE = timedelta(seconds=60)
"""How long after its caller's last batch a purge is left alone before a worker finishes it."""


@dataclass(frozen=True, slots=True)
class _Purge:
    """A purge under way, and the job that finishes it should this process not live to do so."""

    work: PurgeWork
    job: Job


class DeletionService:
    """Deletes and reports. When a call returns, all of it is gone; if the process dies, a job finishes it."""

    def __init__(self, store: Store, project_id: str, *, purger: Purger, clock: Clock) -> None:
        self._store = store
        self._project_id = project_id
        self._purger = purger
        self._clock = clock
        self._changes = purger.changes

    def delete_turn(self, turn_id: str, *, user_id: str | None = None, keep_derived: bool = False) -> DeletionCounts:
        """Remove a turn, what was extracted from it alone, and its snapshot when no turn of it is left.

        With ``keep_derived`` the turn goes alone. Raises ``MemoryNotFoundError``.
        """
        with self._store.write(self._project_id) as tx:
            found = [turn for turn in tx.turns.get([turn_id]) if user_id in (None, turn.user_id)]
            if not found:
                raise MemoryNotFoundError(f"there is no turn {turn_id!r} that this call may see", code="NOT_FOUND")
            if keep_derived:
                return self._purger.drop_turns(tx, found)
            counts = self._purger.remove_turns(tx, found)
            snapshot_id = found[0].snapshot_id
            return counts + self._purger.remove_snapshots(tx, [snapshot_id] if snapshot_id else [])

    def delete_session(self, session_id: str, *, user_id: str | None = None, written: bool = False) -> DeletionCounts:
        """Remove a session of one user, or of every user who has one of this id; all zero when there is none.

        What was written directly stays, as does what has other sources; with ``written`` all of it goes.
        """
        if not session_id.strip():
            raise MemoryBadRequestError("session_id is blank; name the session to delete", code="INVALID_REQUEST")
        with self._store.write(self._project_id) as tx:
            owners = [session.user_id for session in tx.sessions.owners(session_id)]
            named = [owner for owner in owners if user_id in (None, owner)]
            started = [self._start(tx, owner, session_id) for owner in named]
            if written:
                removed = self._purger.remove_written(tx, Scope(user_id=user_id, session_id=session_id))
                started.append((None, removed))
        return self._finish(started)

    def delete_agent(self, agent_id: str) -> DeletionCounts:
        """Remove an agent: its sessions, all else that names it, and its profile last; a call that is cut short is
        finished by another. Raises ``MemoryBadRequestError`` for a blank id.
        """
        if not agent_id.strip():
            raise MemoryBadRequestError("agent_id is blank; name the agent to delete", code="INVALID_REQUEST")
        with self._store.read(self._project_id) as tx:
            sessions = tx.sessions.query(Scope(agent_id=agent_id))
        counts = DeletionCounts()
        for session in sessions:
            counts += self.delete_session(session.session_id, user_id=session.user_id, written=True)
        scope, done = Scope(agent_id=agent_id), False
        while not done:
            with self._store.write(self._project_id) as tx:
                removed, done = self._purger.remove_of_agent(tx, scope)
            counts += removed
        return counts

    def delete_user(self, user_id: str) -> DeletionCounts:
        """Remove everything of a user, at any visibility. What is written later under the same id lives.

        Raises ``MemoryBadRequestError`` for a blank id: a whole project is never deleted here.
        """
        if not user_id.strip():
            raise MemoryBadRequestError("user_id is blank; name the user to delete", code="INVALID_REQUEST")
        with self._store.write(self._project_id) as tx:
            started = [self._start(tx, user_id, None)]
        return self._finish(started)

    def _start(self, tx: Transaction, user_id: str, session_id: str | None) -> tuple[_Purge | None, DeletionCounts]:
        """Hide all of it, keep the job that would finish it, and remove what is not much at once."""
        now = self._clock.now()
        tombstone = Tombstone(new_id(), user_id, tx.projects.last_key(), now, session_id=session_id)
        work = PurgeWork.of(tombstone)
        counts = DeletionCounts(jobs=tx.jobs.remove(work.scope), failures=tx.failures.remove(work.scope))
        if session_id is None:
            self._purger.forget_in_feed(tx, work)
        else:
            self._changes.session_deleted(tx, user_id, session_id)
            counts += self._purger.remove_derived(tx, work)
        tx.projects.add_tombstone(tombstone)
        tx.turns.release_keys(work.scope)
        purge = _Purge(work, self._job(work))
        tx.jobs.enqueue(purge.job)
        while True:
            removed, done = self._step(tx, purge)
            counts += removed
            if done:
                return None, counts
            if max(removed.turns, removed.memories, removed.images) >= self._purger.batch:
                return purge, counts

    def _finish(self, started: list[tuple[_Purge | None, DeletionCounts]]) -> DeletionCounts:
        total = DeletionCounts()
        for purge, counts in started:
            total += counts
            done = purge is None
            while purge is not None and not done:
                with self._store.write(self._project_id) as tx:
                    removed, done = self._step(tx, purge)
                total += removed
        return total

    def _step(self, tx: Transaction, purge: _Purge) -> tuple[DeletionCounts, bool]:
        removed, done = self._purger.step(tx, purge.work)
        token = purge.job.lease_token or ""
        # Where a worker took the job over, both remove until nothing is left, and the worker ends the job.
        if done:
            tx.jobs.finish(purge.job.id, token)
        else:
            tx.jobs.renew(purge.job.id, token, self._clock.now() + _LEASE)
        return removed, done

    def _job(self, work: PurgeWork) -> Job:
        """Return a job that this call holds the lease of; it names no owner, whose later deletion would remove it."""
        now = self._clock.now()
        return Job(
            id=new_id(),
            seq=0,
            kind=JobKind.PURGE,
            lane="",
            payload=work.payload(),
            run_at=now,
            created_at=now,
            state=JobState.RUNNING,
            attempts=1,
            lease_token=new_id(),
            lease_until=now + _LEASE,
        )
