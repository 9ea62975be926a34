"""Turns of several callers at once, stored together: one transaction serves all who wait for it.

A transaction costs much more than a turn. Whoever comes while one is under way waits, and the next one takes them all.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from memoranda.sdk.errors import MemoryBadRequestError

MAX_GROUP = 64
"""How many turns one transaction takes of several callers; a single call may bring more."""

_Draft = TypeVar("_Draft")
_Stored = TypeVar("_Stored")


class _Waiting(Generic[_Draft, _Stored]):
    """One call: what it brings, and what was stored for it, once that is done. Guarded by the group's lock."""

    __slots__ = ("_called", "drafts", "leads", "left", "stored")

    def __init__(self, drafts: Sequence[_Draft]) -> None:
        self.drafts = drafts
        self.stored: Sequence[_Stored] | None = None
        self.leads = False
        self.left = False
        """Whether its thread ended while it waited."""
        self._called = threading.Lock()
        self._called.acquire()

    def wait(self) -> None:
        """Return once the call is served, or is to lead."""
        self._called.acquire()

    def call(self) -> None:
        self._called.release()


class Groups(Generic[_Draft, _Stored]):
    """Calls ``store``, which stores all that it is given or nothing, for several callers together. Thread-safe.

    A caller sees what it would have seen alone: an error is told to the one whose thread met it, while storing its own
    call among others or (where the group was refused) by itself; the others' calls are made again by the others.

    One caller leads, and hands the lead to the first who waits: nobody who was served queues behind the next
    transaction.
    """

    def __init__(self, store: Callable[[Sequence[_Draft]], Sequence[_Stored]]) -> None:
        self._store = store
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._led = False
        self.waiting: deque[_Waiting[_Draft, _Stored]] = deque()
        """The calls that are not under way, in the order in which they came."""

    def record(self, drafts: Sequence[_Draft]) -> Sequence[_Stored]:
        """Store drafts, all or none, and return what was stored for each."""
        if self._pid != os.getpid():
            self._start()  # Whoever led or waited is a thread of the parent.
        mine: _Waiting[_Draft, _Stored] = _Waiting(drafts)
        self._join(mine)
        if mine.stored is not None:
            return mine.stored
        try:
            return self._lead(mine)
        finally:
            self._hand_over()

    def _join(self, mine: _Waiting[_Draft, _Stored]) -> None:
        """Take the lead where nobody has it, else wait to be served or to lead."""
        with self._lock:
            if not self._led:
                self._led = mine.leads = True
                return
            self.waiting.append(mine)
        try:
            mine.wait()
        except BaseException:
            with self._lock:
                mine.left = True
            if mine.leads:
                self._hand_over()
            raise

    def _hand_over(self) -> None:
        with self._lock:
            while self.waiting:
                following = self.waiting.popleft()
                if not following.left:
                    following.leads = True
                    following.call()
                    return
            self._led = False

    def _lead(self, mine: _Waiting[_Draft, _Stored]) -> Sequence[_Stored]:
        group = self._with_others(mine)
        try:
            try:
                return self._serve(group)
            except MemoryBadRequestError:
                if len(group) == 1:
                    raise
                return self._serve([mine])
        finally:
            with self._lock:
                self.waiting.extendleft(call for call in reversed(group) if call is not mine and call.stored is None)

    def _with_others(self, mine: _Waiting[_Draft, _Stored]) -> list[_Waiting[_Draft, _Stored]]:
        group, turns = [mine], len(mine.drafts)
        with self._lock:
            while self.waiting and turns + len(self.waiting[0].drafts) <= MAX_GROUP:
                call = self.waiting.popleft()
                if not call.left:
                    group.append(call)
                    turns += len(call.drafts)
        return group

    def _serve(self, group: Sequence[_Waiting[_Draft, _Stored]]) -> Sequence[_Stored]:
        """Store a group and hand out what was stored; return that of the first."""
        stored = self._store([draft for call in group for draft in call.drafts])
        start = 0
        for call in group:
            call.stored = stored[start : start + len(call.drafts)]
            start += len(call.drafts)
            if call is not group[0]:
                call.call()
        return stored[: len(group[0].drafts)]
