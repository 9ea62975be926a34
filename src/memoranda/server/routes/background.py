"""Background work: promoting, waiting, what is going on, and what failed."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.concurrency import run_in_threadpool

from memoranda.sdk.errors import MemoryNotFoundError
from memoranda.sdk.models import FailureEntry, FailurePage, StatusReport
from memoranda.server.answers import answer
from memoranda.server.dependencies import Call, MemoryRoute, Right, TheCall, needs
from memoranda.server.documents import Tag, told
from memoranda.server.examples import FAILURE, PROMOTION, STATUS
from memoranda.server.schemas.management import (
    Count,
    FailuresBody,
    FailuresQuery,
    Idle,
    PromoteBody,
    Promotions,
    WaitBody,
)

router = APIRouter(route_class=MemoryRoute)

_FIRST_LOOK = 0.005
_LONGEST_LOOK = 0.1
"""How long, in seconds, somebody who waits may not notice that the work is done."""


@router.post("/promote", **told(Tag.BACKGROUND, {"results": [PROMOTION]}, model=Promotions))
@needs(Right.WRITE)
def promote(call: TheCall, body: PromoteBody) -> Response:
    """Snapshot the unpromoted turns of one session, or of all that match; extraction follows in the background."""
    promoted = call.runtime.promote(session_id=body.session_id, user_id=call.user(body.user_id))
    return answer({"results": promoted})


@router.post("/wait", **told(Tag.BACKGROUND, {"idle": True}, model=Idle))
@needs(Right.WRITE_ALL, runtime=False)
async def wait(call: TheCall, body: WaitBody) -> Response:
    """Promote what waits (unless told not to) and answer when no job is due, or after `timeout` seconds."""
    deadline, pause = time.monotonic() + body.timeout, _FIRST_LOOK
    if body.promote:
        await run_in_threadpool(_promote_all, call)
    while True:
        left = deadline - time.monotonic()
        if await run_in_threadpool(_busy, call, left) == 0:
            return answer({"idle": True})
        if left <= 0:
            return answer({"idle": False})
        # Between two looks nobody who waits holds a thread, a lease or a connection.
        await asyncio.sleep(min(left, pause))
        pause = min(2 * pause, _LONGEST_LOOK)


def _promote_all(call: Call) -> None:
    with call.host.runtime(call.principal.project_id) as runtime:
        runtime.engine.background.promote()


def _busy(call: Call, left: float) -> int:
    with call.host.runtime(call.principal.project_id) as runtime:
        return runtime.engine.background.hurry(max(0.0, left))


@router.get("/status", **told(Tag.BACKGROUND, STATUS, model=StatusReport))
@needs(Right.READ_ALL)
def status(call: TheCall) -> Response:
    """Return what the project holds, what waits, and what failed."""
    return answer(call.runtime.status())


@router.get("/failures", **told(Tag.BACKGROUND, {"items": [FAILURE], "next_cursor": None}, model=FailurePage))
@needs(Right.READ_ALL)
def list_failures(call: TheCall, query: Annotated[FailuresQuery, Query()]) -> Response:
    """Return a page of failures, latest first."""
    return answer(call.runtime.list_failures(**dict(query)))


@router.get("/failures/{failure_id}", **told(Tag.BACKGROUND, FAILURE, model=FailureEntry))
@needs(Right.READ_ALL)
def get_failure(call: TheCall, failure_id: str) -> Response:
    """Return a failure with its reason and, where a model's reply was the cause, that reply."""
    found = call.runtime.get_failure(failure_id=failure_id)
    if found is None:
        raise MemoryNotFoundError(f"there is no failure {failure_id!r}", code="NOT_FOUND")
    return answer(found)


@router.post("/failures/retry", **told(Tag.BACKGROUND, {"count": 1}, model=Count))
@needs(Right.WRITE_ALL)
def retry_failures(call: TheCall, body: FailuresBody) -> Response:
    """Queue the chosen failures again; with an empty body all of them."""
    return answer({"count": call.runtime.retry_failures(**dict(body))})


@router.post("/failures/discard", **told(Tag.BACKGROUND, {"count": 1}, model=Count))
@needs(Right.WRITE_ALL)
def discard_failures(call: TheCall, body: FailuresBody) -> Response:
    """Forget the chosen failures; with an empty body all of them."""
    return answer({"count": call.runtime.discard_failures(**dict(body))})
