"""Handles over HTTP whose pauses between attempts are noted instead of slept."""

from __future__ import annotations

from memoranda import AsyncMemory, Memory
from memoranda.sdk._connection import Connection
from memoranda.sdk._http_runtime import HttpMemoryRuntime
from memoranda.sdk._settings import HttpSettings
from memoranda.sdk.aio._connection import ServiceConnection
from memoranda.sdk.aio._http_runtime import AsyncHttpMemoryRuntime


def connected(
    url: str, *, project_id: str | None = None, token: str | None = None, pauses: list[float] | None = None
) -> Memory:
    noted: list[float] = [] if pauses is None else pauses
    runtime = HttpMemoryRuntime(HttpSettings(url, token, project_id), pause=noted.append)
    return Memory._over(Connection(runtime, runtime, owned=runtime), None)


def connected_async(
    url: str, *, project_id: str | None = None, token: str | None = None, pauses: list[float] | None = None
) -> AsyncMemory:
    noted: list[float] = [] if pauses is None else pauses

    async def pause(seconds: float) -> None:
        noted.append(seconds)

    runtime = AsyncHttpMemoryRuntime(HttpSettings(url, token, project_id), pause=pause)
    return AsyncMemory._over(ServiceConnection(runtime), None)
