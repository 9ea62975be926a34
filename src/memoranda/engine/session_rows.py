"""The rows of sessions and of their snapshots. The rules of ``engine.rows`` hold here too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memoranda.engine.records import Identity, Session, Snapshot
from memoranda.engine.scope import Scope


@dataclass(frozen=True, slots=True)
class SessionAdvance:
    """What a write of ``count`` turns does to its session."""

    identity: Identity
    count: int
    now: datetime


class SessionRows(Protocol):
    """Sessions: (project, user, session id)."""

    def advance(self, advance: SessionAdvance) -> Session:
        """Take the next ``count`` turn numbers, creating the session if absent; return it as it is afterwards."""
        ...

    def get(self, user_id: str, session_id: str) -> Session | None: ...

    def owners(self, session_id: str) -> Sequence[Session]:
        """Return the sessions of this id of every user, by user."""
        ...

    def of_user(self, user_id: str) -> Sequence[Session]:
        """Return a user's sessions, by session id."""
        ...

    def insert(self, session: Session) -> bool:
        """Add a session that has no turns yet; False where its user has one of this id."""
        ...

    def update(self, session: Session) -> None:
        """Write metadata, policy, runtime configuration and state, summary and ``updated_at`` of a session."""
        ...

    def query(self, scope: Scope, limit: int | None = None) -> Sequence[Session]:
        """Return the sessions of a scope, latest created first; all of them without a ``limit``."""
        ...

    def unpromoted(self, scope: Scope, limit: int) -> Sequence[Session]:
        """Return sessions with turns that no snapshot holds, longest idle first."""
        ...

    def set_promoted(self, user_id: str, session_id: str, promoted_seq: int, now: datetime) -> None: ...

    def delete(self, user_id: str, session_id: str) -> int: ...


class SnapshotRows(Protocol):
    """Snapshots and their outcome."""

    def insert(self, snapshot: Snapshot) -> None: ...

    def get(self, snapshot_id: str) -> Snapshot | None: ...

    def of_session(self, user_id: str, session_id: str) -> Sequence[Snapshot]:
        """Return the session's snapshots in turn order."""
        ...

    def finish(self, snapshot: Snapshot) -> bool:
        """Store state, summary, extractor and lifetime; False when the snapshot is gone."""
        ...

    def delete(self, snapshot_ids: Sequence[str]) -> int: ...

    def expired(self, now: datetime, limit: int) -> Sequence[Snapshot]: ...
