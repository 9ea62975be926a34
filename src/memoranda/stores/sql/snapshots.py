"""Rows of snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from sqlalchemy import bindparam, delete, insert, select, update

from memoranda.engine.records import Snapshot, SnapshotState
from memoranda.stores.schema import snapshots
from memoranda.stores.sql.codec import from_micros, optional_micros, optional_time, to_micros
from memoranda.stores.sql.statement import Executor, Row, Statement, chunks, in_list, list_parameters, list_size

_FIELDS = (
    "id",
    "user_id",
    "session_id",
    "agent_id",
    "first_seq",
    "last_seq",
    "message_count",
    "reason",
    "state",
    "created_at",
    "updated_at",
    "summary",
    "extractor",
    "expires_at",
)
_COLUMNS = tuple(snapshots.c[name] for name in _FIELDS)
_IN_PROJECT = snapshots.c.project_id == bindparam("project_id")

_INSERT = Statement(insert(snapshots).values({name: bindparam(name) for name in ("project_id", *_FIELDS)}))
_GET = Statement(select(*_COLUMNS).where(_IN_PROJECT, snapshots.c.id == bindparam("snapshot_id")))
_OF_SESSION = Statement(
    select(*_COLUMNS)
    .where(
        _IN_PROJECT,
        snapshots.c.user_id == bindparam("user_id"),
        snapshots.c.session_id == bindparam("session_id"),
    )
    .order_by(snapshots.c.first_seq)
)
_FINISH = Statement(
    update(snapshots)
    .where(_IN_PROJECT, snapshots.c.id == bindparam("snapshot_id"))
    .values(
        state=bindparam("new_state"),
        summary=bindparam("new_summary"),
        extractor=bindparam("new_extractor"),
        updated_at=bindparam("now"),
        expires_at=bindparam("new_expiry"),
    )
)
_EXPIRED = Statement(
    select(*_COLUMNS)
    .where(
        _IN_PROJECT,
        snapshots.c.expires_at <= bindparam("now"),
        # What is not extracted yet is accepted work: it does not expire under its job.
        snapshots.c.state != SnapshotState.PENDING.value,
    )
    .order_by(snapshots.c.expires_at, snapshots.c.id)
    .limit(bindparam("page_size"))
)


@lru_cache
def _delete(size: int) -> Statement:
    return Statement(delete(snapshots).where(_IN_PROJECT, in_list(snapshots.c.id, "id", size)))


def _snapshot(row: Row) -> Snapshot:
    return Snapshot(
        id=row[0],
        user_id=row[1],
        session_id=row[2],
        agent_id=row[3],
        first_seq=row[4],
        last_seq=row[5],
        message_count=row[6],
        reason=row[7],
        state=SnapshotState(row[8]),
        created_at=from_micros(row[9]),
        updated_at=from_micros(row[10]),
        summary=row[11] or "",
        extractor=row[12],
        expires_at=optional_time(row[13]),
    )


class SqlSnapshotRows:
    """``SnapshotRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def insert(self, snapshot: Snapshot) -> None:
        self._sql.execute(
            _INSERT,
            id=snapshot.id,
            user_id=snapshot.user_id,
            session_id=snapshot.session_id,
            agent_id=snapshot.agent_id,
            first_seq=snapshot.first_seq,
            last_seq=snapshot.last_seq,
            message_count=snapshot.message_count,
            reason=snapshot.reason,
            state=snapshot.state.value,
            created_at=to_micros(snapshot.created_at),
            updated_at=to_micros(snapshot.updated_at),
            summary=snapshot.summary or None,
            extractor=snapshot.extractor,
            expires_at=optional_micros(snapshot.expires_at),
        )

    def get(self, snapshot_id: str) -> Snapshot | None:
        row = self._sql.one(_GET, snapshot_id=snapshot_id)
        return None if row is None else _snapshot(row)

    def of_session(self, user_id: str, session_id: str) -> Sequence[Snapshot]:
        rows = self._sql.all(_OF_SESSION, user_id=user_id, session_id=session_id)
        return [_snapshot(row) for row in rows]

    def finish(self, snapshot: Snapshot) -> bool:
        changed = self._sql.execute(
            _FINISH,
            snapshot_id=snapshot.id,
            new_state=snapshot.state.value,
            new_summary=snapshot.summary or None,
            new_extractor=snapshot.extractor,
            new_expiry=optional_micros(snapshot.expires_at),
            now=to_micros(snapshot.updated_at),
        )
        return changed == 1

    def delete(self, snapshot_ids: Sequence[str]) -> int:
        return sum(
            self._sql.execute(_delete(list_size(len(part))), **list_parameters("id", part))
            for part in chunks(snapshot_ids)
        )

    def expired(self, now: datetime, limit: int) -> Sequence[Snapshot]:
        return [_snapshot(row) for row in self._sql.all(_EXPIRED, now=to_micros(now), page_size=limit)]
