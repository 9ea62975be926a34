"""The asynchronous form of a method: the same call, one hop away in a thread.

A class writes each operation once and declares its twin beneath it: ``search_async = twin(search)``. The twin has the
parameters and the type of the method, calls whatever a subclass put in its place, and carries the caller's context
variables. A cancelled call that has begun runs to its end: a write is whole or absent.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, cast

from memoranda.sdk.aio._threads import Threads, alone, outcome

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")

ASYNC_SUFFIX: Final = "_async"

_THREADS: Final = Threads()


def twin(
    method: Callable[Concatenate[S, P], R], *, waits: bool = False
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Return the asynchronous form of a method, to be assigned under its name with ``_async``.

    Calls share a few threads and queue for them. One that ``waits`` for other work has a thread of its own, so that it
    never keeps that work from one.
    """
    name = method.__name__

    @wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        # By name, so that a subclass which overrides the method has overridden its twin.
        operation = cast("Callable[P, R]", getattr(self, name))
        bound = partial(operation, *args, **kwargs)
        return await (outcome(alone(bound)) if waits else _THREADS.run(bound))

    call.__name__ = f"{name}{ASYNC_SUFFIX}"
    call.__qualname__ = f"{method.__qualname__}{ASYNC_SUFFIX}"
    call.__doc__ = f"The asynchronous form of ``{name}``."
    return call


def methods_without_twin(cls: type[object]) -> list[str]:
    """Return the public methods of a class that have no asynchronous form; properties and class methods need none."""
    plain = (
        name
        for each in cls.__mro__
        for name, value in vars(each).items()
        if callable(value) and not isinstance(value, type) and not name.startswith("_")
    )
    return sorted({name for name in plain if not name.endswith(ASYNC_SUFFIX) and not hasattr(cls, name + ASYNC_SUFFIX)})
