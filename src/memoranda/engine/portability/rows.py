"""What export and import need of a store beside the rows of each noun: walks over a whole project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memoranda.engine.records import Link, MemoryRecord, Session


@dataclass(frozen=True, slots=True)
class Place:
    """A record in the index: ``vector_state`` tells whether it has its vector."""

    key: int
    record_id: str
    source: str
    vector_state: str


@dataclass(frozen=True, slots=True)
class HistoryState:
    """An earlier state of a memory, and when it was put aside."""

    record: MemoryRecord
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Save:
    """A save that used an idempotency key, with the digest of what it saved."""

    user_id: str
    idempotency_key: str
    memory_id: str
    digest: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Sources:
    """The turns and snapshots that a memory was derived from, each by id in order."""

    memory_id: str
    turn_ids: tuple[str, ...] = ()
    snapshot_ids: tuple[str, ...] = ()


class PortableRows(Protocol):
    """Walks over a project. A page is empty where there is no more; what a deletion hides is not left out."""

    def places(self, after: int, limit: int) -> Sequence[Place]:
        """Return the records of every source with a key above ``after``, in key order."""
        ...

    def sessions(self, after: tuple[str, str] | None, limit: int) -> Sequence[Session]:
        """Return sessions in (user, session id) order, after the given one."""
        ...

    def links(self, after: str, limit: int) -> Sequence[Link]:
        """Return links in order of id, after the given one."""
        ...

    def histories(self, memory_ids: Sequence[str]) -> Sequence[HistoryState]:
        """Return the earlier states of these memories, by memory and version."""
        ...

    def saves(self, memory_ids: Sequence[str]) -> Sequence[Save]:
        """Return the saves that wrote these memories, by user and idempotency key."""
        ...

    def sources(self, memory_ids: Sequence[str]) -> Sequence[Sources]:
        """Return the sources of those of these memories that have any, by memory."""
        ...

    def put_session(self, session: Session) -> None:
        """Write every field of a session, in place of the one before if there is one."""
        ...
