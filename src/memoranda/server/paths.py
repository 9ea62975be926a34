"""The outermost layer: paths are routed as they were sent, and every answer says who gave it."""

from __future__ import annotations

from urllib.parse import quote, unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoranda._version import __version__

VERSION_HEADER = "X-Memoranda-Version"
"""The response header by which a client knows this server."""

_STAMP = (VERSION_HEADER.lower().encode(), __version__.encode())
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


class RawPaths:
    """ASGI middleware: routing sees the path still percent-encoded, so that no id changes the route.

    An id may hold any character (``a%2Fb``), and ``.`` or ``..`` is an id like any other. ``decoded`` turns a matched
    parameter into what the caller meant.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        raw: bytes | None = scope.get("raw_path")
        if raw is not None:
            scope["path"] = raw.decode() if raw.isascii() else quote(raw, safe=_PRINTABLE)

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), _STAMP]
            await send(message)

        await self._app(scope, receive, stamped)


def decoded(parameter: str) -> str:
    """Return a path parameter without its percent-encoding; ``ValueError`` when that is no UTF-8."""
    return unquote(parameter, errors="strict") if "%" in parameter else parameter
