"""For a server that lets everybody in on loopback: a web page in a browser on the same machine is not everybody."""

from __future__ import annotations

import ipaddress
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from memoranda.sdk.errors import MemoryBadRequestError
from memoranda.server.errors import answer_error

_NAMES: Final = frozenset({"localhost", ""})


class OnlyLocalNames:
    """ASGI middleware: refuse a request whose ``Host`` is not a name of loopback.

    A page may point a name of its own at 127.0.0.1 and then read and write as if it were on the same site.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not all(_is_local(value) for name, value in scope["headers"] if name == b"host"):
            message = "this server has no authentication and answers to localhost and 127.0.0.1 only, not to that host"
            refused = answer_error(403, message, code="HOST_REFUSED", error_type=MemoryBadRequestError.error_code)
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_local(host: bytes) -> bool:
    name = host.decode("latin-1").lower()
    name = name[1 : name.find("]")] if name.startswith("[") else name.partition(":")[0]
    if name in _NAMES:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
