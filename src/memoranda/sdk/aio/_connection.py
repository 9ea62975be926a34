"""Connections whose calls are awaited: over a runtime that blocks, each takes one hop to a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from memoranda.sdk._connection import Closeable, ConnectionBase
from memoranda.sdk.aio._management_port import AsyncMemoryManagement
from memoranda.sdk.aio._threads import Threaded, Threads
from memoranda.sdk.aio.protocol import AsyncMemoryCrudClient, AsyncMemoryRuntime
from memoranda.sdk.protocol import MemoryCrudClient, MemoryManagement, MemoryRuntime

if TYPE_CHECKING:
    from memoranda.sdk.aio._connecting import ServiceRuntime


class AsyncConnection(ConnectionBase[AsyncMemoryRuntime, AsyncMemoryCrudClient, AsyncMemoryManagement]):
    """A blocking runtime and its client, with the threads that they are called in."""

    __slots__ = ("_threads",)

    facade = "AsyncMemory"

    def __init__(
        self, runtime: MemoryRuntime, client: MemoryCrudClient | None = None, owned: Closeable | None = None
    ) -> None:
        super().__init__(runtime, client, owned)
        self._threads = Threads()
        self._runtime = cast("AsyncMemoryRuntime", Threaded(runtime, self._threads))
        self._client = None if client is None else cast("AsyncMemoryCrudClient", Threaded(client, self._threads))
        manages = isinstance(runtime, MemoryManagement)
        self._management = cast("AsyncMemoryManagement", self._runtime) if manages else None

    async def close(self) -> None:
        """Let the calls that were accepted end, then close what is owned. A wait for idle ends with an error."""
        if self._owned is None:
            await self._threads.finish()
        elif not self._closed:
            self._closed = True
            await self._threads.finish(self._owned.close)


class ServiceConnection(AsyncConnection):
    """A service behind HTTP, whose calls wait without any thread."""

    __slots__ = ("_service",)

    def __init__(self, service: ServiceRuntime) -> None:
        # What it can do is told by the names of its methods, in either colour.
        blocking = cast("MemoryRuntime", service)
        ConnectionBase.__init__(self, blocking, cast("MemoryCrudClient", service), None)
        self._service = service
        self._runtime = service
        self._client = service
        self._management = service

    async def close(self) -> None:
        """Close the connections of this loop and of the others that are running."""
        if not self._closed:
            self._closed = True
            await self._service.close()
