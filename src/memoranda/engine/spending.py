"""What extraction may cost a day: model calls are metered for each job, and at the cap extraction pauses.

The cap is looked at before the first call for a snapshot; what that snapshot then needs is asked for, so that a day can
end a little above its cap. Work that is paused goes on at the next day's beginning, in UTC. Embeddings are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, time, timedelta

from memoranda.engine.config_model import SpendingConfig
from memoranda.engine.extraction.items import NO_USAGE, Usage
from memoranda.engine.jobs.failure import PostponedError
from memoranda.engine.ports import ChatModel, ChatReply, Clock, Store, Transaction
from memoranda.engine.records import Job
from memoranda.engine.usage import ModelUsage


class Spending:
    """Meters the model calls of a project's jobs. Thread-safe: a job is metered in the thread that runs it."""

    def __init__(self, store: Store, project_id: str, clock: Clock, limits: SpendingConfig) -> None:
        self._store = store
        self._project_id = project_id
        self._clock = clock
        self._limits = limits

    @contextmanager
    def metered(self, job: Job) -> Iterator[Meter]:
        """Meter what ``MeteredChatModel`` is asked in this block; what it cost is kept whether or not it succeeds.

        Whoever has a transaction of its own to end the work in calls ``keep`` of the meter there, and saves one.
        """
        meter = Meter(self, job)
        token = _METER.set(meter)
        try:
            yield meter
        finally:
            _METER.reset(token)
            if meter.used and not meter.kept:
                with self._store.write(self._project_id) as tx:
                    meter.keep(tx)

    def keep(self, tx: Transaction, job: Job, used: Mapping[str, Usage]) -> None:
        """Add what a job cost, by model, to today's."""
        today = self._clock.now().date()
        for model, usage in used.items():
            tx.usage.add(today, ModelUsage(job.id, model, usage))

    def check(self) -> None:
        """Raise ``PostponedError`` when the day's cap is reached."""
        until = self.paused_until()
        if until is not None:
            raise PostponedError(f"extraction pauses until {until:%Y-%m-%d %H:%M} UTC: {self._reached()}", until)

    def today(self) -> Usage:
        """Return what models have cost since 00:00 UTC."""
        with self._store.read(self._project_id) as tx:
            return tx.usage.spent(self._clock.now().date())

    def paused_until(self) -> datetime | None:
        """Return when extraction goes on, or None while the cap is not reached."""
        limits = self._limits
        if limits.calls_per_day is None and limits.tokens_per_day is None:
            return None
        spent = self.today()
        tokens, calls = spent.input_tokens + spent.output_tokens, spent.calls
        reached = _reaches(tokens, limits.tokens_per_day) or _reaches(calls, limits.calls_per_day)
        return _next_day(self._clock.now()) if reached else None

    def _reached(self) -> str:
        limits = {"tokens_per_day": self._limits.tokens_per_day, "calls_per_day": self._limits.calls_per_day}
        said = ", ".join(f"{name} {limit}" for name, limit in limits.items() if limit is not None)
        return f"the cap of memory.spending ({said}) is reached"


class Meter:
    """What one job has cost so far, by model; ``kept`` once that is committed."""

    def __init__(self, spending: Spending, job: Job) -> None:
        self.spending = spending
        self.used: dict[str, Usage] = {}
        self.kept = False
        self._job = job

    def keep(self, tx: Transaction) -> None:
        """Keep the cost in this transaction; set ``kept`` when it has committed."""
        self.spending.keep(tx, self._job, self.used)

    def add(self, model: str, reply: ChatReply | None) -> None:
        before = self.used.get(model, NO_USAGE)
        tokens_in, tokens_out = (0, 0) if reply is None else (reply.input_tokens, reply.output_tokens)
        self.used[model] = Usage(before.calls + 1, before.input_tokens + tokens_in, before.output_tokens + tokens_out)


_METER: ContextVar[Meter | None] = ContextVar("memoranda_meter", default=None)


class MeteredChatModel:
    """A ``ChatModel`` whose calls count for the job that makes them; outside of a job it is the model itself."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.model_id = model.model_id

    def complete(self, system: str, user: str, *, schema: dict[str, object] | None = None) -> ChatReply:
        """Ask the model; raises ``PostponedError`` instead of a job's first call when the cap is reached."""
        meter = _METER.get()
        if meter is None:
            return self._model.complete(system, user, schema=schema)
        if not meter.used:
            meter.spending.check()
        reply: ChatReply | None = None
        try:
            reply = self._model.complete(system, user, schema=schema)
        finally:
            # A call that failed counts as a call: it may have been charged.
            meter.add(self.model_id, reply)
        return reply


def _reaches(spent: int, limit: int | None) -> bool:
    return limit is not None and spent >= limit


def _next_day(now: datetime) -> datetime:
    return datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
