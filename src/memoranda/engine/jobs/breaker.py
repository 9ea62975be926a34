"""The circuit breaker: while a provider is out of order its jobs wait, and one of them asks now and then.

An outage says nothing about a job. From some failures in a row on, or as soon as a provider names a time to come back,
the breaker of that provider is open: no job that wants it is claimed but one probe at the paced time, and no attempt is
counted. It is a row of the project, so that all processes wait together. One answer, good or bad, closes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol

from memoranda.engine.jobs.failure import MAX_RETRY_AFTER, PACES, Cause, FailureClass, RetryDecision, decide
from memoranda.engine.records import Job, JobKind

THRESHOLD: Final = 5
"""How many failures in a row open a breaker, where the provider names no time itself."""

_OF_THE_PROVIDER: Final = frozenset({FailureClass.TRANSIENT, FailureClass.RATE_LIMIT, FailureClass.CREDENTIALS})


@dataclass(frozen=True, slots=True)
class Breaker:
    """The failures in a row of one provider at one kind of job, since the first; open once ``next_probe`` is set."""

    kind: JobKind
    provider: str
    failures: int
    since: datetime
    failure_class: FailureClass
    reason: str
    next_probe: datetime | None = None

    def holds(self, now: datetime) -> bool:
        """Return whether jobs that want this provider wait."""
        return self.next_probe is not None and self.next_probe > now

    def probing(self, now: datetime, lease: timedelta) -> Breaker:
        """Return the breaker while one job asks: nobody else does, unless that one is never heard of again."""
        if self.next_probe is None:
            return self
        return replace(self, next_probe=now + max(lease, _paced(self.failures, self.failure_class)))


class BreakerRows(Protocol):
    """The breakers of a project: one for each provider that has not answered since it failed last."""

    def all(self) -> Sequence[Breaker]: ...

    def put(self, breaker: Breaker) -> None:
        """Insert or replace."""
        ...

    def remove(self, kind: JobKind, provider: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Available:
    """The providers whose jobs can run now, and when the first of the others is asked again."""

    extractors: tuple[str, ...]
    embedders: tuple[str, ...]
    next_probe: datetime | None


def available(
    breakers: Sequence[Breaker], extractors: Sequence[str], embedders: Sequence[str], now: datetime
) -> Available:
    """Return which of these providers no breaker holds."""
    held = {(each.kind, each.provider): each.next_probe for each in breakers if each.holds(now)}
    ours = {(JobKind.EXTRACT, name) for name in extractors} | {(JobKind.EMBED, name) for name in embedders}
    return Available(
        extractors=tuple(name for name in extractors if (JobKind.EXTRACT, name) not in held),
        embedders=tuple(name for name in embedders if (JobKind.EMBED, name) not in held),
        next_probe=min((probe for key, probe in held.items() if key in ours and probe is not None), default=None),
    )


def provider_of(job: Job) -> str:
    """Return the name of the provider that a job of this kind asks; empty where it asks none that has a name."""
    match job.kind:
        case JobKind.EXTRACT:
            return job.extractor
        case JobKind.EMBED:
            return job.embedder
        case _:
            return ""


def breaker_of(job: Job, breakers: Iterable[Breaker]) -> Breaker | None:
    """Return the breaker that a job's outcome is about."""
    provider = provider_of(job)
    return next((each for each in breakers if (each.kind, each.provider) == (job.kind, provider)), None)


def blames_provider(job: Job, cause: Cause) -> bool:
    """Return whether a failure says something about the provider rather than about the job."""
    return bool(provider_of(job)) and cause.failure_class in _OF_THE_PROVIDER


def after_failure(before: Breaker | None, job: Job, cause: Cause, now: datetime) -> Breaker:
    """Return the breaker after a failure of the provider."""
    failures = 1 if before is None else before.failures + 1
    opened = before is not None and before.next_probe is not None
    opens = opened or failures >= THRESHOLD or cause.retry_after is not None
    return Breaker(
        kind=job.kind,
        provider=provider_of(job),
        failures=failures,
        since=now if before is None else before.since,
        failure_class=cause.failure_class,
        reason=cause.reason,
        next_probe=now + _pause(failures, job.attempts, cause) if opens else None,
    )


def decide_with(breaker: Breaker, job: Job, cause: Cause, now: datetime) -> RetryDecision:
    """Return what becomes of a job whose provider failed: behind an open breaker it waits, uncounted, within its age.

    Age counts from when the provider failed first: a job that waited long for its turn has not been tried in vain.
    """
    since = max(job.created_at, breaker.since)
    if breaker.next_probe is None:
        return decide(replace(job, created_at=since), cause, now)
    if now - since > PACES[cause.failure_class].max_age:
        return RetryDecision(cause, None)
    # It is the breaker that makes it wait; due last, it leaves the next probe to another job where there is one.
    return RetryDecision(cause, now, counted=False)


def _pause(failures: int, attempts: int, cause: Cause) -> timedelta:
    """Return how long a provider is left alone: as it says itself, until its word was in vain too often."""
    if cause.retry_after is None:
        # A single job has been paced by its own attempts so far, and is not asked for more often than before.
        return max(_paced(failures, cause.failure_class), PACES[cause.failure_class].wait(attempts))
    vain = failures - THRESHOLD
    floor = PACES[FailureClass.TRANSIENT].wait(vain) if vain > 0 else timedelta(0)
    return max(min(cause.retry_after, MAX_RETRY_AFTER), floor)


def _paced(failures: int, failure_class: FailureClass) -> timedelta:
    return PACES[failure_class].wait(max(1, failures - THRESHOLD + 1))
