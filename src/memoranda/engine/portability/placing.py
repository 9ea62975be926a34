"""One batch of an import: which lines can be added to the project, and adding them with their index and their jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from memoranda.engine.analyser import Analyser
from memoranda.engine.config import ProjectConfig
from memoranda.engine.feed.log import ChangeLog
from memoranda.engine.feed.rows import Operation
from memoranda.engine.ids import new_id
from memoranda.engine.image_rows import Blob
from memoranda.engine.indexing import entry_for_image, entry_for_memory, entry_for_profile, entry_for_turn
from memoranda.engine.jobs.planner import JobPlanner, extracts
from memoranda.engine.jobs.queue import JobOwner, embed_memories_job, embed_turns_job
from memoranda.engine.portability.lines import (
    IMAGE,
    LINK,
    MEMORY,
    PROFILE,
    SESSION,
    SNAPSHOT,
    TURN,
    ImageLine,
    Line,
    LinkLine,
    MemoryLine,
    ProfileLine,
    SessionLine,
    TurnLine,
    Vectors,
)
from memoranda.engine.ports import Clock, Transaction
from memoranda.engine.records import (
    IndexEntry,
    MemoryStatus,
    RecordVectors,
    Session,
    Snapshot,
    SnapshotState,
    VectorState,
)


@dataclass(frozen=True, slots=True)
class Target:
    """The project that lines are added to; ``embedder`` is the model of its vectors, empty where there is none."""

    config: ProjectConfig
    analyser: Analyser
    planner: JobPlanner
    embedder: str
    clock: Clock


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a line: the types that were added, were there before, and could not be added, and why not."""

    added: tuple[str, ...] = ()
    existing: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict(
            self.added + other.added,
            self.existing + other.existing,
            self.conflicts + other.conflicts,
            self.reasons + other.reasons,
        )


def _refused(what: str, reason: str) -> Verdict:
    return Verdict(conflicts=(what,), reasons=(reason,))


class Placer:
    """Adds lines to a project in one transaction; ``finish`` writes their index and what must follow."""

    def __init__(self, tx: Transaction, target: Target, now: datetime) -> None:
        self._tx = tx
        self._analyser = target.analyser
        self._config = target.config
        self._planner = target.planner
        self._embedder = target.embedder
        self._now = now
        self._changes = ChangeLog(target.clock, target.config.change_feed)
        self._entries: list[IndexEntry] = []
        self._vectors: list[RecordVectors] = []
        self._turns_of: set[tuple[str, str]] = set()
        self._memories_of: set[str] = set()
        self._expiries: list[datetime | None] = []
        self.awaiting = 0
        """How many of the records that were added wait for their vectors."""

    def place(self, line: Line) -> Verdict:
        """Add a line where it can be added."""
        match line:
            case TurnLine():
                return self._turn(line)
            case MemoryLine():
                return self._memory(line)
            case ProfileLine():
                return self._profile(line)
            case ImageLine():
                return self._image(line)
            case LinkLine():
                return self._link(line)
            case SessionLine():
                return self._session(line)
            case _:
                return Verdict()

    def finish(self) -> None:
        """Index what was added, store its vectors, and enqueue what must follow."""
        self._tx.index.add(self._entries)
        if self._vectors:
            self._tx.index.put_vectors(self._vectors)
        for user_id, session_id in sorted(self._turns_of):
            job = embed_turns_job(JobOwner(user_id, session_id), embedder=self._embedder, now=self._now)
            self._tx.jobs.enqueue(job)
        for user_id in sorted(self._memories_of):
            self._tx.jobs.enqueue(embed_memories_job(user_id, embedder=self._embedder, now=self._now))
        self._planner.after_lifetimes(self._tx, self._expiries, self._now)

    def _turn(self, line: TurnLine) -> Verdict:
        tx, turn = self._tx, line.turn
        if tx.turns.get([turn.id]):
            return Verdict(existing=(TURN,))
        if tx.turns.run(turn.user_id, turn.session_id, turn.turn_seq, turn.turn_seq):
            return _refused(TURN, f"session {turn.session_id!r} has another turn {turn.turn_seq}")
        key = turn.idempotency_key
        if key is not None and tx.turns.by_idempotency_key(turn.user_id, turn.session_id, key) is not None:
            return _refused(TURN, f"session {turn.session_id!r} has another turn of the idempotency key {key!r}")
        turn = replace(turn, key=tx.projects.allocate_keys(1))
        tx.turns.insert([turn])
        self._changes.turns_created(tx, [turn])
        entry = entry_for_turn(turn, self._analyser, self._config, embed=self._planner.embeds_turns)
        if self._index(entry, line.vectors):
            self._turns_of.add((turn.user_id, turn.session_id))
        return Verdict(added=(TURN,))

    def _memory(self, line: MemoryLine) -> Verdict:
        tx, record = self._tx, line.record
        if tx.memories.get([record.id]):
            return Verdict(existing=(MEMORY,))
        current = record.status is MemoryStatus.CURRENT
        if current and tx.memories.in_slot(record.kind, record.user_id, record.slot) is not None:
            named = "/".join(part for part in (record.domain, record.name) if part)
            return _refused(MEMORY, f"another {record.kind} memory holds the name {named!r}")
        record = replace(record, key=tx.projects.allocate_keys(1))
        tx.memories.insert([record])
        self._changes.memory(tx, Operation.CREATED, record)
        self._belongings(line, record.key)
        entry = entry_for_memory(record, self._analyser, self._config, embed=self._planner.embeds_memories)
        if self._index(entry, line.vectors):
            self._memories_of.add(record.user_id)
        return Verdict(added=(MEMORY,))

    def _belongings(self, line: MemoryLine, key: int) -> None:
        tx, memory_id = self._tx, line.record.id
        for state in line.history:
            tx.memories.add_history(replace(state.record, key=key), state.recorded_at)
        tx.sources.add(memory_id, line.turn_ids, "")
        for snapshot_id in line.snapshot_ids:
            tx.sources.add(memory_id, (), snapshot_id)
        for save in line.saves:
            # A key that another save of the project has used stays its own.
            if tx.memories.saved(save.user_id, save.idempotency_key) is None:
                used = (save.user_id, save.idempotency_key, memory_id, save.digest)
                tx.memories.remember_save(*used, save.created_at)

    def _profile(self, line: ProfileLine) -> Verdict:
        tx, profile = self._tx, line.profile
        if tx.profiles.get(profile.subject, profile.id) is not None:
            return Verdict(existing=(PROFILE,))
        profile = replace(profile, key=tx.projects.allocate_keys(1))
        tx.profiles.put(profile)
        # Profiles are embedded when they are written, and never later.
        never = line.vectors is None or line.vectors.state is VectorState.PENDING
        self._index(entry_for_profile(profile, self._analyser, self._config), None if never else line.vectors)
        return Verdict(added=(PROFILE,))

    def _image(self, line: ImageLine) -> Verdict:
        tx, image = self._tx, line.image
        if tx.images.get([image.id]):
            return Verdict(existing=(IMAGE,))
        if image.turn_id and not tx.turns.get([image.turn_id]):
            return _refused(IMAGE, f"turn {image.turn_id!r}, which it is part of, is not in the project")
        # Bytes of its own: an id in the file may be another image's here.
        image = replace(image, key=tx.projects.allocate_keys(1), blob_id=new_id())
        tx.images.put_blob(Blob(image.blob_id, image.mime_type, line.data, image.created_at))
        tx.images.insert(image)
        entry = entry_for_image(image, self._analyser, self._config, embed=self._planner.embeds_memories)
        if self._index(entry, line.vectors):
            self._memories_of.add(image.user_id)
        return Verdict(added=(IMAGE,))

    def _index(self, entry: IndexEntry, vectors: Vectors | None) -> bool:
        """Keep a record's entry for the end of the batch; return whether it awaits its vectors."""
        if vectors is not None:
            entry = replace(entry, vector_state=vectors.state)
            if vectors.pieces:
                self._vectors.append(RecordVectors(entry.key, self._embedder, vectors.pieces))
        self._entries.append(entry)
        self._expiries.append(entry.expires_at)
        awaits = entry.vector_state is VectorState.PENDING
        self.awaiting += awaits
        return awaits

    def _link(self, line: LinkLine) -> Verdict:
        tx, link = self._tx, line.link
        if tx.links.get(link.id) is not None:
            return Verdict(existing=(LINK,))
        ends = {record.id for record in tx.memories.get([link.source_id, link.target_id])}
        missing = [end for end in (link.source_id, link.target_id) if end not in ends]
        if missing:
            return _refused(LINK, f"memory {missing[0]!r}, which it links, is not in the project")
        same = (link.source_id, link.target_id, link.relation)
        if any((each.source_id, each.target_id, each.relation) == same for each in tx.links.of([link.source_id])):
            return _refused(LINK, f"the memories are linked as {link.relation!r} already")
        tx.links.insert(link)
        return Verdict(added=(LINK,))

    def _session(self, line: SessionLine) -> Verdict:
        tx, session = self._tx, line.session
        before = tx.sessions.get(session.user_id, session.session_id)
        if before is not None:
            session = _grown(before, session)
        tx.portable.put_session(session)
        verdict = Verdict(added=(SESSION,)) if before is None else Verdict(existing=(SESSION,))
        there = list(tx.snapshots.of_session(session.user_id, session.session_id)) if line.snapshots else []
        for snapshot in line.snapshots:
            verdict += self._snapshot(snapshot, there, marks=before is not None)
        if session.unpromoted and extracts(session, self._config):
            self._planner.schedule_promotion(tx, session, self._now)
        return verdict

    def _snapshot(self, snapshot: Snapshot, there: list[Snapshot], *, marks: bool) -> Verdict:
        tx = self._tx
        if tx.snapshots.get(snapshot.id) is not None:
            return Verdict(existing=(SNAPSHOT,))
        if any(each.first_seq <= snapshot.last_seq and snapshot.first_seq <= each.last_seq for each in there):
            return _refused(SNAPSHOT, f"session {snapshot.session_id!r} has another snapshot of the same turns")
        tx.snapshots.insert(snapshot)
        there.append(snapshot)
        if marks:
            run = (snapshot.user_id, snapshot.session_id, snapshot.first_seq, snapshot.last_seq)
            tx.turns.mark_promoted(*run, snapshot.id)
        if snapshot.state is SnapshotState.PENDING:
            self._planner.after_snapshot(tx, snapshot, self._now)
        else:
            self._expiries.append(snapshot.expires_at)
        return Verdict(added=(SNAPSHOT,))


def _grown(before: Session, given: Session) -> Session:
    """Return the project's own session, with room for the turns of the file."""
    return replace(
        before,
        last_seq=max(before.last_seq, given.last_seq),
        promoted_seq=max(before.promoted_seq, given.promoted_seq),
    )
