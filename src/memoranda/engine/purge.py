"""Removing what a deletion hides, batch by batch, until its tombstone hides nothing any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memoranda.engine.deletion_counts import DeletionCounts
from memoranda.engine.image_rows import ImageQuery
from memoranda.engine.images import remove_images, remove_images_of_turns
from memoranda.engine.jobs.handler import Lease, Outcome
from memoranda.engine.memories import MemoryWriter
from memoranda.engine.ports import MemoryQuery, Store, Transaction
from memoranda.engine.records import Image, Job, JsonObject, MemoryRecord, MemoryStatus, Tombstone, Turn, VectorState
from memoranda.engine.scope import Scope

BATCH = 500
# What has expired is purged too: at this time nothing had.
_BEFORE_ANY = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PurgeWork:
    """What one tombstone hides; without a session it is everything of the user."""

    tombstone_id: str
    user_id: str
    session_id: str | None
    upto_key: int

    @classmethod
    def of(cls, tombstone: Tombstone) -> PurgeWork:
        return cls(tombstone.id, tombstone.user_id, tombstone.session_id, tombstone.upto_key)

    @classmethod
    def from_payload(cls, payload: JsonObject) -> PurgeWork:
        """Read a purge job's payload."""
        session_id = payload.get("session_id")
        return cls(
            tombstone_id=str(payload["tombstone_id"]),
            user_id=str(payload["user_id"]),
            session_id=None if session_id is None else str(session_id),
            upto_key=int(str(payload["upto_key"])),
        )

    def payload(self) -> dict[str, object]:
        return {
            "tombstone_id": self.tombstone_id,
            "user_id": self.user_id,
            "session_id": self.session_id,
            "upto_key": self.upto_key,
        }

    @property
    def scope(self) -> Scope:
        return Scope(user_id=self.user_id, session_id=self.session_id)


class Purger:
    """Removes records with everything derived from them, inside transactions that are the caller's."""

    def __init__(self, writer: MemoryWriter, *, batch: int = BATCH) -> None:
        self._writer = writer
        self.batch = batch
        self.changes = writer.changes

    def step(self, tx: Transaction, work: PurgeWork) -> tuple[DeletionCounts, bool]:
        """Remove at most one batch; return what went and whether it was the last, with which the tombstone goes."""
        tx.projects.reveal()
        turns = self._hidden_turns(tx, work)
        if turns:
            return self.remove_turns(tx, turns), False
        memories = self._hidden_memories(tx, work)
        if memories:
            return self._writer.remove(tx, memories), False
        images = self._hidden_images(tx, work)
        if images:
            return remove_images(tx, images), False
        counts = self._remove_sessions(tx, work)
        if work.session_id is None:
            # Again: a change that had begun may have committed after the first look.
            self.forget_in_feed(tx, work)
            self.changes.user_deleted(tx, work.user_id)
            counts += self._remove_profile(tx, work)
            tx.index.forget_empty(work.user_id)
        tx.projects.remove_tombstone(work.tombstone_id)
        return counts, True

    def remove_turns(self, tx: Transaction, turns: Sequence[Turn]) -> DeletionCounts:
        """Remove turns with their images, and the memories that were extracted from them alone."""
        counts = self.drop_turns(tx, turns)
        return counts + self._writer.delete(tx, tx.sources.remove_turns([turn.id for turn in turns]))

    def drop_turns(self, tx: Transaction, turns: Sequence[Turn]) -> DeletionCounts:
        """Remove turns with their images alone: what was extracted from them stays, and names them as sources."""
        ids, keys = [turn.id for turn in turns], [turn.key for turn in turns]
        rows = tx.search.documents(keys)
        self.changes.turns_deleted(tx, ids)
        counts = DeletionCounts(
            postings=tx.index.remove(keys),
            vectors=sum(row.vector_state is VectorState.PRESENT for row in rows),
            turns=tx.turns.delete(ids),
        )
        return counts + remove_images_of_turns(tx, ids)

    def remove_of_agent(self, tx: Transaction, scope: Scope) -> tuple[DeletionCounts, bool]:
        """Remove at most one batch of what an agent has outside its sessions, or at last its profile, which is told."""
        turns = tx.turns.newest(scope, None, None, self.batch, _BEFORE_ANY)
        if turns:
            return self.remove_turns(tx, turns), False
        everything = MemoryQuery(scope=scope, now=_BEFORE_ANY, statuses=tuple(MemoryStatus), limit=self.batch)
        memories = tx.memories.query(everything)
        if memories:
            return self._writer.remove(tx, memories), False
        images = tx.images.query(ImageQuery(scope, _BEFORE_ANY, limit=self.batch))
        if images:
            return remove_images(tx, images), False
        return self._remove_profile_of(tx, "agent", scope.agent_id or ""), True

    def remove_written(self, tx: Transaction, scope: Scope) -> DeletionCounts:
        """Remove every memory and image of a scope, those that were written directly too."""
        counts = DeletionCounts()
        everything = MemoryQuery(scope=scope, now=_BEFORE_ANY, statuses=tuple(MemoryStatus), limit=self.batch)
        while memories := tx.memories.query(everything):
            counts += self._writer.remove(tx, memories)
        while images := tx.images.query(ImageQuery(scope, _BEFORE_ANY, limit=self.batch)):
            counts += remove_images(tx, images)
        return counts

    def forget_in_feed(self, tx: Transaction, work: PurgeWork) -> None:
        """Remove the entries of the change feed that name the user of a deletion, those of later writes excepted."""
        tx.changes.forget_user(work.user_id, work.tombstone_id)

    def remove_snapshots(self, tx: Transaction, snapshot_ids: Sequence[str]) -> DeletionCounts:
        """Remove those of these snapshots that have no turn left, and the memories that came from them alone."""
        gone = [snapshot_id for snapshot_id in snapshot_ids if not tx.turns.of_snapshot(snapshot_id)]
        if not gone:
            return DeletionCounts()
        counts = DeletionCounts(snapshots=tx.snapshots.delete(gone))
        return counts + self._writer.delete(tx, tx.sources.remove_snapshots(gone))

    def remove_derived(self, tx: Transaction, work: PurgeWork) -> DeletionCounts:
        """Remove what came from a session alone: memories that name no session, and snapshots. Its turns are left."""
        counts, place = DeletionCounts(), None
        while turns := tx.turns.page(work.scope, place, self.batch, _BEFORE_ANY):
            counts += self._writer.delete(tx, tx.sources.remove_turns([turn.id for turn in turns]))
            place = (turns[-1].user_id, turns[-1].session_id, turns[-1].turn_seq)
        snapshots = [found.id for found in tx.snapshots.of_session(work.user_id, work.session_id or "")]
        counts += DeletionCounts(snapshots=tx.snapshots.delete(snapshots))
        return counts + self._writer.delete(tx, tx.sources.remove_snapshots(snapshots))

    def _hidden_turns(self, tx: Transaction, work: PurgeWork) -> list[Turn]:
        place: tuple[str, str, int] | None = None
        while turns := tx.turns.page(work.scope, place, self.batch, _BEFORE_ANY):
            hidden = [turn for turn in turns if turn.key <= work.upto_key]
            if hidden:
                return hidden
            # All of these were written after the deletion, and live.
            place = (turns[-1].user_id, turns[-1].session_id, turns[-1].turn_seq)
        return []

    def _hidden_memories(self, tx: Transaction, work: PurgeWork) -> Sequence[MemoryRecord]:
        if work.session_id is not None:
            return ()
        scope = Scope(user_id=work.user_id)
        everything = MemoryQuery(scope=scope, now=_BEFORE_ANY, statuses=tuple(MemoryStatus), limit=self.batch)
        return [record for record in tx.memories.query(everything) if record.key <= work.upto_key]

    def _hidden_images(self, tx: Transaction, work: PurgeWork) -> list[Image]:
        if work.session_id is not None:
            return []
        upto = ImageQuery(Scope(user_id=work.user_id), _BEFORE_ANY, before_key=work.upto_key + 1, limit=self.batch)
        return list(tx.images.query(upto))

    def _remove_sessions(self, tx: Transaction, work: PurgeWork) -> DeletionCounts:
        counts = DeletionCounts()
        named = work.session_id
        sessions = [named] if named is not None else [found.session_id for found in tx.sessions.of_user(work.user_id)]
        for session_id in sessions:
            snapshots = [snapshot.id for snapshot in tx.snapshots.of_session(work.user_id, session_id)]
            counts += self.remove_snapshots(tx, snapshots)
            scope = Scope(user_id=work.user_id, session_id=session_id)
            if not tx.turns.page(scope, None, 1, _BEFORE_ANY):
                tx.sessions.delete(work.user_id, session_id)
        return counts

    def _remove_profile(self, tx: Transaction, work: PurgeWork) -> DeletionCounts:
        profile = tx.profiles.get("user", work.user_id)
        if profile is None or profile.key > work.upto_key:
            return DeletionCounts()
        return self._remove_profile_of(tx, "user", work.user_id)

    def _remove_profile_of(self, tx: Transaction, subject: str, profile_id: str) -> DeletionCounts:
        profile = tx.profiles.get(subject, profile_id)
        if profile is None:
            return DeletionCounts()
        postings = tx.index.remove([profile.key])
        return DeletionCounts(postings=postings, profiles=tx.profiles.delete(subject, profile_id))


class PurgeHandler:
    """Runs purge jobs: finishes a deletion whose caller did not live to see its end."""

    def __init__(self, store: Store, project_id: str, purger: Purger) -> None:
        self._store = store
        self._project_id = project_id
        self._purger = purger

    def handle(self, job: Job, lease: Lease) -> Outcome:
        """Purge to the end; every batch is a whole, so that a job that is run twice does nothing twice."""
        work = PurgeWork.from_payload(job.payload)
        while not lease.finished:
            lease.check()
            with self._store.write(self._project_id) as tx:
                _, done = self._purger.step(tx, work)
                if done:
                    lease.finish(tx)
        return Outcome.DONE
