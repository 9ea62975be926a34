"""Reads what the common protocols answer: a chat completion, embeddings, the scores of a reranker.

Each reader takes the decoded JSON and raises by the provider's ``Teller``; nothing in it is trusted to be there.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

import numpy as np

from memoranda.engine.ports import ChatReply
from memoranda.providers.errors import Seen, Teller, Trouble

Json = Mapping[str, object]
_FILTERED: Final = "content_filter"


def decoded(raw: bytes, teller: Teller) -> object:
    """Return the JSON of a body; what is no JSON comes from something in between, and may be gone the next time."""
    text = raw.decode("utf-8", "replace")
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise teller.error(Trouble.OUTAGE, ": its answer is no JSON", raw_reply=text) from error


def read_chat(data: object, teller: Teller) -> ChatReply:
    """Return the text of a chat completion with its usage; an empty text is for the reader of the text to judge."""
    reply = _mapping(data)
    _raise_if_error(reply, teller)
    choice = _mapping(_first(reply.get("choices")))
    message = _mapping(choice.get("message"))
    if not message:
        raise teller.unusable("it has no message", _shown(data))
    if message.get("refusal"):
        raise teller.error(Trouble.REFUSED, f": {message['refusal']}", raw_reply=_shown(data))
    text = _text(message.get("content"))
    if choice.get("finish_reason") == _FILTERED:
        raise teller.error(Trouble.REFUSED, ": a content filter ended the answer", raw_reply=text or _shown(data))
    usage = _mapping(reply.get("usage"))
    return ChatReply(text, _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def read_response(data: object, teller: Teller) -> ChatReply:
    """Return the text of an answer of the Responses interface with its usage."""
    reply = _mapping(data)
    _raise_if_error(reply, teller)
    output = reply.get("output")
    items = [_mapping(item) for item in output] if isinstance(output, list) else []
    parts = [_mapping(part) for item in items if item.get("type") == "message" for part in _parts(item.get("content"))]
    for part in parts:
        if part.get("type") == "refusal":
            raise teller.error(Trouble.REFUSED, f": {part.get('refusal')}", raw_reply=_shown(data))
    if _mapping(reply.get("incomplete_details")).get("reason") == _FILTERED:
        raise teller.error(Trouble.REFUSED, ": a content filter ended the answer", raw_reply=_shown(data))
    if not parts:
        raise teller.unusable("it has no message", _shown(data))
    usage = _mapping(reply.get("usage"))
    return ChatReply(_text(parts), _count(usage.get("input_tokens")), _count(usage.get("output_tokens")))


def _parts(content: object) -> list[object]:
    return content if isinstance(content, list) else []


def read_vectors(data: object, teller: Teller) -> list[Sequence[float]]:
    """Return the vectors in the order of their texts, each as long as it came: who stores them judges each alone."""
    reply = _mapping(data)
    _raise_if_error(reply, teller)
    rows = reply.get("data")
    if not isinstance(rows, list):
        raise teller.unusable("it has no list of vectors", _shown(data))
    ordered = _ordered([_mapping(row) for row in rows])
    return [_vector(row.get("embedding")) for row in ordered]


def read_scores(data: object, count: int, teller: Teller) -> list[float]:
    """Return one score for each of ``count`` documents, in their order."""
    reply = _mapping(data)
    _raise_if_error(reply, teller)
    rows = data if isinstance(data, list) else reply.get("results", reply.get("data"))
    found: dict[int, float] = {}
    for row in map(_mapping, rows if isinstance(rows, list) else ()):
        index, score = row.get("index"), row.get("relevance_score", row.get("score"))
        if isinstance(index, int) and isinstance(score, int | float):
            found[index] = float(score)
    if found.keys() != set(range(count)):
        raise teller.unusable(f"it has scores of {len(found)} documents, {count} were asked for", _shown(data))
    return [found[index] for index in range(count)]


def _raise_if_error(reply: Json, teller: Teller) -> None:
    """Some gateways say 200 and put the error, with its status as code, into the body."""
    error = reply.get("error")
    if not error:
        return
    told = _mapping(error)
    code = told.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    message = str(told.get("message") or error)
    seen = Seen(status=status or 400, message=message, code=str(code or ""), body=_shown(reply))
    raise teller.tell(seen)


def _ordered(rows: list[Json]) -> list[Json]:
    """Return rows by their index; as they came where the indices are not those of a list."""
    places = [row.get("index") for row in rows]
    if sorted(place for place in places if isinstance(place, int)) != list(range(len(rows))):
        return rows
    return sorted(rows, key=lambda row: cast(int, row["index"]))


def _vector(value: object) -> Sequence[float]:
    """Return a vector from numbers or from base64 of 32-bit floats; what is neither is an empty one."""
    if isinstance(value, str):
        try:
            floats = np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
        except (binascii.Error, ValueError):
            return ()
        return cast(list[float], floats.tolist())
    return value if isinstance(value, list) else ()


def _text(content: object) -> str:
    """Return a message's text, whole or in parts."""
    if isinstance(content, list):
        return "".join(str(_mapping(part).get("text") or "") for part in content)
    return content if isinstance(content, str) else ""


def _mapping(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _shown(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, default=str)
