"""Calls a coroutine from code that is not asynchronous."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def result_of(coroutine: Coroutine[object, object, T]) -> T:
    """Run a coroutine to its end and return its result; also from within a running event loop, which waits for it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    # The running loop cannot be entered again: another one, in a thread with the same context variables, can.
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, thread_name_prefix="memoranda-blocking") as thread:
        return thread.submit(context.run, asyncio.run, coroutine).result()
