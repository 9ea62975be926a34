"""Blocking calls off the event loop: each takes one hop to a thread that belongs to the connection.

The caller's context variables go along. A call whose awaiting task is cancelled runs to its end if it has begun, and
never starts if it has not: a write is whole or absent, never half.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, Final, TypeVar

T = TypeVar("T")

logger = logging.getLogger(__name__)

# As many as the store keeps connections. Further calls queue, in order.
CALL_THREADS: Final = 8

# These may take as long as a caller likes: each has a thread of its own, and none keeps the others from theirs.
_LONG_CALLS: Final = frozenset({"wait_until_idle"})


class Threads:
    """The threads of one connection, made at first use, for any number of event loops."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._pid = os.getpid()

    async def run(self, call: Callable[[], T]) -> T:
        """Run `call` in one of the threads."""
        return await outcome(self._submit(call))

    def _submit(self, call: Callable[[], T]) -> Future[T]:
        with self._changing:
            if self._pool is None or self._pid != os.getpid():  # a forked child has none of its parent's threads
                self._pool, self._pid = ThreadPoolExecutor(CALL_THREADS, "memoranda-call"), os.getpid()
            return self._pool.submit(copy_context().run, call)

    async def finish(self, last: Callable[[], object] | None = None) -> None:
        """Let the calls that were accepted end, then run `last`, and give the threads back."""
        with self._changing:
            pool, self._pool = self._pool, None
        await outcome(alone(partial(_finish, pool if self._pid == os.getpid() else None, last)))


def _finish(pool: ThreadPoolExecutor | None, last: Callable[[], object] | None) -> None:
    if pool is not None:
        pool.shutdown(wait=True)
    if last is not None:
        last()


def alone(call: Callable[[], T]) -> Future[T]:
    """Run `call` in a thread of its own."""
    pool = ThreadPoolExecutor(1, "memoranda-alone")
    future = pool.submit(copy_context().run, call)
    pool.shutdown(wait=False)
    return future


async def outcome(future: Future[T]) -> T:
    """Wait for a call in a thread; a failure that nobody waits for any more is logged."""
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        future.add_done_callback(_log_unseen_failure)
        raise


def _log_unseen_failure(future: Future[T]) -> None:
    error = None if future.cancelled() else future.exception()
    if error is not None:
        logger.warning("aio.cancelled_call_failed", extra={"error_class": type(error).__name__})


class Threaded:
    """A runtime or client in which each call of the one it stands for is a coroutine."""

    def __init__(self, target: object, threads: Threads) -> None:
        self._target = target
        self._threads = threads

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        call = getattr(self._target, name)
        if name in _LONG_CALLS:
            return lambda **arguments: outcome(alone(partial(call, **arguments)))
        return lambda **arguments: self._threads.run(partial(call, **arguments))
