"""Holds a fork back until no thread of this process is inside SQLite.

SQLite's library has locks of its own. A child that is forked while another thread holds one waits for ever at its first
statement, as the thread that would let go does not exist there.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

PATIENCE_SECONDS: Final = 10.0
"""How long a fork waits for transactions that run; it then goes on."""


class ForkGate:
    """Threads pass it to use SQLite, a fork closes it; a thread that is inside already may always pass again."""

    def __init__(self) -> None:
        self._reset(0)

    def _reset(self, depth: int) -> None:
        self._changed = threading.Condition()
        self._inside = depth
        self._forking = False
        self._own = threading.local()
        self._own.depth = depth

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Be inside SQLite for the length of the block."""
        depth = getattr(self._own, "depth", 0)
        with self._changed:
            while self._forking and not depth:
                self._changed.wait()
            self._inside += 1
        self._own.depth = depth + 1
        try:
            yield
        finally:
            self._own.depth -= 1
            with self._changed:
                self._inside -= 1
                if self._forking:
                    self._changed.notify_all()

    def before_fork(self) -> None:
        """Let nobody in and wait until all others are out."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        own = getattr(self._own, "depth", 0)
        with self._changed:
            self._forking = True
            while self._inside > own and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)

    def after_fork_in_parent(self) -> None:
        with self._changed:
            self._forking = False
            self._changed.notify_all()

    def after_fork_in_child(self) -> None:
        """Only the forking thread exists here."""
        self._reset(getattr(self._own, "depth", 0))


GATE: Final = ForkGate()
"""The process's one gate: SQLite's locks are the process's too."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=GATE.before_fork,
        after_in_parent=GATE.after_fork_in_parent,
        after_in_child=GATE.after_fork_in_child,
    )
