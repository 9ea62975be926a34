"""Turns of several callers at once, stored together: one transaction serves all who wait for it.

A transaction costs much more than a turn. Whoever comes while one is under way waits, and the next one takes them all.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from memoranda.sdk.errors import MemoryBadRequestError

MAX_GROUP = 64
"""How many turns one transaction takes of several callers; a single call may bring more."""

_Draft = TypeVar("_Draft")
_Stored = TypeVar("_Stored")


@dataclass(slots=True, eq=False)
class _Waiting(Generic[_Draft, _Stored]):
    """One call: what it brings, and what was stored for it, once that is done."""

    drafts: Sequence[_Draft]
    stored: Sequence[_Stored] | None = None


class Groups(Generic[_Draft, _Stored]):
    """Calls ``store``, which stores all that it is given or nothing, for several callers together. Thread-safe.

    A caller sees what it would have seen alone: an error is told to the one whose thread met it, while storing its own
    call among others or (where the group was refused) by itself; the others' calls are made again by the others.
    """

    def __init__(self, store: Callable[[Sequence[_Draft]], Sequence[_Stored]]) -> None:
        self._store = store
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._leading = threading.Lock()
        self.waiting: deque[_Waiting[_Draft, _Stored]] = deque()
        """The calls that are not under way, in the order in which they came."""

    def record(self, drafts: Sequence[_Draft]) -> Sequence[_Stored]:
        """Store drafts, all or none, and return what was stored for each."""
        if self._pid != os.getpid():
            self._start()  # Whoever held the lock or waited is a thread of the parent.
        mine: _Waiting[_Draft, _Stored] = _Waiting(drafts)
        self.waiting.append(mine)
        try:
            with self._leading:
                return self._lead(mine) if mine.stored is None else mine.stored
        finally:
            with suppress(ValueError):
                self.waiting.remove(mine)

    def _lead(self, mine: _Waiting[_Draft, _Stored]) -> Sequence[_Stored]:
        self.waiting.remove(mine)
        group = self._with_others(mine)
        try:
            try:
                return self._serve(group)
            except MemoryBadRequestError:
                if len(group) == 1:
                    raise
                return self._serve([mine])
        finally:
            self.waiting.extendleft(call for call in reversed(group) if call is not mine and call.stored is None)

    def _with_others(self, mine: _Waiting[_Draft, _Stored]) -> list[_Waiting[_Draft, _Stored]]:
        group, turns = [mine], len(mine.drafts)
        while self.waiting and turns + len(self.waiting[0].drafts) <= MAX_GROUP:
            group.append(self.waiting.popleft())
            turns += len(group[-1].drafts)
        return group

    def _serve(self, group: Sequence[_Waiting[_Draft, _Stored]]) -> Sequence[_Stored]:
        """Store a group and hand out what was stored; return that of the first."""
        stored = self._store([draft for call in group for draft in call.drafts])
        start = 0
        for call in group:
            call.stored = stored[start : start + len(call.drafts)]
            start += len(call.drafts)
        return stored[: len(group[0].drafts)]
