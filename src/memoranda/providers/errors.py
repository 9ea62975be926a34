"""What a provider's trouble means: one table from what was seen to the classes of failure that jobs know.

Whatever package or protocol is behind a provider, its errors come out of here, as ``Extraction…Error`` where a
language model answers and as ``Provider…Error`` elsewhere; both say their ``FailureClass``. Keys are cut out of the
messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Final

from memoranda.engine.extraction.errors import (
    ExtractionCredentialsError,
    ExtractionRateLimitError,
    ExtractionRefusedError,
    ExtractionTooLongError,
    ExtractionTransientError,
    ExtractionUnusableError,
)
from memoranda.engine.jobs.failure import FailureClass, WorkError

_MAX_DETAIL: Final = 500
_CUT: Final = "[key]"


class ProviderError(WorkError):
    """An embedder or a reranker failed; the class says whether the same request can succeed later."""


class ProviderTransientError(ProviderError):
    """The provider was not reached, did not answer in time, or is out of order."""

    failure_class: ClassVar[FailureClass] = FailureClass.TRANSIENT


class ProviderRateLimitError(ProviderError):
    """The provider asks to wait (``retry_after``)."""

    failure_class: ClassVar[FailureClass] = FailureClass.RATE_LIMIT


class ProviderCredentialsError(ProviderError):
    """The provider refuses the key, or does not give it this model; an operator can change that."""

    failure_class: ClassVar[FailureClass] = FailureClass.CREDENTIALS


class ProviderContentError(ProviderError):
    """The provider refuses what it was given, or its answer cannot be used."""

    failure_class: ClassVar[FailureClass] = FailureClass.CONTENT


class Trouble(StrEnum):
    """What was seen, in the words of the message."""

    NETWORK = "not reached"
    TIMEOUT = "no answer in time"
    OUTAGE = "out of order"
    RATE_LIMIT = "asks to wait"
    CREDENTIALS = "refuses the credentials"
    UNKNOWN_MODEL = "does not know the model, or does not give it to this key"
    TOO_LONG = "finds the text too long"
    REFUSED = "refuses the content"
    REJECTED = "rejects the request"
    UNUSABLE = "gave an answer that cannot be used"


class Purpose(StrEnum):
    """What a provider is asked for; a chat model's errors are those of extraction."""

    CHAT = "chat"
    EMBEDDING = "embedding"
    RERANKING = "reranking"


_Errors = tuple[type[WorkError], type[WorkError]]
_TRANSIENT: Final[_Errors] = (ExtractionTransientError, ProviderTransientError)
_CREDENTIALS: Final[_Errors] = (ExtractionCredentialsError, ProviderCredentialsError)
TABLE: Final[Mapping[Trouble, _Errors]] = MappingProxyType(
    {
        Trouble.NETWORK: _TRANSIENT,
        Trouble.TIMEOUT: _TRANSIENT,
        Trouble.OUTAGE: _TRANSIENT,
        Trouble.RATE_LIMIT: (ExtractionRateLimitError, ProviderRateLimitError),
        Trouble.CREDENTIALS: _CREDENTIALS,
        # As content it would condemn every text for a misspelt name, which an operator can put right.
        Trouble.UNKNOWN_MODEL: _CREDENTIALS,
        Trouble.TOO_LONG: (ExtractionTooLongError, ProviderContentError),
        Trouble.REFUSED: (ExtractionRefusedError, ProviderContentError),
        Trouble.REJECTED: (ExtractionRefusedError, ProviderContentError),
        Trouble.UNUSABLE: (ExtractionUnusableError, ProviderContentError),
    }
)
"""For each trouble the error of a chat model, and that of any other provider."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A provider's answer that is none: HTTP status (None where there was no answer), words, code and headers."""

    status: int | None = None
    message: str = ""
    code: str = ""
    names: frozenset[str] = frozenset()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Teller:
    """Makes the errors of one provider; ``name`` says which, ``secrets`` are never part of a message."""

    name: str
    purpose: Purpose
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def tell(self, seen: Seen) -> WorkError:
        """Return the error for what was seen."""
        trouble = trouble_of(seen)
        number = "" if seen.status is None else f" (HTTP {seen.status})"
        return self.error(trouble, f"{number}: {seen.message}", raw_reply=seen.body, retry_after=retry_after(seen))

    def unusable(self, detail: str, raw_reply: str) -> WorkError:
        """Return the error for an answer without an error status that cannot be used."""
        return self.error(Trouble.UNUSABLE, f": {detail}", raw_reply=raw_reply)

    def error(
        self, trouble: Trouble, detail: str, *, raw_reply: str | None = None, retry_after: timedelta | None = None
    ) -> WorkError:
        """Return the error of this trouble; ``detail`` follows the trouble's own words."""
        kind = TABLE[trouble][0 if self.purpose is Purpose.CHAT else 1]
        words = " ".join(f"{self.name} {trouble.value}{detail}".split())
        reply = None if raw_reply is None else self.without_secrets(raw_reply)
        return kind(self.without_secrets(words)[:_MAX_DETAIL], retry_after=retry_after, raw_reply=reply)

    def without_secrets(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, _CUT)
        return text

    def reveals(self, error: BaseException) -> bool:
        """Whether an error of another package must not be chained, because its words have a secret."""
        return any(secret in f"{error} {getattr(error, 'body', '')}" for secret in self.secrets)


_TIMEOUTS: Final = frozenset({"APITimeoutError", "TimeoutException", "Timeout", "TimeoutError"})
_TOO_LONG: Final = re.compile(
    r"context.{0,3}length|context.window|maximum.{0,20}(context|tokens|length)|too (long|large|many (input )?tokens)"
    r"|longer than|exceeds?.{0,40}(limit|maximum|tokens|context)|reduce (the|your) (length|input|prompt)",
    re.IGNORECASE,
)
_REFUSED: Final = re.compile(
    r"content.?(filter|policy|management)|responsible.?ai|safety|moderation|guardrail|blocked|refus", re.IGNORECASE
)
# Gemini says 400 for a key it does not know.
_BAD_KEY: Final = re.compile(
    r"api.?key.{0,30}(invalid|not valid|expired|missing|incorrect)|invalid.{0,4}api.?key", re.I
)


def trouble_of(seen: Seen) -> Trouble:
    """Return what was seen; a status that says nothing by itself is read together with its message."""
    if seen.names & _TIMEOUTS:
        return Trouble.TIMEOUT
    if seen.status is None:
        return Trouble.NETWORK
    fixed = _BY_STATUS.get(seen.status)
    if fixed is not None:
        return fixed
    return Trouble.OUTAGE if seen.status >= 500 else _by_words(f"{seen.code} {seen.message}")


_BY_STATUS: Final[Mapping[int, Trouble]] = MappingProxyType(
    {
        401: Trouble.CREDENTIALS,
        402: Trouble.CREDENTIALS,
        403: Trouble.CREDENTIALS,
        404: Trouble.UNKNOWN_MODEL,
        408: Trouble.TIMEOUT,
        409: Trouble.OUTAGE,
        413: Trouble.TOO_LONG,
        425: Trouble.OUTAGE,
        429: Trouble.RATE_LIMIT,
    }
)


def _by_words(words: str) -> Trouble:
    if _BAD_KEY.search(words):
        return Trouble.CREDENTIALS
    if _TOO_LONG.search(words):
        return Trouble.TOO_LONG
    return Trouble.REFUSED if _REFUSED.search(words) else Trouble.REJECTED


def retry_after(seen: Seen) -> timedelta | None:
    """Return how long the provider asks to wait: ``retry-after-ms``, or ``retry-after`` as seconds or as a date."""
    headers = {name.lower(): value.strip() for name, value in seen.headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        wait = _seconds(headers.get(name, ""))
        if wait is not None:
            return timedelta(seconds=wait * unit)
    return _until(headers.get("retry-after", ""), headers.get("date", ""))


def _seconds(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < 10**9 else None


def _until(moment: str, now: str) -> timedelta | None:
    """Return the time from the provider's own ``now`` (else this machine's) until ``moment``, both HTTP dates."""
    end = _date(moment)
    if end is None:
        return None
    return max(end - (_date(now) or datetime.now(UTC)), timedelta(0))


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def seen_in_exception(error: Exception) -> Seen:
    """Return what an exception of the ``openai`` or ``litellm`` package, or of ``httpx``, tells."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None)
    headers = getattr(response, "headers", None) or getattr(error, "litellm_response_headers", None) or {}
    body = getattr(error, "body", None)
    return Seen(
        status=status if isinstance(status, int) else None,
        message=_message(error),
        code=str(getattr(error, "code", None) or ""),
        names=frozenset(base.__name__ for base in type(error).__mro__),
        headers={str(name): str(value) for name, value in dict(headers).items()},
        body=None if body is None else str(body),
    )


def _message(error: Exception) -> str:
    """Return an exception's words, and those of the cause that a package hides behind "Connection error."."""
    words = [str(error), *(str(cause) for cause in _causes(error))]
    return ": ".join(dict.fromkeys(word for word in words if word)) or type(error).__name__


def _causes(error: BaseException) -> Iterable[BaseException]:
    cause = error.__cause__
    while cause is not None:
        yield cause
        cause = cause.__cause__
