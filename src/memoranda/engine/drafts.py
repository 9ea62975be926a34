"""What a caller hands in to save or change a memory, and what becomes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from typing import Final

from memoranda.engine.natural_keys import slot_of
from memoranda.engine.records import PRIVATE, PROCEDURAL, JsonObject, MemoryRecord, VectorState


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A memory as it is handed in.

    ``domain`` and ``name`` carry the natural key as in ``MemoryRecord``. ``upsert`` makes it replace the record of the
    same natural key. ``event_time`` defaults to now; ``ttl_days`` counts from now, and ``expires_at`` says the end
    itself. ``turn_ids`` and ``snapshot_id`` are its sources. ``id`` is the caller's, where the caller has one; a memory
    that is not ``valid`` is written as no longer current.
    """

    kind: str
    content: str
    user_id: str = ""
    agent_id: str = ""
    session_id: str = ""
    visibility: str = PRIVATE
    record_type: str = "memory"
    domain: str = ""
    name: str = ""
    body: JsonObject = field(default_factory=dict)
    metadata: JsonObject | None = None
    event_time: datetime | None = None
    ttl_days: float | None = None
    origin: str = "direct"
    provenance: JsonObject = field(default_factory=dict)
    turn_ids: tuple[str, ...] = ()
    snapshot_id: str = ""
    upsert: bool = False
    id: str | None = None
    expires_at: datetime | None = None
    valid: bool = True
    may_be_blank: bool = False

    @property
    def natural_slot(self) -> str | None:
        """The slot that the draft claims, or None when it is added beside whatever there is.

        A procedure claims its slot always: a second of one name is an update or a conflict, never a twin.
        """
        claims = bool(self.name) and (self.upsert or self.kind == PROCEDURAL)
        return slot_of(self.kind, self.domain, self.name) if claims else None

    def digest(self) -> str:
        """Return the digest of everything the caller said, for idempotency."""
        said = (
            self.kind,
            self.content,
            self.user_id,
            self.agent_id,
            self.session_id,
            self.visibility,
            self.record_type,
            self.domain,
            self.name,
            self.body,
            self.metadata,
            self.event_time.isoformat() if self.event_time else None,
            self.ttl_days,
            self.upsert,
        )
        text = json.dumps(said, sort_keys=True, ensure_ascii=False)
        return hashlib.blake2b(text.encode("utf-8"), digest_size=16).hexdigest()


class SaveStatus(StrEnum):
    """What a save did: a new record, a new state of one, or the same once more."""

    CREATED = "created"
    UPDATED = "updated"
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class Written:
    """A record as it stands after a write."""

    record: MemoryRecord
    status: SaveStatus
    vector_state: VectorState

    @property
    def has_embedding(self) -> bool:
        return self.vector_state is VectorState.PRESENT


class Unset(Enum):
    """The absence of a change, where None is a change."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET

_COLUMNS_OF_FIELDS: Final = {
    ("semantic", "label"): "name",
    ("semantic", "text"): "content",
    ("episodic", "content"): "content",
    ("taxonomic", "domain"): "domain",
    ("taxonomic", "term"): "name",
    ("taxonomic", "definition"): "content",
    ("procedural", "procedure"): "name",
    ("procedural", "content"): "content",
}
"""Fields of a kind that are columns of the record, not parts of its body."""


@dataclass(frozen=True, slots=True)
class MemoryChanges:
    """What an update changes; ``fields`` replaces single fields of the kind, and a field given as None goes.

    ``metadata=None`` clears it, ``ttl_days=None`` keeps the record forever, and ``expires_at`` says the end itself.
    ``event_time`` is when the new state began. ``valid`` sets by hand whether the record is current,
    ``said_at`` the time of the event in the caller's own words.
    """

    content: str | Unset = UNSET
    name: str | Unset = UNSET
    domain: str | Unset = UNSET
    visibility: str | Unset = UNSET
    metadata: JsonObject | Unset | None = UNSET
    fields: Mapping[str, object] = field(default_factory=dict)
    event_time: datetime | Unset = UNSET
    ttl_days: float | Unset | None = UNSET
    expires_at: datetime | Unset | None = UNSET
    valid: bool | Unset = UNSET
    said_at: str | Unset | None = UNSET
    may_be_blank: bool = False

    def columns(self, record: MemoryRecord) -> dict[str, str]:
        """Return the text columns that change, those written as fields of the kind included."""
        given = {"content": self.content, "name": self.name, "domain": self.domain, "visibility": self.visibility}
        changed = {name: value for name, value in given.items() if not isinstance(value, Unset)}
        for field_name, value in self.fields.items():
            column = _COLUMNS_OF_FIELDS.get((record.kind, field_name))
            if column is not None:
                changed[column] = str(value)
        return changed

    def body(self, record: MemoryRecord) -> dict[str, object]:
        """Return the record's body with the changed fields."""
        kept = {name: value for name, value in self.fields.items() if (record.kind, name) not in _COLUMNS_OF_FIELDS}
        return {name: value for name, value in {**record.body, **kept}.items() if value is not None}
