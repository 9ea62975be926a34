"""Which runs of a session's turns become snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from memoranda.engine.config_model import SnapshotConfig
from memoranda.engine.ids import new_id
from memoranda.engine.records import Session, Snapshot, SnapshotState
from memoranda.engine.session_policies import SessionPolicy


def runs(session: Session, size: int, *, rest: bool) -> Iterator[tuple[int, int]]:
    """Cut a session's unpromoted turns into runs (first, last) of ``size``; with ``rest`` the last may be shorter."""
    first = session.promoted_seq + 1
    while session.last_seq - first + 1 >= size:
        yield first, first + size - 1
        first += size
    if rest and first <= session.last_seq:
        yield first, session.last_seq


def policy_runs(session: Session, policy: SessionPolicy, calls: int, *, rest: bool) -> list[tuple[int, int]]:
    """Cut a session's unpromoted turns as its policy says, after ``calls`` writes; ``rest`` takes all there is."""
    if policy.run_length is not None:
        return list(runs(session, policy.run_length, rest=rest))
    if not session.unpromoted or (calls < policy.calls and not rest):
        return []
    return [(session.promoted_seq + 1, session.last_seq)]


def new_snapshot(
    session: Session, run: tuple[int, int], present: int, reason: str, now: datetime, config: SnapshotConfig
) -> Snapshot:
    """Return the snapshot of a run of a session's turns, ``present`` of which still exist."""
    return Snapshot(
        id=new_id(),
        user_id=session.user_id,
        session_id=session.session_id,
        agent_id=session.agent_id,
        first_seq=run[0],
        last_seq=run[1],
        message_count=present,
        reason=reason,
        state=SnapshotState.PENDING,
        created_at=now,
        updated_at=now,
        expires_at=now + timedelta(days=config.ttl_days),
    )
