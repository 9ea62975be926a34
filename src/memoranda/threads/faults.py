"""The engine's errors as the builtin exceptions of the thread API; each stays what it was as well, with its code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from memoranda.sdk.errors import (
    MemoryAPIError,
    MemoryAuthError,
    MemoryBadRequestError,
    MemoryConflictError,
    MemoryConnectionError,
    MemoryNotFoundError,
    MemoryServerError,
)
from memoranda.threads.backend import ThreadBackend


class UnknownRecordError(MemoryNotFoundError, KeyError):
    """There is no such record."""


class ConflictError(MemoryConflictError, ValueError):
    """What is there refuses it: an id that is taken, a link that would close a circle."""


class RefusedError(MemoryBadRequestError, ValueError):
    """It cannot be done as it was asked for."""


class AccessError(MemoryAuthError, PermissionError):
    """The credentials are wrong, or not allowed to do this."""


class ServiceError(MemoryServerError, RuntimeError):
    """The store or the service failed; nothing was wrong with the request."""


class UnreachableError(MemoryConnectionError, RuntimeError):
    """The service gave no answer."""


_KINDS: tuple[tuple[type[MemoryAPIError], type[MemoryAPIError]], ...] = (
    (MemoryNotFoundError, UnknownRecordError),
    (MemoryConflictError, ConflictError),
    (MemoryBadRequestError, RefusedError),
    (MemoryAuthError, AccessError),
    (MemoryConnectionError, UnreachableError),
    (MemoryAPIError, ServiceError),
)


def builtin_fault(error: MemoryAPIError) -> MemoryAPIError:
    """Return an error of the engine as what callers of the thread API catch; one that is that already stays."""
    made = next(ours for theirs, ours in _KINDS if isinstance(error, theirs))
    if isinstance(error, made):
        return error
    return made(error.message, status=error.status, code=error.code, response_text=error.response_text)


@contextmanager
def builtin_faults() -> Iterator[None]:
    """Raise what the block raises as a builtin exception."""
    try:
        yield
    except MemoryAPIError as error:
        fault = builtin_fault(error)
        if fault is error:
            raise
        raise fault from error


class _Translated:
    """A backend whose errors are builtin exceptions."""

    def __init__(self, backend: ThreadBackend) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._backend, name)
        if name.startswith("_") or not callable(found):
            return found
        operation = _translated(found)
        # Found at once the next time.
        vars(self)[name] = operation
        return operation


def _translated(operation: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(operation)
    def call(*args: Any, **kwargs: Any) -> Any:
        with builtin_faults():
            return operation(*args, **kwargs)

    return call


def translated(backend: ThreadBackend) -> ThreadBackend:
    """Return a backend that raises builtin exceptions where this one raises the engine's."""
    return cast("ThreadBackend", _Translated(backend))
