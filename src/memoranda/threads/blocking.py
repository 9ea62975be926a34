"""Calls a coroutine from code that is not asynchronous."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class _Loop:
    """The process's one loop for this, in a thread of its own: a client that a coroutine made outlives the call."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the loop; a forked child has none of its parent's threads."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="memoranda-coroutines", daemon=True).start()
            return self._loop


_LOOP = _Loop()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LOOP.reset)


def result_of(coroutine: Coroutine[object, object, T]) -> T:
    """Run a coroutine to its end and return its result; also from within a running event loop, which waits for it.

    It sees the caller's context variables.
    """
    loop = _LOOP.running()
    if _running_loop() is not loop:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()
    # Called from a coroutine of that very loop, which cannot wait for itself.
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, thread_name_prefix="memoranda-coroutine") as thread:
        return thread.submit(context.run, asyncio.run, coroutine).result()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
