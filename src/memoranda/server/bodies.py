"""Request bodies: bounded in size, and JSON that means one thing only."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, NoReturn

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoranda.server.errors import INVALID_REQUEST, RefusedBodyError

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE: Final = re.compile(rb"\\u[dD]")


class BodyLimit:
    """ASGI middleware: a body beyond ``max_bytes`` is refused (413) as soon as that is known."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        read = 0
        declared = _declared_length(scope)

        async def bounded() -> Message:
            nonlocal read
            if declared > self._max_bytes:
                raise self._too_large()
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._max_bytes:
                raise self._too_large()
            return message

        await self._app(scope, bounded, send)

    def _too_large(self) -> RefusedBodyError:
        reason = f"the body is larger than the {self._max_bytes} bytes that are read: send less at once"
        return RefusedBodyError(413, "BODY_TOO_LARGE", reason)


def _declared_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0


class JsonRequest(Request):
    """A request whose body, if any, is strict JSON in UTF-8: no key twice, no NaN, no half of a character."""

    async def json(self) -> object:
        """Return the body's value. Raises ``RefusedBodyError``."""
        if not hasattr(self, "_json"):
            self._json = read_json(await self.body())
        return self._json

    def require_json(self) -> None:
        """Raise ``RefusedBodyError`` (415) when there is a body that is not said to be JSON.

        A browser sends such a body for any page without asking; it never sends JSON to another site unasked.
        """
        media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json")):
            return
        if media_type or self.headers.get("content-length", "0") != "0" or "transfer-encoding" in self.headers:
            raise RefusedBodyError(
                415, "NOT_JSON", f"the body is sent as {media_type or 'nothing'!r}: send Content-Type: application/json"
            )


def read_json(raw: bytes) -> object:
    """Return the value of a JSON text."""
    try:
        value: object = _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _refused(f"it is not UTF-8 (at byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise _refused(f"{error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise _refused("it is nested too deeply") from error
    except ValueError as error:
        raise _refused(str(error)) from error
    if _ESCAPED_SURROGATE.search(raw):
        _require_whole_characters("body", value)
    return value


def _refused(reason: str) -> RefusedBodyError:
    return RefusedBodyError(400, "INVALID_JSON", f"the body cannot be read as JSON: {reason}")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:60]!r} is given twice in one object")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)


def _require_whole_characters(place: str, value: object) -> None:
    if isinstance(value, str):
        if _SURROGATE.search(value):
            # FastAPI lets only errors of HTTP out of the reading of a body.
            raise RefusedBodyError(422, INVALID_REQUEST, f"{place}: holds half of a character (an unpaired surrogate)")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _require_whole_characters(place, key)
            _require_whole_characters(f"{place}.{key}", item)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _require_whole_characters(f"{place}[{position}]", item)
