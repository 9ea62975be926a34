"""What an error says about its job, and how long the job waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memoranda.engine.extraction.errors import ExtractionRateLimitError, ExtractionUnusableError
from memoranda.engine.jobs.backoff import Pace
from memoranda.engine.jobs.failure import MAX_RETRY_AFTER, PACES, Cause, FailureClass, classify, decide
from memoranda.engine.records import Job, JobKind
from memoranda.sdk.errors import MemoryStoreError

NOW = datetime(2026, 1, 5, tzinfo=UTC)
JOB = Job(id="j", seq=1, kind=JobKind.EXTRACT, lane="", payload={}, run_at=NOW, created_at=NOW, attempts=1)


class Response:
    def __init__(self, status_code: int, headers: dict[str, str] | None = None) -> None:
        self.status_code = status_code
        self.headers = headers or {}


class ClientError(Exception):
    def __init__(self, status_code: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"status {status_code}")
        self.response = Response(status_code, headers)


class TransportError(Exception):
    """Named as the clients name it."""


class ReadTimeout(TransportError):
    """Named as the clients name it."""


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TimeoutError("t"), FailureClass.TRANSIENT),
        (ConnectionResetError("r"), FailureClass.TRANSIENT),
        (MemoryStoreError("locked"), FailureClass.TRANSIENT),
        (ReadTimeout("t"), FailureClass.TRANSIENT),
        (ClientError(503), FailureClass.TRANSIENT),
        (ClientError(408), FailureClass.TRANSIENT),
        (ClientError(429), FailureClass.RATE_LIMIT),
        (ClientError(401), FailureClass.CREDENTIALS),
        (ClientError(403), FailureClass.CREDENTIALS),
        (ClientError(400), FailureClass.CONTENT),
        (ExtractionUnusableError("bad"), FailureClass.CONTENT),
        (KeyError("x"), FailureClass.INTERNAL),
        (ValueError("x"), FailureClass.INTERNAL),
    ],
    ids=repr,
)
def test_class_of_an_error(error: Exception, expected: FailureClass) -> None:
    assert classify(error).failure_class is expected


def test_reason_names_the_error_and_the_reply_is_kept() -> None:
    cause = classify(ExtractionUnusableError("not JSON", raw_reply="{oops"))
    assert cause.reason.endswith("ExtractionUnusableError: not JSON")
    assert cause.raw_reply == "{oops"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "90"}, timedelta(seconds=90)),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_what_the_provider_says(headers: dict[str, str], wait: timedelta | None) -> None:
    assert classify(ClientError(429, headers)).retry_after == wait


def test_waits_double_up_to_the_cap() -> None:
    pace = Pace(timedelta(seconds=2), timedelta(seconds=30), 9, timedelta(days=1))
    assert [pace.wait(attempt).total_seconds() for attempt in (1, 2, 3, 4, 5, 500)] == [2, 4, 8, 16, 30, 30]


@pytest.mark.parametrize("failure_class", list(FailureClass))
def test_attempts_are_bounded(failure_class: FailureClass) -> None:
    pace = PACES[failure_class]
    last = replace(JOB, attempts=pace.attempts)
    assert decide(last, Cause(failure_class, "r"), NOW).retry_at is None
    if pace.attempts > 1:
        earlier = replace(JOB, attempts=pace.attempts - 1)
        assert decide(earlier, Cause(failure_class, "r"), NOW).retry_at is not None


def test_age_bounds_retries_but_not_a_job_that_only_waited_its_turn() -> None:
    cause, late = Cause(FailureClass.TRANSIENT, "r"), NOW + timedelta(days=2)
    assert decide(JOB, cause, late).retry_at == late + timedelta(seconds=2)
    assert decide(replace(JOB, attempts=3), cause, late).retry_at is None


def test_provider_can_ask_for_a_longer_wait_within_reason() -> None:
    error = ExtractionRateLimitError("slow", retry_after=timedelta(minutes=20))
    assert decide(JOB, classify(error), NOW).retry_at == NOW + timedelta(minutes=20)
    error = ExtractionRateLimitError("slow", retry_after=timedelta(days=20))
    assert decide(JOB, classify(error), NOW).retry_at == NOW + MAX_RETRY_AFTER
    error = ExtractionRateLimitError("slow", retry_after=timedelta(seconds=1))
    assert decide(JOB, classify(error), NOW).retry_at == NOW + PACES[FailureClass.RATE_LIMIT].first
