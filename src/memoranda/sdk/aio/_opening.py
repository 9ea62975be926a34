"""Opening without blocking the loop, with `await` or with `async with`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from memoranda.sdk import _opening
from memoranda.sdk._connection import Closeable
from memoranda.sdk.aio._threads import alone, outcome

P = ParamSpec("P")
R = TypeVar("R", bound=Closeable)


class AsyncCloseable(Protocol):
    """A handle."""

    async def close(self) -> None:
        """Release what it holds; more than once is harmless."""
        ...


H = TypeVar("H", bound=AsyncCloseable)


class Opening(Generic[H]):
    """A handle that is being opened: `await` it, or enter it with `async with`, which closes it in the end."""

    def __init__(self, opened: Coroutine[Any, Any, H]) -> None:
        self._opened = opened
        self._handle: H | None = None

    def __await__(self) -> Generator[Any, Any, H]:
        return self._opened.__await__()

    async def __aenter__(self) -> H:
        self._handle = await self._opened
        return self._handle

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handle is not None:
            await self._handle.close()


def awaited_or_entered(
    opener: Callable[Concatenate[type[H], P], Coroutine[Any, Any, H]],
) -> Callable[Concatenate[type[H], P], Opening[H]]:
    """Make a class's coroutine that opens a handle usable with `async with` too."""

    @wraps(opener)
    def opening(cls: type[H], /, *args: P.args, **kwargs: P.kwargs) -> Opening[H]:
        return Opening(opener(cls, *args, **kwargs))

    return opening


def _off_loop(opener: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    async def opened(*args: P.args, **kwargs: P.kwargs) -> R:
        future = alone(partial(opener, *args, **kwargs))
        try:
            return await outcome(future)
        except asyncio.CancelledError:
            future.add_done_callback(_close_unwanted)
            raise

    return opened


def _close_unwanted(future: Future[R]) -> None:
    # Opened for a task that was cancelled meanwhile: nobody else would ever close it.
    if not future.cancelled() and future.exception() is None:
        alone(future.result().close)


open_engine = _off_loop(_opening.open_engine)
