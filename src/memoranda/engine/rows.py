"""The rows of a store, one small group per noun, and the queries they answer.

Rules that hold for every method here: nothing crosses the project; a read that finds nothing returns ``None`` or an
empty sequence; a write takes part in the transaction it is called in and is undone with it; order is stated where there
is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memoranda.engine.filters import Filter
from memoranda.engine.records import (
    Failure,
    IndexEntry,
    IndexState,
    Job,
    JobKind,
    JobState,
    Link,
    MemoryRecord,
    MemoryStatus,
    Profile,
    ProjectRow,
    RecordVectors,
    Tombstone,
    Turn,
    VectorState,
)
from memoranda.engine.scope import Scope


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What restricts candidates but never statistics. ``keys`` restricts to these records.

    ``valid_at`` restricts memories to those that held then, ``said_by`` turns to those of that time at the latest.
    """

    record_types: tuple[str, ...] = ()
    domain: str | None = None
    tags: tuple[str, ...] = ()
    where: Filter | None = None
    valid_at: datetime | None = None
    said_by: datetime | None = None
    keys: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class LegQuery:
    """What both search legs share. ``now`` hides what has expired."""

    scope: Scope
    source: str
    states: tuple[IndexState, ...]
    now: datetime
    narrowing: Narrowing = Narrowing()


@dataclass(frozen=True, slots=True)
class TextMatches:
    """The postings of the partitions that were read, as parallel columns sorted by (term, key).

    ``candidates`` is 1 where the row satisfies the narrower conditions (session, agent, narrowing, expiry, tombstones);
    the other rows count for the statistics alone. ``records`` and ``total_length`` are those of all the partitions.
    """

    terms: Sequence[str]
    keys: Sequence[int]
    frequencies: Sequence[int]
    lengths: Sequence[int]
    candidates: Sequence[int]
    records: int
    total_length: int


@dataclass(frozen=True, slots=True)
class ScoredKey:
    """A record's key and its score in one leg; larger is better."""

    key: int
    score: float


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """What the index knows about a record: where it lives and whether it has its vector."""

    key: int
    record_id: str
    source: str
    state: IndexState
    user_id: str
    session_id: str
    vector_state: VectorState


class SearchRows(Protocol):
    """The two legs of a search, and the way from keys to records."""

    def text(self, query: LegQuery, terms: Sequence[str]) -> TextMatches:
        """Return the postings of ``terms`` in the query's partitions."""
        ...

    def vectors(self, query: LegQuery, model: str, vector: Sequence[float], limit: int) -> Sequence[ScoredKey]:
        """Return the ``limit`` best records by cosine with the best of their pieces, exact, ties by key."""
        ...

    def vectors_of(self, keys: Sequence[int], model: str) -> Sequence[RecordVectors]:
        """Return the vectors of this model that these records have, in key order."""
        ...

    def documents(self, keys: Sequence[int]) -> Sequence[DocumentRow]:
        """Return the index rows of these keys that exist, in key order."""
        ...

    def listing(self, query: LegQuery, limit: int) -> Sequence[int]:
        """Return the newest candidate keys, newest first (used where a query has no searchable word)."""
        ...


class IndexRows(Protocol):
    """The text index, the vectors, the filterable values and the counts of each partition."""

    def add(self, entries: Sequence[IndexEntry]) -> None:
        """Add records that are not in the index; their counts rise."""
        ...

    def remove(self, keys: Sequence[int]) -> int:
        """Remove these records' postings, vectors and values; the counts fall. Return the number of postings removed.

        Raises when a record's postings are not exactly those that its list of terms names.
        """
        ...

    def set_state(self, keys: Sequence[int], state: IndexState) -> None:
        """Move records between current and superseded, with their postings, vectors and counts."""
        ...

    def put_vectors(self, vectors: Sequence[RecordVectors]) -> None:
        """Store vectors of indexed records, replacing those of the same model; a record that is gone is skipped."""
        ...

    def set_vector_state(self, keys: Sequence[int], state: VectorState) -> None:
        """Mark records, e.g. as refused by the embedder."""
        ...

    def awaiting_vectors(self, source: str, user_id: str, session_id: str | None, limit: int) -> Sequence[DocumentRow]:
        """Return up to ``limit`` records whose vector is pending, oldest of these first."""
        ...

    def replace_values(self, entries: Sequence[IndexEntry]) -> None:
        """Replace the filterable values of indexed records (back-filling a key declared later)."""
        ...

    def keys_after(self, source: str, after: int, limit: int) -> Sequence[DocumentRow]:
        """Return indexed records of a source with a key above ``after``, in key order (for index walks)."""
        ...

    def forget_empty(self, user_id: str) -> int:
        """Remove the counts of a user's partitions that hold nothing any more, which name the user; return how many."""
        ...

    def expired(self, now: datetime, limit: int) -> Sequence[DocumentRow]:
        """Return indexed records whose lifetime has ended."""
        ...


class TurnRows(Protocol):
    """Turns, append-only but for deletion."""

    def insert(self, turns: Sequence[Turn]) -> None: ...

    def by_idempotency_key(self, user_id: str, session_id: str, key: str) -> Turn | None: ...

    def get(self, turn_ids: Sequence[str]) -> Sequence[Turn]:
        """Return the turns that exist and are not hidden, in (user, session, turn_seq) order."""
        ...

    def run(self, user_id: str, session_id: str, first_seq: int, last_seq: int) -> Sequence[Turn]:
        """Return the turns of one session with these numbers, both included, in order."""
        ...

    def page(self, scope: Scope, after: tuple[str, str, int] | None, limit: int, now: datetime) -> Sequence[Turn]:
        """Return turns in (user, session, turn_seq) order, after the given position."""
        ...

    def mark_promoted(self, user_id: str, session_id: str, first_seq: int, last_seq: int, snapshot_id: str) -> None: ...

    def of_snapshot(self, snapshot_id: str) -> Sequence[Turn]: ...

    def release_keys(self, scope: Scope) -> None:
        """Forget the idempotency keys of a scope that is being deleted, so that later writes may use them."""
        ...

    def update(self, turn: Turn, now: datetime) -> None:
        """Write content, parts, metadata and lifetime of a turn that exists; the index is the caller's."""
        ...

    def slice(self, user_id: str, session_id: str, *, skip: int, limit: int, now: datetime) -> Sequence[Turn]:
        """Return ``limit`` turns of one session, in order, after the first ``skip`` of those that are alive."""
        ...

    def count(self, user_id: str, session_id: str, now: datetime) -> int:
        """Return how many turns of one session are alive."""
        ...

    def newest(
        self, scope: Scope, where: Filter | None, before_key: int | None, limit: int, now: datetime
    ) -> Sequence[Turn]:
        """Return the turns of a scope, latest written first, below a key."""
        ...

    def delete(self, turn_ids: Sequence[str]) -> int:
        """Delete rows by id; the index is the caller's. Return how many went."""
        ...


@dataclass(frozen=True, slots=True)
class NaturalKey:
    """(kind, owner, domain, name): see MemoryRecord."""

    kind: str
    user_id: str
    domain: str
    name: str


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """A listing of memories by key; ``name`` and ``domain`` restrict to natural keys. The engine answers ``as_of``.

    ``below`` restricts to a domain and those under it, by whole segments. With ``newest_first`` the page goes on below
    ``after_key``.
    """

    scope: Scope
    now: datetime
    kind: str | None = None
    domain: str | None = None
    below: str | None = None
    name: str | None = None
    statuses: tuple[MemoryStatus, ...] = (MemoryStatus.CURRENT,)
    where: Filter | None = None
    after_key: int = 0
    limit: int = 50
    newest_first: bool = False


class MemoryRows(Protocol):
    """Memories and their history."""

    def insert(self, records: Sequence[MemoryRecord]) -> None: ...

    def update(self, record: MemoryRecord) -> None:
        """Write every field of an existing record (found by id)."""
        ...

    def get(self, memory_ids: Sequence[str]) -> Sequence[MemoryRecord]:
        """Return the records that exist and are not hidden, expired ones included, in key order."""
        ...

    def in_slot(self, kind: str, user_id: str, slot: str) -> MemoryRecord | None:
        """Return the current record in a slot, hidden and expired ones included; ``get`` leaves hidden ones out."""
        ...

    def query(self, query: MemoryQuery) -> Sequence[MemoryRecord]: ...

    def domains(self, scope: Scope, now: datetime) -> Sequence[str]:
        """Return the distinct domains of current taxonomic memories, sorted."""
        ...

    def delete(self, memory_ids: Sequence[str]) -> int:
        """Delete rows, history and saves; index, links and sources are the caller's. Return how many records went."""
        ...

    def add_history(self, record: MemoryRecord, recorded_at: datetime) -> None:
        """Keep this state of a record as it was before a change; a state of the same version is replaced."""
        ...

    def history(self, memory_id: str) -> Sequence[MemoryRecord]:
        """Return the earlier states of a record, oldest version first."""
        ...

    def remember_save(self, user_id: str, idempotency_key: str, memory_id: str, digest: str, now: datetime) -> None: ...

    def saved(self, user_id: str, idempotency_key: str) -> tuple[str, str] | None:
        """Return (memory id, digest) of the save that used this key."""
        ...


class SourceRows(Protocol):
    """Many-to-many provenance: which turns and snapshots a memory was derived from."""

    def add(self, memory_id: str, turn_ids: Sequence[str], snapshot_id: str) -> None: ...

    def turns_of(self, memory_id: str) -> Sequence[str]: ...

    def snapshots_of(self, memory_id: str) -> Sequence[str]: ...

    def memories_of_turns(self, turn_ids: Sequence[str]) -> Sequence[str]: ...

    def remove_turns(self, turn_ids: Sequence[str]) -> Sequence[str]:
        """Forget these turns as sources; return the extracted memories that named one and have none left."""
        ...

    def remove_snapshots(self, snapshot_ids: Sequence[str]) -> Sequence[str]:
        """Forget these snapshots as sources; return the extracted memories left without one and without a turn."""
        ...

    def remove_memories(self, memory_ids: Sequence[str]) -> None: ...


class LinkRows(Protocol):
    """Typed relations between memories."""

    def insert(self, link: Link) -> None: ...

    def get(self, link_id: str) -> Link | None: ...

    def of(self, memory_ids: Sequence[str]) -> Sequence[Link]:
        """Return the links with either end among these, in creation order."""
        ...

    def update(self, link: Link) -> None:
        """Write the labels, time and metadata of a link that exists; its ends stay."""
        ...

    def delete(self, link_ids: Sequence[str]) -> int: ...


class ProfileRows(Protocol):
    """Profiles of users and agents."""

    def put(self, profile: Profile) -> None: ...

    def get(self, subject: str, profile_id: str) -> Profile | None: ...

    def page(self, subject: str, after: str, limit: int) -> Sequence[Profile]: ...

    def delete(self, subject: str, profile_id: str) -> int: ...


class JobRows(Protocol):
    """The durable queue. A lease is a token and an end; whoever holds the token may finish the job."""

    def enqueue(self, job: Job) -> bool:
        """Add a job, last in its lane (``job.seq`` is given by the store).

        Where a pending job has the same ``dedupe_key`` keep that one, with the earlier ``run_at`` of the two unless it
        is backing off from a failure, and return False.
        """
        ...

    def claim(
        self,
        *,
        kinds: Sequence[JobKind],
        extractors: Sequence[str],
        embedders: Sequence[str],
        now: datetime,
        lease_until: datetime,
        token: str,
        lane: str | None = None,
    ) -> Job | None:
        """Take the due job with the lowest (run_at, seq) whose lane is free and whose providers are among those given.

        With ``lane``, the next job of that lane, whether it is due or waits.

        A lane is free when no earlier job of it is pending or running. A running job whose lease has run out is due
        again. The claim raises ``attempts`` by one. ``extractors``/``embedders`` always include ``""``.
        """
        ...

    def leased_in(self, lane: str, now: datetime) -> bool:
        """Whether somebody runs a job of a lane now."""
        ...

    def renew(self, job_id: str, token: str, lease_until: datetime) -> bool:
        """Extend a lease; False when the token no longer holds it."""
        ...

    def finish(self, job_id: str, token: str) -> bool:
        """Remove a finished job; False when the token no longer holds it (the caller then rolls back)."""
        ...

    def retry(self, job_id: str, token: str, run_at: datetime, error: str, count_attempt: bool) -> bool:
        """Give the job back for later; merged into a pending job of the same ``dedupe_key`` where there is one."""
        ...

    def get(self, job_id: str) -> Job | None: ...

    def next_due(
        self, *, extractors: Sequence[str] | None = None, embedders: Sequence[str] | None = None
    ) -> datetime | None:
        """Return when the earliest pending or leased job whose lane is free becomes due, or None when there is none.

        With providers, only jobs that want one of these count.
        """
        ...

    def counts(self) -> Sequence[tuple[JobKind, JobState, int, datetime]]:
        """Return (kind, state, number, earliest run_at)."""
        ...

    def remove(self, scope: Scope) -> int:
        """Remove pending jobs of a user or session that is being deleted; purge jobs stay."""
        ...

    def busy(
        self, now: datetime, *, extractors: Sequence[str], embedders: Sequence[str], session_id: str | None = None
    ) -> int:
        """Return the number of jobs that are under a lease, or are due and could run with these providers.

        Jobs that wait behind a lane's head that is not due, or that wants another provider, are not counted.
        """
        ...


class FailureRows(Protocol):
    """Jobs that ended without success."""

    def insert(self, failure: Failure) -> None: ...

    def get(self, failure_id: str) -> Failure | None: ...

    def page(self, failure_class: str | None, after: str, limit: int) -> Sequence[Failure]:
        """Return failures, latest first, after the id ``after`` (empty: from the start)."""
        ...

    def counts(self) -> Sequence[tuple[str, int]]:
        """Return (class, number), by class."""
        ...

    def delete(self, failure_ids: Sequence[str]) -> int: ...

    def remove(self, scope: Scope) -> int: ...


class ProjectRows(Protocol):
    """The project's own row and its counters."""

    def get(self) -> ProjectRow | None: ...

    def put(self, row: ProjectRow) -> None: ...

    def allocate_keys(self, count: int) -> int:
        """Return the first of ``count`` consecutive keys never given out before."""
        ...

    def last_key(self) -> int: ...

    def add_tombstone(self, tombstone: Tombstone) -> None: ...

    def tombstones(self) -> Sequence[Tombstone]: ...

    def reveal(self) -> None:
        """Show what tombstones hide for the rest of this transaction; for whoever removes it."""
        ...

    def remove_tombstone(self, tombstone_id: str) -> None: ...

    def totals(self, now: datetime) -> Sequence[tuple[str, int]]:
        """Return (noun, number) for turns, sessions, snapshots and the current memories of each kind."""
        ...

    def drop(self) -> None:
        """Remove the project with everything in it; who may use it stays."""
        ...
