"""Turns of many requests at once: while a group of them is stored, the next one gathers.

A thread a request would cost more than its turn: all would wait for each other, for the interpreter and for the store.
One thread stores what has gathered, and the requests await it on the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

from memoranda.engine.turn_groups import MAX_GROUP
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.runtime import EngineRuntime
from memoranda.sdk.errors import MemoryServerError
from memoranda.sdk.models import TurnInput, WriteTurnResult
from memoranda.server.dependencies import Call, require_given
from memoranda.server.schemas.turns import TurnBody

logger = logging.getLogger(__name__)

_MOST_THREADS: Final = 8
"""How many projects are written to at a time."""

_Place: TypeAlias = tuple[asyncio.AbstractEventLoop, str]
"""Which requests gather in one group: those of a project that are awaited on one event loop."""


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """One request, and what it awaits."""

    call: Call
    body: TurnBody
    told: asyncio.Future[WriteTurnResult]

    def turn(self, runtime: EngineRuntime) -> TurnInput:
        """Return what is to be stored. Raises what is wrong with the request."""
        self.call.leased = runtime
        user_id = self.call.writer(self.body.user_id)
        require_given(session_id=self.body.session_id, user_id=user_id)
        given = {name: value for name, value in dict(self.body).items() if value is not None}
        # Checked when the body was read.
        return TurnInput.model_construct(**{**given, "user_id": user_id})


class TurnWriter:
    """Stores the turns of requests, those of a project one group after the other. Thread-safe.

    A request is told what it would have been told alone.
    """

    def __init__(self, host: EngineHost) -> None:
        self._host = host
        self._lock = threading.Lock()
        self._gathering: dict[_Place, deque[_Asked]] = {}
        """What is to be stored next, of each place that has a thread."""
        self._threads = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="memoranda-turns")

    async def record(self, call: Call, body: TurnBody) -> WriteTurnResult:
        """Store the turn of a request; when this returns it is durable."""
        loop = asyncio.get_running_loop()
        asked, place = _Asked(call, body, loop.create_future()), (loop, call.principal.project_id)
        with self._lock:
            has_thread = place in self._gathering
            self._gathering.setdefault(place, deque()).append(asked)
        if not has_thread:
            self._threads.submit(self._store_all, place)
        return await asked.told

    def _store_all(self, place: _Place) -> None:
        """Store what has gathered, and what gathers meanwhile."""
        loop, project_id = place
        while group := self._next_group(place):
            outcomes = self._stored(project_id, group)
            # A loop that has ended has nobody left who waits.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_tell, group, outcomes)

    def _next_group(self, place: _Place) -> list[_Asked]:
        """Take who has gathered; where nobody has, the thread is done with the place."""
        with self._lock:
            gathering = self._gathering[place]
            if not gathering:
                del self._gathering[place]
            return [gathering.popleft() for _ in range(min(len(gathering), MAX_GROUP))]

    def _stored(self, project_id: str, group: Sequence[_Asked]) -> list[WriteTurnResult | Exception]:
        """Store a group in one transaction; return what each is to be told."""
        try:
            with self._host.runtime(project_id) as runtime:
                return list(runtime.record_turns(turns=[asked.turn(runtime) for asked in group]))
        except MemoryServerError as error:  # Of the store: one by one they would wait for it one after the other.
            return [error] * len(group)
        except Exception as error:  # noqa: BLE001 - told to whom it concerns; nothing was stored
            logger.debug("turns.refused", extra={"error": type(error).__name__, "turns": len(group)})
            if len(group) == 1:
                return [error]
            # Whom it concerns shows when each is stored alone.
            return [outcome for asked in group for outcome in self._stored(project_id, [asked])]


def _tell(group: Sequence[_Asked], outcomes: Sequence[WriteTurnResult | Exception]) -> None:
    for asked, outcome in zip(group, outcomes, strict=True):
        if asked.told.done():  # Whoever asked has given up.
            continue
        if isinstance(outcome, Exception):
            asked.told.set_exception(outcome)
        else:
            asked.told.set_result(outcome)
