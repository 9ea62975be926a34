"""A session's own policy of extraction: when its turns are read, in which runs, and by whom.

It is data in the session's row, so that it holds whichever front door adds a turn. A session without one follows the
project's configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from memoranda.engine.records import JsonObject, Session

OFF: Final = "off"
BATCH: Final = "batch"
WINDOW: Final = "window"

_STATE: Final = "memory_extraction_state"
_COUNTER: Final = "last_memory_extraction_counter"


@dataclass(frozen=True, slots=True)
class SessionPolicy:
    """What a session's policy says; ``window`` and ``frequency`` below 1 are none.

    ``background`` False leaves the work to the caller for a while, then to any worker. ``extractor`` is the name that
    jobs ask for, empty for the project's. ``settings`` are for the extractor.
    """

    mode: str
    window: int = -1
    frequency: int = -1
    background: bool = True
    extractor: str = ""
    settings: JsonObject = field(default_factory=dict)

    @property
    def off(self) -> bool:
        return self.mode == OFF

    @property
    def run_length(self) -> int | None:
        """How many turns a run has, where that is fixed."""
        return self.frequency if self.window > 0 and self.frequency > 0 else None

    @property
    def calls(self) -> int:
        """How many writes of turns are read together."""
        return self.frequency if self.window <= 0 and self.frequency > 1 else 1

    def context(self, newest: int) -> int:
        """Return how many earlier turns are read along with ``newest`` ones, to understand them."""
        return max(0, self.window - newest)

    def job_payload(self, newest: int) -> dict[str, object]:
        """Return what a job has to know about this policy; later changes of the policy do not change it."""
        return {"settings": dict(self.settings), "context": self.context(newest)}


def policy_of(raw: JsonObject | None) -> SessionPolicy | None:
    """Read a policy; None where there is none, or it is of a mode that this version does not know."""
    if not raw or raw.get("mode") not in (OFF, BATCH, WINDOW):
        return None
    settings = raw.get("settings")
    return SessionPolicy(
        mode=str(raw["mode"]),
        window=_number(raw.get("window")),
        frequency=_number(raw.get("frequency")),
        background=raw.get("background") is not False,
        extractor=str(raw.get("extractor") or ""),
        settings=settings if isinstance(settings, Mapping) else {},
    )


def counted_calls(session: Session) -> int:
    """Return how many writes of turns there were since the last run."""
    return counted_calls_of(session.runtime_state)


def counted_calls_of(runtime_state: JsonObject | None) -> int:
    """Return how many writes a session's state counts."""
    state = (runtime_state or {}).get(_STATE)
    return max(0, _number(state.get(_COUNTER))) if isinstance(state, Mapping) else 0


def with_counted_calls(state: JsonObject | None, calls: int) -> dict[str, object]:
    """Return a session's state with the number of writes since the last run."""
    own = (state or {}).get(_STATE)
    return {**(state or {}), _STATE: {**(own if isinstance(own, Mapping) else {}), _COUNTER: calls}}


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
