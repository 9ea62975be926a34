"""How jobs are made: their payload, their lane, and the key that keeps at most one of them pending."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memoranda.engine.ids import new_id
from memoranda.engine.records import STM, Job, JobKind, JsonObject

# Made once: `json.dumps` makes an encoder each time it is given options.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


REREAD: Final = "reread"
"""In the payload of an extract job: the number of the one turn that is read again."""


@dataclass(frozen=True, slots=True)
class JobOwner:
    """Whose data a job works on; the pending jobs of an owner who is deleted go with it."""

    user_id: str = ""
    session_id: str = ""


def promote_job(owner: JobOwner, *, run_at: datetime, now: datetime) -> Job:
    """Look, at ``run_at``, whether a session's turns are due for a snapshot; at most one is pending a session."""
    return _job(
        JobKind.PROMOTE, owner, now, run_at=run_at, dedupe_key=_name("promote", owner.user_id, owner.session_id)
    )


def extract_job(owner: JobOwner, snapshot_id: str, *, extractor: str, now: datetime) -> Job:
    """Extract one snapshot; the snapshots of one user are extracted one at a time, in order."""
    name, payload = _name("extract", snapshot_id), {"snapshot_id": snapshot_id}
    lane = extract_lane(owner.user_id)
    return replace(_job(JobKind.EXTRACT, owner, now, payload=payload, lane=lane, dedupe_key=name), extractor=extractor)


def reread_job(job: Job, turn_seq: int) -> Job:
    """Extract one turn of a snapshot once more, beside what was extracted of the snapshot (``job``)."""
    name = _name("extract", str(job.payload["snapshot_id"]), str(turn_seq))
    return replace(job, payload={**job.payload, REREAD: turn_seq}, dedupe_key=name)


def embed_turns_job(owner: JobOwner, *, embedder: str, now: datetime) -> Job:
    """Embed the turns of a session that await their vectors; at most one is pending a session."""
    name = _name("embed", STM, owner.user_id, owner.session_id)
    payload = {"session_id": owner.session_id}
    return _job(JobKind.EMBED, owner, now, payload=payload, lane=name, dedupe_key=name, embedder=embedder)


def embed_memories_job(user_id: str, *, embedder: str, now: datetime) -> Job:
    """Embed a user's memories that await their vectors, of every kind; at most one is pending a user."""
    name = _name("embed", "memories", user_id)
    return _job(JobKind.EMBED, JobOwner(user_id), now, lane=name, dedupe_key=name, embedder=embedder)


def expire_job(*, run_at: datetime, now: datetime) -> Job:
    """Remove what has expired by ``run_at``; enqueued by every write that has a lifetime, one is pending a project."""
    return _job(JobKind.EXPIRE, JobOwner(), now, run_at=run_at, dedupe_key="expire")


def backfill_job(source: str, *, now: datetime) -> Job:
    """Give a source's records what was declared later: values of filter keys, vectors of the first embedder."""
    name = _name("backfill", source)
    return _job(JobKind.BACKFILL, JobOwner(), now, payload={"source": source}, lane=name, dedupe_key=name)


def extract_lane(user_id: str) -> str:
    return _name("extract", user_id)


def session_extract_lane(user_id: str, session_id: str) -> str:
    """The lane of a session that is extracted by a policy of its own."""
    return _name("extract", user_id, session_id)


def _name(*parts: str) -> str:
    # JSON keeps parts apart whatever they hold.
    return _encode(parts)


def _job(
    kind: JobKind,
    owner: JobOwner,
    now: datetime,
    *,
    payload: JsonObject | None = None,
    run_at: datetime | None = None,
    lane: str = "",
    dedupe_key: str | None = None,
    embedder: str = "",
) -> Job:
    return Job(
        id=new_id(),
        seq=0,
        kind=kind,
        lane=lane,
        payload=payload or {},
        run_at=run_at or now,
        created_at=now,
        dedupe_key=dedupe_key,
        embedder=embedder,
        user_id=owner.user_id,
        session_id=owner.session_id,
    )
