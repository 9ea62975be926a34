"""What an error says about a job: which class of failure it is, and whether and when to try again.

The one question is whether the condition can change while the request stays the same. The answer is data
(``RetryDecision``); the worker acts on it.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar

from memoranda.engine.jobs.backoff import Pace
from memoranda.engine.records import Job
from memoranda.sdk.errors import MemoryConnectionError, MemoryStoreError

_DAY = timedelta(days=1)
_MAX_REASON = 2000
_MAX_REPLY = 20_000


class FailureClass(StrEnum):
    """Why a job failed; ``content`` alone cannot change while the request stays the same."""

    TRANSIENT = "transient"
    RATE_LIMIT = "rate_limit"
    CREDENTIALS = "credentials"
    CONTENT = "content"
    INTERNAL = "internal"


PACES = {
    FailureClass.TRANSIENT: Pace(timedelta(seconds=2), timedelta(minutes=5), 20, _DAY),
    FailureClass.RATE_LIMIT: Pace(timedelta(seconds=30), timedelta(minutes=15), 40, _DAY),
    FailureClass.CREDENTIALS: Pace(timedelta(minutes=2), timedelta(minutes=30), 20, _DAY),
    FailureClass.CONTENT: Pace(timedelta(0), timedelta(0), 1, _DAY),
    FailureClass.INTERNAL: Pace(timedelta(seconds=1), timedelta(minutes=1), 3, _DAY),
}
MAX_RETRY_AFTER = timedelta(hours=1)
"""The longest wait that a provider's own word can ask for."""


class WorkError(Exception):
    """An error that knows what it means for the job that met it.

    ``retry_after`` is what the provider asked for; ``raw_reply`` is kept for the operator, never logged.
    """

    failure_class: ClassVar[FailureClass] = FailureClass.INTERNAL

    def __init__(self, message: str, *, retry_after: timedelta | None = None, raw_reply: str | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.raw_reply = raw_reply


class PostponedError(Exception):
    """The work has to wait until a known time. It has not failed: no attempt is counted, and nothing is kept of it."""

    def __init__(self, reason: str, until: datetime) -> None:
        super().__init__(reason)
        self.reason = reason
        self.until = until


@dataclass(frozen=True, slots=True)
class Cause:
    """What went wrong, as far as the error tells."""

    failure_class: FailureClass
    reason: str
    retry_after: timedelta | None = None
    raw_reply: str | None = None


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """What to do with a job that failed: try again at ``retry_at``, or keep it as a failure when that is None.

    ``counted`` is whether the attempt counts against the job.
    """

    cause: Cause
    retry_at: datetime | None
    counted: bool = True


def decide(job: Job, cause: Cause, now: datetime) -> RetryDecision:
    """Return whether the job is tried again, and when; ``job.attempts`` includes the attempt that failed."""
    pace = PACES[cause.failure_class]
    if pace.exhausted(job.attempts, job.created_at, now):
        return RetryDecision(cause, None)
    asked = min(cause.retry_after or timedelta(0), MAX_RETRY_AFTER)
    return RetryDecision(cause, now + max(asked, pace.wait(job.attempts)))


def classify(error: Exception) -> Cause:
    """Return the class and the reason of any error that a handler can raise."""
    if isinstance(error, WorkError):
        reply = None if error.raw_reply is None else error.raw_reply[:_MAX_REPLY]
        return Cause(error.failure_class, _reason(error), error.retry_after, reply)
    if isinstance(error, MemoryStoreError | MemoryConnectionError | TimeoutError | ConnectionError):
        return Cause(FailureClass.TRANSIENT, _reason(error))
    status = _http_status(error)
    if status is not None:
        return Cause(_class_of_status(status), _reason(error), _retry_after(error))
    if _NETWORK_ERRORS.intersection(base.__name__ for base in type(error).__mro__):
        return Cause(FailureClass.TRANSIENT, _reason(error))
    return Cause(FailureClass.INTERNAL, _reason(error))


# Base classes of the clients that providers are built on; the engine imports none of them.
_NETWORK_ERRORS = frozenset({"TransportError", "APIConnectionError", "APITimeoutError", "ClientConnectionError"})


def _reason(error: Exception) -> str:
    return "".join(traceback.format_exception_only(error)).strip().splitlines()[-1][:_MAX_REASON]


def _http_status(error: Exception) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _class_of_status(status: int) -> FailureClass:
    if status == 429:
        return FailureClass.RATE_LIMIT
    if status in (401, 403):
        return FailureClass.CREDENTIALS
    if status in (408, 409, 425) or status >= 500:
        return FailureClass.TRANSIENT
    return FailureClass.CONTENT


def _retry_after(error: Exception) -> timedelta | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        seconds = float(headers.get("retry-after", ""))
    except (AttributeError, TypeError, ValueError):
        return None
    return timedelta(seconds=seconds) if 0 <= seconds < 10**9 else None
