"""The connections of an `AsyncMemory` over HTTP: one set for each event loop that uses it."""

from __future__ import annotations

import asyncio
import threading
from asyncio import sleep as pause
from collections.abc import AsyncGenerator
from concurrent.futures import Future
from dataclasses import dataclass

import httpx

from memoranda.sdk._pool import client_arguments, request_arguments
from memoranda.sdk._settings import HttpSettings
from memoranda.sdk._wire import Request

__all__ = ["AsyncPool", "pause"]


@dataclass(frozen=True, slots=True)
class _Kept:
    """The client of one loop, and the generator that closes it when the loop ends."""

    client: httpx.AsyncClient
    keeper: AsyncGenerator[None, None]


class AsyncPool:
    """An httpx client for each event loop: a connection belongs to the loop that opened it.

    A loop that ends in order (`asyncio.run`) closes its own connections, whoever else goes on. `close` closes those of
    the calling loop and of every other loop that is running.
    """

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._changing = threading.Lock()
        self._kept: dict[asyncio.AbstractEventLoop, _Kept] = {}
        self._closed = False

    async def send(self, request: Request) -> httpx.Response:
        """Send once and return what came back, whatever its status; RuntimeError after `close`."""
        client = await self._client()
        return await client.request(**request_arguments(request))

    async def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        kept = self._kept.get(loop)
        return kept.client if kept is not None else await self._opened(loop)

    async def _opened(self, loop: asyncio.AbstractEventLoop) -> httpx.AsyncClient:
        client = httpx.AsyncClient(**client_arguments(self._settings))
        keeper = self._until_the_end(loop, client)
        with self._changing:
            if self._closed:
                raise RuntimeError("this AsyncMemory has been closed; open a new one")
            self._kept = {other: kept for other, kept in self._kept.items() if not other.is_closed()}
            self._kept[loop] = _Kept(client, keeper)
        # Once begun it is known to the loop, which ends all its generators before it closes.
        await anext(keeper)
        return client

    async def _until_the_end(
        self, loop: asyncio.AbstractEventLoop, client: httpx.AsyncClient
    ) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            with self._changing:
                self._kept.pop(loop, None)
            await client.aclose()

    async def close(self) -> None:
        """Close every connection that can still be closed."""
        with self._changing:
            self._closed = True
            kept = dict(self._kept)
        here = asyncio.get_running_loop()
        elsewhere = [_closing(loop, each) for loop, each in kept.items() if loop is not here and loop.is_running()]
        if here in kept:
            await kept[here].keeper.aclose()
        for closing in elsewhere:
            await asyncio.wrap_future(closing)


def _closing(loop: asyncio.AbstractEventLoop, kept: _Kept) -> Future[None]:
    return asyncio.run_coroutine_threadsafe(_closed(kept), loop)


async def _closed(kept: _Kept) -> None:
    await kept.keeper.aclose()
