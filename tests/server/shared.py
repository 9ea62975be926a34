"""One server for many applications: starting and ending one for each of thousands of tests takes minutes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import count

from starlette.types import ASGIApp, Receive, Scope, Send

from tests.server.live import serving


class _Places:
    """An application that leads to others, each below a path of its own. Thread-safe."""

    def __init__(self) -> None:
        self._numbers = count()
        self._apps: dict[bytes, ASGIApp] = {}
        self._under_way: dict[bytes, int] = {}
        self._ended = threading.Condition()

    def add(self, app: ASGIApp) -> bytes:
        with self._ended:
            place = b"/app%d" % next(self._numbers)
            self._apps[place], self._under_way[place] = app, 0
        return place

    def remove(self, place: bytes) -> None:
        """Take no more requests, and return when those under way are answered."""
        with self._ended:
            del self._apps[place]
            self._ended.wait_for(lambda: self._under_way[place] == 0)
            del self._under_way[place]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw: bytes = scope["raw_path"]
        place = raw[: raw.index(b"/", 1)]
        with self._ended:
            app = self._apps[place]
            self._under_way[place] += 1
        inner = raw[len(place) :]
        try:
            await app({**scope, "raw_path": inner, "path": inner.decode()}, receive, send)
        finally:
            with self._ended:
                self._under_way[place] -= 1
                self._ended.notify_all()


@cache
def _running() -> tuple[_Places, str, ExitStack]:
    """Start the server, which lives as long as this process: until what ends it, the last of the three, is gone."""
    places, ending = _Places(), ExitStack()
    return places, ending.enter_context(serving(places)), ending


@contextmanager
def placed(app: ASGIApp) -> Iterator[str]:
    """Serve an application while the block runs, beside others; yield its URL, which has a path."""
    places, url, _ = _running()
    place = places.add(app)
    try:
        yield url + place.decode()
    finally:
        places.remove(place)
