"""One entry of the change feed, and the rows that hold it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Entity(StrEnum):
    """What an entry is about."""

    MEMORY = "memory"
    TURN = "turn"
    SESSION = "session"
    USER = "user"


class Operation(StrEnum):
    """What happened to it."""

    CREATED = "created"
    UPDATED = "updated"
    SUPERSEDED = "superseded"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Change:
    """One change, told without content. ``position`` is 0 until it is assigned; ``id`` is a UUIDv7."""

    id: str
    entity: Entity
    entity_id: str
    operation: Operation
    at: datetime
    user_id: str = ""
    position: int = 0


@dataclass(frozen=True, slots=True)
class FeedEnds:
    """The last position that was given, and the last that is gone because its time was over; 0 for none."""

    last: int = 0
    pruned: int = 0


class ChangeRows(Protocol):
    """The entries of the feed. One without a position was written by a change that may not have committed yet."""

    def add(self, changes: Sequence[Change]) -> None:
        """Keep entries, without positions, in the transaction of the changes they tell of."""
        ...

    def unassigned(self) -> bool:
        """Return whether there is an entry without a position."""
        ...

    def assign(self, limit: int) -> int:
        """Give up to ``limit`` entries that have none the next positions, in the order of their ids.

        Return how many. Two transactions that assign are one after the other: the later waits for the earlier's end.
        """
        ...

    def page(self, after: int, limit: int) -> Sequence[Change]:
        """Return entries with a position above ``after``, in that order."""
        ...

    def ends(self) -> FeedEnds: ...

    def forget_user(self, user_id: str, upto_id: str) -> int:
        """Remove the entries that name a user, up to this id; return how many. Positions are not given again."""
        ...

    def prune(self, upto: datetime, limit: int) -> int:
        """Remove up to ``limit`` entries from the first position on, as far as they are of this time or before."""
        ...
