"""What every call over HTTP goes through: one pool of connections, the retries, the errors, who the server is."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import httpx

from memoranda.sdk._pool import Pool, pause
from memoranda.sdk._responses import error_in
from memoranda.sdk._settings import HttpSettings
from memoranda.sdk._wire import VERSION_HEADER, Request
from memoranda.sdk.errors import MemoryConnectionError, MemoryNotSupportedError

ATTEMPTS: Final = 3
RETRIED_STATUSES: Final = frozenset({502, 503, 504})
_HEALTH: Final = "/health/live"


class Transport:
    """Sends requests and returns the responses that are a success; raises the classes of `errors` for all others.

    A request that may be repeated is sent up to three times, when there was no answer or one of 502, 503 and 504, with
    0.2 to 0.4 s and then 0.4 to 0.6 s between; `Retry-After` is ignored. Each attempt has 30 s. `pause` is what waits.

    **Whose server it is.** A Memoranda server puts `X-Memoranda-Version` on every response. The transport remembers
    what it saw: with the header it is ours from then on; a success without it, and it is not. Nothing is asked for this
    but by `require_memoranda`, for a call that no other server may be sent.
    """

    def __init__(self, settings: HttpSettings, *, pause: Callable[[float], None] = pause) -> None:
        self._pool = Pool(settings)
        self._base_path = settings.base_path
        self._scoped = settings.project_id is not None
        self._pause = pause
        self._is_memoranda: bool | None = None

    @property
    def is_foreign(self) -> bool:
        """Whether the server is known not to be Memoranda."""
        return self._is_memoranda is False

    def send(self, request: Request) -> httpx.Response:
        """Return the successful response to a request below the base path."""
        response = self._answer(self._placed(request))
        if response.is_success:
            return response
        raise error_in(response, request.route, scoped=self._scoped)

    def find(self, request: Request) -> httpx.Response | None:
        """Return the successful response, or None for a 404, whatever it says."""
        response = self._answer(self._placed(request))
        if response.status_code == 404:
            return None
        if response.is_success:
            return response
        raise error_in(response, request.route, scoped=self._scoped)

    def require_memoranda(self, what: str) -> None:
        """Raise MemoryNotSupportedError unless the server is Memoranda.

        Where none has answered yet it is asked for its health, once: a request that changes nothing anywhere.
        """
        if self._is_memoranda is None:
            request = Request("GET", _HEALTH, retried=True)
            response = self._answer(request)
            if self._is_memoranda is None and response.status_code >= 500:
                raise error_in(response, request.route, scoped=self._scoped)
            self._is_memoranda = self._is_memoranda is True
        if not self._is_memoranda:
            raise MemoryNotSupportedError(
                f"{what} is not supported by this service, which is no Memoranda server; leave it out"
            )

    def close(self) -> None:
        """Close the connections; again is harmless."""
        self._pool.close()

    def _placed(self, request: Request) -> Request:
        return replace(request, url=f"{self._base_path}/{request.url}")

    def _answer(self, request: Request) -> httpx.Response:
        last = (ATTEMPTS if request.retried else 1) - 1
        for attempt in range(last):
            try:
                response = self._pool.send(request)
            except httpx.TransportError:
                self._pause(delay(attempt))
                continue
            if response.status_code not in RETRIED_STATUSES:
                return self._noted(response)
            self._pause(delay(attempt))
        try:
            return self._noted(self._pool.send(request))
        except httpx.TransportError as error:
            raise MemoryConnectionError(str(error)) from error

    def _noted(self, response: httpx.Response) -> httpx.Response:
        if VERSION_HEADER in response.headers:
            self._is_memoranda = True
        elif response.is_success and self._is_memoranda is None:
            self._is_memoranda = False
        return response


def delay(attempt: int) -> float:
    """Return the seconds to wait after the attempt of this number, counted from 0."""
    return 0.2 * (1 << attempt) + random.uniform(0, 0.2)
