"""How long a failed job waits, paced to the cause: seconds for a network, minutes for credentials."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

_ATTEMPTS_BEFORE_AGE = 3


@dataclass(frozen=True, slots=True)
class Pace:
    """Waits that double from ``first`` to ``cap``, bounded by ``attempts`` and by ``max_age`` of the job."""

    first: timedelta
    cap: timedelta
    attempts: int
    max_age: timedelta

    def wait(self, attempts: int) -> timedelta:
        """Return the wait after this many attempts (from 1)."""
        # Doubling further than the cap can ever need would overflow for a job that was tried very often.
        return min(self.cap, self.first * (1 << min(attempts - 1, 32)))

    def exhausted(self, attempts: int, created_at: datetime, now: datetime) -> bool:
        """Return whether no attempt is left.

        Age counts only after some attempts: a job that waited long for its turn has not been tried in vain.
        """
        return attempts >= self.attempts or (attempts >= _ATTEMPTS_BEFORE_AGE and now - created_at > self.max_age)
