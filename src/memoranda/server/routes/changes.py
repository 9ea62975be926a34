"""The change feed, followed by long polling: nobody who waits holds a thread, a lease or a connection."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from memoranda.sdk.models import ChangeEntry, ChangePage
from memoranda.server.answers import answer
from memoranda.server.dependencies import Call, MemoryRoute, Right, TheCall, needs
from memoranda.server.documents import Tag, told
from memoranda.server.schemas.base import OwnBody
from memoranda.server.schemas.management import MAX_WAIT_SECONDS, PageSize

router = APIRouter(route_class=MemoryRoute)

_LOOK_SECONDS = 0.25
"""How long a reader who waits may not notice what another process commits."""
_REST_SECONDS = 0.02
"""How long a reader who waits lets changes gather once it is woken."""

_EXAMPLE = {
    "changes": [
        {
            "position": 17,
            "entity": "memory",
            "entity_id": "01985b3e-7c8a-7d10-9a4e-0c9f6d8b2a11",
            "operation": "created",
            "user_id": "ada",
            "at": "2026-03-01T12:00:00Z",
        }
    ],
    "next": "WyJkMWY1OTMwMCIsMTdd",
}


class ChangesQuery(OwnBody):
    """``after`` is the ``next`` of the answer before; ``wait`` in seconds, at most 20, for the first change."""

    after: str | None = None
    limit: PageSize = 100
    wait: Annotated[float, Field(ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False)] = 0.0


class Changes(OwnBody):
    """Changes in the order of their positions; ``next`` is where to go on, also when there is none."""

    changes: list[ChangeEntry]
    next: str


@router.get("/changes", **told(Tag.EXPORT, _EXAMPLE, model=Changes))
@needs(Right.READ_ALL, runtime=False)
async def changes(call: TheCall, query: Annotated[ChangesQuery, Query()]) -> Response:
    """Return what changed in the project, without content; whoever goes on from `next` to `next` misses nothing."""
    deadline = time.monotonic() + query.wait
    async with _commits(call) as committed:
        while True:
            committed.clear()
            page = await run_in_threadpool(_page, call, query)
            left = deadline - time.monotonic()
            if page.items or left <= 0:
                return answer({"changes": page.items, "next": page.next_cursor})
            await _woken(committed, left)


def _page(call: Call, query: ChangesQuery) -> ChangePage:
    with call.host.runtime(call.principal.project_id) as runtime:
        return runtime.changes(after=query.after, limit=query.limit)


@asynccontextmanager
async def _commits(call: Call) -> AsyncIterator[asyncio.Event]:
    """Give an event that this process's commits in the project set."""
    loop, committed = asyncio.get_running_loop(), asyncio.Event()

    def wake(_: str) -> None:
        loop.call_soon_threadsafe(committed.set)

    end_waking = call.host.store.after_commit(wake, project_id=call.principal.project_id)
    try:
        yield committed
    finally:
        end_waking()


async def _woken(committed: asyncio.Event, left: float) -> None:
    try:
        await asyncio.wait_for(committed.wait(), min(left, _LOOK_SECONDS))
    except TimeoutError:
        return
    await asyncio.sleep(min(left, _REST_SECONDS))
