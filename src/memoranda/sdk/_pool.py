"""The connections of a `Memory` over HTTP, kept open between calls."""

from __future__ import annotations

import os
import ssl
import threading
from functools import cache
from time import sleep as pause
from typing import Any, Final

import httpx

from memoranda.sdk._settings import HttpSettings
from memoranda.sdk._wire import Request, encoded

__all__ = ["TIMEOUT", "Pool", "client_arguments", "pause", "request_arguments", "trusted"]

TIMEOUT: Final = 30.0
"""Seconds for each of connecting, sending, receiving, and waiting for a free connection."""


class Pool:
    """An httpx client for any number of threads. A forked child gets one of its own."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._changing = threading.Lock()
        self._pid = os.getpid()
        self._client = httpx.Client(**client_arguments(settings))
        self._inherited: list[httpx.Client] = []

    def send(self, request: Request) -> httpx.Response:
        """Send once and return what came back, whatever its status; RuntimeError after `close`."""
        client = self._client if self._pid == os.getpid() else self._own_client()
        return client.request(**request_arguments(request))

    def _own_client(self) -> httpx.Client:
        with self._changing:
            if self._pid != os.getpid():
                # The parent goes on with its connections: two processes on one would mix their requests, and closing
                # it here would end it for both. So it is kept, unused.
                self._inherited.append(self._client)
                self._client, self._pid = httpx.Client(**client_arguments(self._settings)), os.getpid()
            return self._client

    def close(self) -> None:
        """Close every connection of this process."""
        if self._pid == os.getpid():
            self._client.close()


def client_arguments(settings: HttpSettings) -> dict[str, Any]:
    """Return the arguments of an httpx client of either colour. The token goes out as it is."""
    headers = {} if settings.token is None else {"Authorization": f"Bearer {settings.token}"}
    return {
        "base_url": settings.base_url,
        "headers": headers,
        "timeout": TIMEOUT,
        "follow_redirects": False,
        "verify": trusted(),
    }


@cache
def trusted() -> ssl.SSLContext:
    """Return whom connections trust, read once: reading it takes longer than most requests."""
    return httpx.create_ssl_context()


def request_arguments(request: Request) -> dict[str, Any]:
    """Return the arguments of one request of such a client."""
    headers, content = dict(request.headers), None
    if request.body is not None:
        content = encoded(request.body)
        headers = {"Content-Length": str(len(content)), "Content-Type": "application/json", **headers}
    params = list(request.params) or None
    return {"method": request.method, "url": request.url, "params": params, "content": content, "headers": headers}
