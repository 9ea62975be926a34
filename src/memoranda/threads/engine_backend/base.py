"""What the parts of the backend share: the engine, its transactions, and the rules of lifetimes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

from memoranda.engine.config import RetentionConfig
from memoranda.engine.engine import MemoryEngine
from memoranda.engine.filters import Filter
from memoranda.engine.ports import Transaction
from memoranda.engine.project import stored_config
from memoranda.sdk.errors import MemoryBadRequestError
from memoranda.threads.filters import list_filter
from memoranda.threads.stored import TIMESTAMP, Lifetime, Listing, Retention
from memoranda.threads.times import moment_of

PAGE: Final = 500

T = TypeVar("T")


class EngineParts:
    """An engine and the transactions of its project."""

    def __init__(self, engine: MemoryEngine) -> None:
        self.engine = engine
        configured = engine.config.retention
        self._retention = Retention(configured.default_ttl_days, configured.max_ttl_days)

    def _now(self) -> datetime:
        return self.engine.clock.now()

    def _read(self) -> AbstractContextManager[Transaction]:
        return self.engine.store.read(self.engine.project_id)

    def _write(self) -> AbstractContextManager[Transaction]:
        return self.engine.store.write(self.engine.project_id)

    # --- lifetimes

    def retention(self) -> Retention:
        return self._retention

    def set_retention(self, retention: Retention) -> None:
        """Keep these lifetimes with the project, for what is written from now on."""
        days = RetentionConfig(_whole(retention.default_ttl_days), _whole(retention.max_ttl_days))
        with self._write() as tx:
            row = tx.projects.get()
            if row is not None:
                config = replace(stored_config(row), retention=days)
                tx.projects.put(replace(row, config=json.loads(config.to_json())))
        self._retention = retention

    def _ends(self, lifetime: Lifetime, created_at: datetime, timestamp_text: str | None) -> datetime | None:
        """Return when a lifetime ends; None where it does not. ``ValueError``-like for an anchor that is not there."""
        days = self._days(lifetime)
        if days is None:
            return None
        if lifetime.anchor != TIMESTAMP:
            return created_at + timedelta(days=days)
        moment = moment_of(timestamp_text)
        if moment is None:
            raise MemoryBadRequestError(
                f"ttl_anchor 'timestamp' needs a timestamp in ISO 8601, and it is {timestamp_text!r}; give one, or use "
                "'created_at'",
                code="INVALID_REQUEST",
            )
        return moment + timedelta(days=days)

    def _days(self, lifetime: Lifetime) -> float | None:
        most = self._retention.max_ttl_days
        days = self._retention.default_ttl_days if lifetime.days is None else lifetime.days.value
        if days is None:
            return most if lifetime.days is not None else None
        if most is not None and days > most:
            if lifetime.days is not None:
                warnings.warn(f"ttl_days {days:g} is above the project's {most:g} and was cut to it", stacklevel=2)
            return most
        return days


def newest_first(page: Callable[[int | None], Sequence[T]], key: Callable[[T], int], limit: int | None) -> list[T]:
    """Return the newest records of a listing, oldest first: ``page`` gives those below a key, latest first."""
    found: list[T] = []
    below: int | None = None
    while limit is None or len(found) < limit:
        records = page(below)
        found += records
        if len(records) < PAGE:
            break
        below = key(records[-1])
    return list(reversed(found if limit is None else found[: max(limit, 0)]))


def filter_of(listing: Listing) -> Filter | None:
    """Return a listing's condition on metadata."""
    return None if listing.filter is None else list_filter(listing.filter.value)


def event_time(text: str | None) -> datetime | None:
    """Return the time of an event whose words are not kept; ``MemoryBadRequestError`` for words that are no time."""
    moment = moment_of(text)
    if text is not None and moment is None:
        raise MemoryBadRequestError(f"timestamp {text!r} is not ISO 8601, such as '2026-05-01T10:00:00Z'")
    return moment


def _whole(days: float | None) -> int | None:
    return None if days is None else int(days)
