"""Waiting for background work, with a bar that says how much is left."""

from __future__ import annotations

from time import monotonic
from typing import Final

import memoranda
from memoranda.cli.console import progress
from memoranda.cli.ending import KEPT, CommandError

_STEP: Final = 0.25
"""Seconds between two looks at the queue; Ctrl-C is noticed as soon."""


_AT_ONCE: Final = ("extract", "embed", "backfill", "purge")
"""Kinds of jobs that are due when they are made: one that is left for later has failed for now."""


def wait_for_work(memory: memoranda.Memory, timeout: float | None = None) -> dict[str, int]:
    """Wait until no background work is due; return by kind the jobs that failed for now and will be tried again.

    Raises CommandError with exit code 3 when `timeout` seconds were not enough.
    """
    deadline = None if timeout is None else monotonic() + timeout
    most = 0
    with progress("distilling") as bar:
        while True:
            try:
                memory.wait_until_idle(timeout=_step(deadline), promote=False)
            except TimeoutError as error:
                left = sum(_unfinished(memory.status()).values())
                if deadline is not None and monotonic() >= deadline:
                    raise _late(timeout, left) from error
                most = max(most, left)
                bar.set(most - left, most)
            else:
                return _unfinished(memory.status())


def _unfinished(status: memoranda.StatusReport) -> dict[str, int]:
    left = {kind: sum(states.values()) for kind, states in status.queue.items() if kind in _AT_ONCE}
    return {kind: count for kind, count in sorted(left.items()) if count}


def _step(deadline: float | None) -> float:
    return _STEP if deadline is None else max(0.0, min(_STEP, deadline - monotonic()))


def _late(timeout: float | None, left: int) -> CommandError:
    return CommandError(
        f"after {timeout:g} s, {left} jobs were not finished; nothing is lost: the next `memoranda promote` goes on",
        KEPT,
    )
