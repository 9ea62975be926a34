"""What every provider over HTTP holds: one client a process, and a bound on the requests under way."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar
from urllib.parse import urlsplit

_Client = TypeVar("_Client")


class Connection(Generic[_Client]):
    """A client made at its first use, again in a forked child (sockets cannot be shared), lent to at most so many."""

    def __init__(
        self, make: Callable[[], _Client], max_concurrency: int, close: Callable[[_Client], None] | None = None
    ) -> None:
        if max_concurrency < 1:
            raise ValueError(f"max_concurrency is {max_concurrency}: give 1 or more")
        self._make = make
        self._close = close
        self._max_concurrency = max_concurrency
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._client: _Client | None = None
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(self._max_concurrency)

    @contextmanager
    def client(self) -> Iterator[_Client]:
        """Lend the client, waiting while ``max_concurrency`` others have it."""
        if self._pid != os.getpid():
            self._reset()
        with self._free:
            yield self._made()

    def _made(self) -> _Client:
        with self._lock:
            if self._client is None:
                self._client = self._make()
                if self._close is not None:
                    weakref.finalize(self, self._close, self._client)
            return self._client


def host_of(base_url: str) -> str:
    """Return the host of a URL, with its port where there is one and without user or password."""
    parts = urlsplit(base_url)
    return parts.netloc.rpartition("@")[2].lower() or base_url


def checked_url(base_url: str) -> str:
    """Return a base URL without its last slash; ``ValueError`` unless it is http or https with a host."""
    parts = urlsplit(base_url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            f"base_url {host_of(base_url)!r} is no http(s) URL: give one such as 'http://localhost:11434/v1'"
        )
    return base_url.strip().rstrip("/")


def sendable(text: str) -> str:
    """Return a text that UTF-8 can carry: a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
