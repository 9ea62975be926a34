"""Lines of an export as they are read: every field is checked before any of it is used."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Final, NoReturn, TypeVar, get_args, get_type_hints

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, create_model

from memoranda.engine.portability.lines import (
    END,
    FORMAT,
    FORMAT_VERSION,
    HEADER,
    IMAGE,
    LINK,
    MEMORY,
    PROFILE,
    SESSION,
    TURN,
    EmbedderName,
    End,
    Header,
    ImageLine,
    Line,
    LinkLine,
    MemoryLine,
    ProfileLine,
    SessionLine,
    TurnLine,
    Vectors,
)
from memoranda.engine.portability.rows import HistoryState, Save
from memoranda.engine.records import (
    VISIBILITIES,
    Image,
    Link,
    MemoryRecord,
    Profile,
    Session,
    Snapshot,
    Turn,
    VectorPiece,
    VectorState,
)


class LineError(ValueError):
    """A line that is not what an export holds; the message says what is wrong with it."""


_STRICT: Final = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=())
_Time = Annotated[AwareDatetime, Field(strict=False)]
_Whole = Annotated[int, Field(ge=0, le=2**63 - 1)]
_T = TypeVar("_T")


class _Piece(BaseModel):
    model_config = _STRICT
    scale: float
    data: str


class _Vectors(BaseModel):
    model_config = _STRICT
    state: Annotated[VectorState, Field(strict=False)]
    pieces: list[_Piece] = []


class _End(BaseModel):
    model_config = _STRICT
    type: str
    counts: dict[str, _Whole]


class _Embedder(BaseModel):
    model_config = _STRICT
    model: Annotated[str, Field(min_length=1)]
    fingerprint: str
    dimension: Annotated[int, Field(gt=0)]


class _Header(BaseModel):
    model_config = _STRICT
    type: str
    format: str
    version: int
    project_id: str
    org_id: str
    created_at: _Time
    analyser: str
    config: dict[str, Any] | None
    embedder: _Embedder | None
    vectors: bool


def parse(text: str) -> Line:
    """Read one line; LineError says what is wrong with it."""
    raw = _object(text)
    kind = raw.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise LineError(f"type is {kind!r}; an export has lines of the types {', '.join(_READERS)}")
    try:
        return reader(raw)
    except ValidationError as error:
        raise LineError(_first_problem(error)) from error


def _object(text: str) -> dict[str, Any]:
    try:
        raw = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise LineError(f"not JSON ({error.msg} at column {error.colno})") from error
    except RecursionError as error:
        raise LineError("not JSON that can be kept (nested too deeply)") from error
    if not isinstance(raw, dict):
        raise LineError("not a JSON object; each line of an export is one")
    if "\\u" in text:
        _refuse_halves(raw)
    return raw


def _refuse_halves(raw: object) -> None:
    try:
        json.dumps(raw, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise LineError("has half of a character (a lone surrogate)") from error


def _no_constant(name: str) -> NoReturn:
    raise LineError(f"{name} is no number in JSON")


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f"unknown field {place!r}; the file was written by another version, or changed by hand"
    if problem["type"] == "missing":
        return f"{place} is missing"
    return f"{place}: {problem['msg']}"


def _hint(hint: Any) -> Any:
    """Return what is asked of a value in JSON for a field of a record."""
    if hint is datetime:
        return _Time
    if hint is int:
        return _Whole
    if isinstance(hint, UnionType) and datetime in get_args(hint):
        return _Time | None
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Annotated[hint, Field(strict=False)]
    return hint


def _model(record: type, *left_out: str, **own: Any) -> type[BaseModel]:
    """Return the model of a record's fields as a line has them, with further fields of the line."""
    hints = get_type_hints(record)
    asked: dict[str, Any] = {}
    for each in fields(record):
        hint = _hint(hints[each.name])
        if each.default_factory is not MISSING:
            asked[each.name] = (hint, Field(default_factory=each.default_factory))
        elif each.name not in left_out:
            asked[each.name] = (hint, ... if each.default is MISSING else each.default)
    return create_model(f"{record.__name__}Line", __config__=_STRICT, **asked, **own)


_LINE: Final[dict[str, Any]] = {"type": (str, ...)}
_WITH_VECTORS: Final[dict[str, Any]] = {**_LINE, "vectors": (_Vectors | None, None)}
_TURN: Final = _model(Turn, "key", **_WITH_VECTORS)
_MEMORY: Final = _model(
    MemoryRecord,
    "key",
    **_WITH_VECTORS,
    history=(list[_model(MemoryRecord, "id", "key", recorded_at=(_Time, ...))], []),  # type: ignore[misc]
    turn_ids=(list[str], []),
    snapshot_ids=(list[str], []),
    saves=(list[_model(Save, "memory_id")], []),  # type: ignore[misc]  # models that were made just now
)
_PROFILE: Final = _model(Profile, "key", **_WITH_VECTORS)
_IMAGE: Final = _model(Image, "key", **_WITH_VECTORS, data=(str, ...))
_LINK: Final = _model(Link, **_LINE)
_SESSION: Final = _model(
    Session,
    **_LINE,
    snapshots=(list[_model(Snapshot, "user_id", "session_id")], []),  # type: ignore[misc]
)


def _record(record: type[_T], read: BaseModel, **given: object) -> _T:
    """Return the record that a line's fields make."""
    known = {each.name for each in fields(record)}  # type: ignore[arg-type]  # always one of our dataclasses
    values = {name: getattr(read, name) for name in type(read).model_fields if name in known}
    return record(**values, **given)


def _header(raw: Mapping[str, Any]) -> Header:
    if raw.get("format") != FORMAT or raw.get("version") != FORMAT_VERSION:
        raise LineError(
            f"the file is of format {raw.get('format')!r}, version {raw.get('version')!r}; "
            f"this release reads {FORMAT!r}, version {FORMAT_VERSION}"
        )
    read = _Header.model_validate(raw)
    embedder = None if read.embedder is None else EmbedderName(**read.embedder.model_dump())
    if read.vectors and embedder is None:
        raise LineError("vectors is true, and embedder does not say which model made them")
    return Header(read.project_id, read.org_id, read.created_at, read.analyser, read.config, embedder, read.vectors)


def _turn(raw: Mapping[str, Any]) -> TurnLine:
    read = _TURN.model_validate(raw)
    turn = _record(Turn, read, key=0)
    _require(turn.id, "id")
    _require(turn.session_id, "session_id")
    if turn.turn_seq < 1:
        raise LineError(f"turn_seq is {turn.turn_seq}; turns are counted from 1")
    return TurnLine(turn, _vectors(read))


def _memory(raw: Mapping[str, Any]) -> MemoryLine:
    read: Any = _MEMORY.model_validate(raw)
    record = _record(MemoryRecord, read, key=0)
    for name in ("id", "kind", "slot"):
        _require(getattr(record, name), name)
    if record.visibility not in VISIBILITIES:
        raise LineError(f"visibility is {record.visibility!r}; it is one of {', '.join(VISIBILITIES)}")
    if record.version < 1 or record.occurrences < 1:
        raise LineError("version and occurrences are counted from 1")
    history = (
        HistoryState(_record(MemoryRecord, state, id=record.id, key=0), state.recorded_at) for state in read.history
    )
    saves = (_record(Save, save, memory_id=record.id) for save in read.saves)
    sources = (tuple(read.turn_ids), tuple(read.snapshot_ids))
    return MemoryLine(record, tuple(history), *sources, tuple(saves), _vectors(read))


def _profile(raw: Mapping[str, Any]) -> ProfileLine:
    read = _PROFILE.model_validate(raw)
    profile = _record(Profile, read, key=0)
    _require(profile.id, "id")
    if profile.subject not in ("user", "agent"):
        raise LineError(f"subject is {profile.subject!r}; a profile is of a user or an agent")
    return ProfileLine(profile, _vectors(read))


def _image(raw: Mapping[str, Any]) -> ImageLine:
    read: Any = _IMAGE.model_validate(raw)
    image = _record(Image, read, key=0)
    _require(image.id, "id")
    _require(image.blob_id, "blob_id")
    try:
        data = base64.b64decode(read.data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise LineError(f"data is not base64 ({error})") from error
    return ImageLine(image, data, _vectors(read))


def _link(raw: Mapping[str, Any]) -> LinkLine:
    link = _record(Link, _LINK.model_validate(raw))
    for name in ("id", "source_id", "target_id", "relation"):
        _require(getattr(link, name), name)
    return LinkLine(link)


def _session(raw: Mapping[str, Any]) -> SessionLine:
    read: Any = _SESSION.model_validate(raw)
    session = _record(Session, read)
    _require(session.session_id, "session_id")
    if not 0 <= session.promoted_seq <= session.last_seq:
        raise LineError(f"promoted_seq is {session.promoted_seq}, beyond last_seq, which is {session.last_seq}")
    place = {"user_id": session.user_id, "session_id": session.session_id}
    snapshots = tuple(_record(Snapshot, snapshot, **place) for snapshot in read.snapshots)
    for snapshot in snapshots:
        _require(snapshot.id, "snapshots.id")
        if not 1 <= snapshot.first_seq <= snapshot.last_seq <= session.last_seq:
            raise LineError(f"snapshot {snapshot.id!r} holds turns that the session does not have")
    return SessionLine(session, snapshots)


def _end(raw: Mapping[str, Any]) -> End:
    return End(_End.model_validate(raw).counts)


def _require(value: str, name: str) -> None:
    if not value:
        raise LineError(f"{name} is empty")


def _vectors(read: Any) -> Vectors | None:
    if read.vectors is None:
        return None
    pieces = tuple(_piece(piece) for piece in read.vectors.pieces)
    if bool(pieces) != (read.vectors.state is VectorState.PRESENT):
        raise LineError(f"vectors: state is {read.vectors.state.value!r} with {len(pieces)} pieces")
    return Vectors(read.vectors.state, pieces)


def _piece(piece: _Piece) -> VectorPiece:
    if not (math.isfinite(piece.scale) and piece.scale > 0):
        raise LineError(f"vectors: scale is {piece.scale}; it is a number above 0")
    try:
        return VectorPiece(base64.b64decode(piece.data, validate=True), piece.scale)
    except (binascii.Error, ValueError) as error:
        raise LineError(f"vectors: data is not base64 ({error})") from error


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Line]]] = {
    HEADER: _header,
    TURN: _turn,
    MEMORY: _memory,
    PROFILE: _profile,
    IMAGE: _image,
    LINK: _link,
    SESSION: _session,
    END: _end,
}
