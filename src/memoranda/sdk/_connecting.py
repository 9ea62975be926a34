"""The one way from the facade to HTTP: httpx is loaded by the first handle that needs it."""

from __future__ import annotations

from typing import Protocol

from memoranda.sdk._connection import Closeable
from memoranda.sdk._management_port import MemoryManagement
from memoranda.sdk._settings import HttpSettings
from memoranda.sdk.protocol import MemoryCrudClient, MemoryRuntime


class ServiceRuntime(MemoryRuntime, MemoryCrudClient, MemoryManagement, Closeable, Protocol):
    """A service behind HTTP, to be closed by whoever connected."""


def connect(settings: HttpSettings) -> ServiceRuntime:
    """Return a runtime for the service; nothing is sent."""
    from memoranda.sdk._http_runtime import HttpMemoryRuntime  # noqa: PLC0415 - loads httpx

    return HttpMemoryRuntime(settings)
