"""The lines of an export: what each type of line holds, and how it is written.

The first line is the header, the last one the end with the numbers of what came before. Between them stand records
(turns, memories, profiles, images) in the order in which they were written, then links, then sessions with their
snapshots. A line holds one record with all that is its own, so that it can be taken in or left out as a whole. Keys of
the index are not in it: the project that takes it in gives them anew. A field with its default value is left out.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, datetime
from enum import Enum
from typing import Final, TypeAlias

from memoranda.engine.portability.rows import HistoryState, Save
from memoranda.engine.records import (
    Image,
    JsonObject,
    Link,
    MemoryRecord,
    Profile,
    ProjectRow,
    Session,
    Snapshot,
    Turn,
    VectorPiece,
    VectorState,
)

FORMAT: Final = "memoranda"
FORMAT_VERSION: Final = 1

HEADER: Final = "header"
TURN: Final = "turn"
MEMORY: Final = "memory"
PROFILE: Final = "profile"
IMAGE: Final = "image"
LINK: Final = "link"
SESSION: Final = "session"
SNAPSHOT: Final = "snapshot"
END: Final = "end"

Json: TypeAlias = dict[str, object]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class EmbedderName:
    """Which model made the vectors of a project."""

    model: str
    fingerprint: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Header:
    """What the file is: its project, what its index was made with, and whether it holds vectors."""

    project_id: str
    org_id: str
    created_at: datetime
    analyser: str
    config: JsonObject | None = None
    embedder: EmbedderName | None = None
    vectors: bool = False


@dataclass(frozen=True, slots=True)
class Vectors:
    """Whether a record has its vectors, and the pieces where it does."""

    state: VectorState
    pieces: tuple[VectorPiece, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnLine:
    """A turn; ``vectors`` is None in a file without them."""

    turn: Turn
    vectors: Vectors | None = None


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """A memory with its earlier states, its sources and the saves that wrote it."""

    record: MemoryRecord
    history: tuple[HistoryState, ...] = ()
    turn_ids: tuple[str, ...] = ()
    snapshot_ids: tuple[str, ...] = ()
    saves: tuple[Save, ...] = ()
    vectors: Vectors | None = None


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """A profile."""

    profile: Profile
    vectors: Vectors | None = None


@dataclass(frozen=True, slots=True)
class ImageLine:
    """An image with its bytes."""

    image: Image
    data: bytes
    vectors: Vectors | None = None


@dataclass(frozen=True, slots=True)
class LinkLine:
    """A link."""

    link: Link


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A session with its snapshots in turn order."""

    session: Session
    snapshots: tuple[Snapshot, ...] = ()


@dataclass(frozen=True, slots=True)
class End:
    """The numbers of what the file holds, by type."""

    counts: Mapping[str, int] = field(default_factory=dict)


Line: TypeAlias = Header | TurnLine | MemoryLine | ProfileLine | ImageLine | LinkLine | SessionLine | End


def header_of(row: ProjectRow, *, vectors: bool) -> Header:
    """Return the header of a project's export."""
    named = EmbedderName(row.embedder_model, row.embedder_fingerprint, row.embedder_dimension)
    return Header(
        project_id=row.project_id,
        org_id=row.org_id,
        created_at=row.created_at,
        analyser=row.analyser,
        config=row.config,
        embedder=named if row.embedder_model else None,
        vectors=vectors,
    )


def written(line: Line) -> str:
    """Return a line as it stands in the file, without its line break."""
    return _encode(_plain_line(line))


def _plain_line(line: Line) -> Json:
    match line:
        case Header():
            return _plain_header(line)
        case TurnLine(turn, vectors):
            return {"type": TURN, **_plain(turn, "key"), **_plain_vectors(vectors)}
        case MemoryLine():
            return _plain_memory(line)
        case ProfileLine(profile, vectors):
            return {"type": PROFILE, **_plain(profile, "key"), **_plain_vectors(vectors)}
        case ImageLine(image, data, vectors):
            encoded = base64.b64encode(data).decode("ascii")
            return {"type": IMAGE, **_plain(image, "key"), "data": encoded, **_plain_vectors(vectors)}
        case LinkLine(link):
            return {"type": LINK, **_plain(link)}
        case SessionLine(session, snapshots):
            owned = [_plain(snapshot, "user_id", "session_id") for snapshot in snapshots]
            return {"type": SESSION, **_plain(session), **_given("snapshots", owned)}
        case End(counts):
            return {"type": END, "counts": dict(sorted(counts.items()))}


def _plain_header(header: Header) -> Json:
    embedder = header.embedder
    return {
        "type": HEADER,
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "project_id": header.project_id,
        "org_id": header.org_id,
        "created_at": _value(header.created_at),
        "analyser": header.analyser,
        "config": header.config,
        "embedder": None if embedder is None else _plain(embedder),
        "vectors": header.vectors,
    }


def _plain_memory(line: MemoryLine) -> Json:
    history = [
        {**_plain(state.record, "id", "key"), "recorded_at": _value(state.recorded_at)} for state in line.history
    ]
    return {
        "type": MEMORY,
        **_plain(line.record, "key"),
        **_given("history", history),
        **_given("turn_ids", line.turn_ids),
        **_given("snapshot_ids", line.snapshot_ids),
        **_given("saves", [_plain(save, "memory_id") for save in line.saves]),
        **_plain_vectors(line.vectors),
    }


def _plain_vectors(vectors: Vectors | None) -> Json:
    if vectors is None:
        return {}
    pieces = [{"scale": piece.scale, "data": base64.b64encode(piece.data).decode("ascii")} for piece in vectors.pieces]
    return {"vectors": {"state": vectors.state.value, **_given("pieces", pieces)}}


def _given(name: str, values: Sequence[object]) -> Json:
    return {name: values} if values else {}


_Record: TypeAlias = Turn | MemoryRecord | Profile | Image | Link | Session | Snapshot | Save | EmbedderName


def _plain(record: _Record, *left_out: str) -> Json:
    """Return a record's fields in their order, without those that have their default."""
    plain: Json = {}
    for each in fields(record):
        value = getattr(record, each.name)
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        if each.name not in left_out and not (type(value) is type(default) and value == default):
            plain[each.name] = _value(value)
    return plain


def _value(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return value.value if isinstance(value, Enum) else value
