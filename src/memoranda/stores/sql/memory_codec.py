"""Memories as database rows, and their earlier states as JSON."""

from __future__ import annotations

import json
from datetime import datetime

from memoranda.engine.records import MemoryRecord, MemoryStatus
from memoranda.stores.sql.codec import (
    from_micros,
    object_from,
    optional_json,
    optional_micros,
    optional_time,
    to_json,
    to_micros,
)
from memoranda.stores.sql.statement import Row

MEMORY_FIELDS = (
    "id",
    "key",
    "kind",
    "content",
    "user_id",
    "visibility",
    "created_at",
    "updated_at",
    "event_time",
    "valid_from",
    "record_type",
    "domain",
    "name",
    "slot",
    "body",
    "agent_id",
    "session_id",
    "metadata",
    "status",
    "version",
    "occurrences",
    "valid_to",
    "expires_at",
    "origin",
    "provenance",
)
"""The columns of a memory in the order that ``memory_from`` reads them."""

_STATUSES = {status.value: status for status in MemoryStatus}

HISTORY_FIELDS = ("memory_id", "version", "state", "valid_from", "valid_to", "recorded_at")


def memory_parameters(project_id: str, record: MemoryRecord) -> dict[str, object]:
    """Return a record's columns by name."""
    return {"project_id": project_id, **_columns(record)}


def _columns(record: MemoryRecord) -> dict[str, object]:
    return {
        "id": record.id,
        "key": record.key,
        "kind": record.kind,
        "content": record.content,
        "user_id": record.user_id,
        "visibility": record.visibility,
        "created_at": to_micros(record.created_at),
        "updated_at": to_micros(record.updated_at),
        "event_time": to_micros(record.event_time),
        "valid_from": to_micros(record.valid_from),
        "record_type": record.record_type,
        "domain": record.domain,
        "name": record.name,
        "slot": record.slot,
        "body": to_json(record.body),
        "agent_id": record.agent_id,
        "session_id": record.session_id,
        "metadata": optional_json(record.metadata),
        "status": record.status.value,
        "version": record.version,
        "occurrences": record.occurrences,
        "valid_to": optional_micros(record.valid_to),
        "expires_at": optional_micros(record.expires_at),
        "origin": record.origin,
        "provenance": to_json(record.provenance),
    }


def memory_from(row: Row) -> MemoryRecord:
    """Read a row of ``MEMORY_FIELDS``."""
    return MemoryRecord(
        id=row[0],
        key=row[1],
        kind=row[2],
        content=row[3],
        user_id=row[4],
        visibility=row[5],
        created_at=from_micros(row[6]),
        updated_at=from_micros(row[7]),
        event_time=from_micros(row[8]),
        valid_from=from_micros(row[9]),
        record_type=row[10],
        domain=row[11],
        name=row[12],
        slot=row[13],
        body=object_from(row[14]) or {},
        agent_id=row[15],
        session_id=row[16],
        metadata=object_from(row[17]),
        status=_STATUSES[row[18]],
        version=row[19],
        occurrences=row[20],
        valid_to=optional_time(row[21]),
        expires_at=optional_time(row[22]),
        origin=row[23],
        provenance=object_from(row[24]) or {},
    )


def history_parameters(record: MemoryRecord, recorded_at: datetime) -> dict[str, object]:
    """Return an earlier state's columns; the whole record is kept as JSON of its columns."""
    return {
        "memory_id": record.id,
        "version": record.version,
        "state": to_json(_columns(record)),
        "valid_from": to_micros(record.valid_from),
        "valid_to": optional_micros(record.valid_to),
        "recorded_at": to_micros(recorded_at),
    }


def memory_from_history(state: str) -> MemoryRecord:
    """Read an earlier state."""
    columns = json.loads(state)
    return memory_from([columns[name] for name in MEMORY_FIELDS])
