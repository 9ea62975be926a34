"""The form of requests: which keys are present, in which order, and how our values look as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Final, TypeAlias
from urllib.parse import quote
from uuid import uuid4

from memoranda.sdk._responses import Route
from memoranda.sdk.errors import MemoryBadRequestError
from memoranda.sdk.models import SourceSpec, TurnInput

Json: TypeAlias = dict[str, Any]

VERSION_HEADER: Final = "X-Memoranda-Version"
"""On every response of a Memoranda server, and of no other."""

USER_HEADER: Final = "X-Memoranda-User-Id"
AGENT_HEADER: Final = "X-Memoranda-Agent-Id"
"""The identity of a handle on routes whose shared form has none, percent-encoded; see `identity_headers`."""

_IDS: Final = ("user_id", "agent_id", "session_id", "idempotency_key", "namespace", "key")

# The shared protocol names organisation and project in each record, and every server puts its own there.
UNSCOPED: Final = {"org_id": "", "project_id": ""}


@dataclass(frozen=True, slots=True)
class Request:
    """One call. `url` is its path, encoded: below the base path of the memory until the transport adds that.

    `body` is None for a request without one, `headers` are additional ones, and `retried` says that it may be sent
    again.
    """

    method: str
    url: str
    route: Route = Route.PLAIN
    params: Sequence[tuple[str, Any]] = ()
    body: Mapping[str, Any] | None = None
    retried: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


def core(path: str, body: Json) -> Request:
    """A turn, a context or a search: repeating it is harmless, a turn has its key."""
    return Request("POST", path, Route.CORE, body=body, retried=True)


def create(path: str, body: Json) -> Request:
    """A record to create: sent once, since a repetition would be another record."""
    return Request("POST", path, body=body)


def read(path: str, params: Json) -> Request:
    """A list of typed records."""
    return Request("GET", path, params=tuple((UNSCOPED | params).items()), retried=True)


def own(
    method: str, path: str, *, params: Json | None = None, body: Json | None = None, again: bool = False
) -> Request:
    """A call of a route that only a Memoranda server has; params that are None are left out."""
    present = () if params is None else tuple(plain(params).items())
    return Request(method, path, Route.OWN, params=present, body=body, retried=again or method == "GET")


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return compact UTF-8 JSON; TypeError for what JSON has no form for, ValueError for NaN and infinities.

    Half a character (a lone surrogate) in a text becomes U+FFFD, as the engine would store it. In an id it is a
    `MemoryBadRequestError` (`INVALID_ID`): two ids must never become one.
    """
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        for fields in (body, *body.get("turns", ()), *body.get("items", ())):
            _require_whole_ids(fields)
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _require_whole_ids(fields: Mapping[str, Any]) -> None:
    for name in _IDS:
        value = fields.get(name)
        try:
            str(value).encode()
        except UnicodeEncodeError as error:
            raise MemoryBadRequestError(
                f"{name} {value!r} holds an unpaired surrogate; pass an id of valid Unicode text", code="INVALID_ID"
            ) from error


def segment(value: str) -> str:
    """Return a value as one segment of a path, whatever is in it."""
    # Dots alone would be taken for a step in the path.
    return value.replace(".", "%2E") if value in (".", "..") else quote(value, safe="")


def present(**values: Any) -> Json:
    """Return the values that are not None, in order."""
    return {name: value for name, value in values.items() if value is not None}


def plain(options: Mapping[str, Any]) -> Json:
    """Return the options of ours that are set, with times and enums as JSON has them."""
    return {name: _plain(value) for name, value in options.items() if value is not None and value is not False}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, Enum) else value


def source_entry(spec: SourceSpec) -> Json:
    """Return a source of a context; its filter is left out when it has none."""
    head = {"source": _plain(spec.source), "mode": _plain(spec.mode)}
    return head | present(metadata_filter=spec.metadata_filter) | {"top_k": spec.top_k}


def turn_key(key: str | None) -> str:
    """Return the caller's key, else a new one: with it the server takes a repeated request for the same turn."""
    return str(uuid4()) if key is None else key


def keyed_turn(turn: TurnInput) -> Json:
    """Return a turn of a bulk call with a key of its own."""
    dumped = turn.model_dump(mode="json", exclude_none=True)
    return dumped | {"idempotency_key": turn_key(turn.idempotency_key)}


def identity_headers(user_id: str | None, agent_id: str | None = None) -> dict[str, str]:
    """Return who a call of custom types or domains is for, outside its target and body.

    The shared protocol sends no identity there: other platforms add what they know of the running agent. A Memoranda
    server takes it from these headers, which other servers ignore and are not sent once they are known.
    """
    found = {USER_HEADER: user_id, AGENT_HEADER: agent_id}
    return {name: quote(value, safe="") for name, value in found.items() if value is not None}


def procedure_found(chunk: Mapping[str, Any]) -> Json:
    """Return a procedure as `discover_procedures` shows it: the metadata of the chunk under its own fields."""
    metadata = chunk.get("metadata")
    fields = dict(metadata) if isinstance(metadata, dict) else {}
    when = next((chunk[name] for name in ("timestamp", "created_at", "updated_at") if chunk.get(name)), None)
    return {
        **fields,
        "id": chunk.get("id"),
        "timestamp": when,
        "procedure": fields.get("procedure") or "",
        "content": chunk.get("content") or "",
        "score": chunk.get("similarity_score", 0.0),
        **present(explanation=chunk.get("explanation")),
    }
