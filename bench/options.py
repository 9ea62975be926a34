"""What a run is asked for, and the sizes that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """``quick`` measures a tenth of the data, to see that everything works; its figures promise nothing."""

    folder: Path
    quick: bool = False
    conversations: Path | None = None

    @property
    def users(self) -> int:
        return 100

    @property
    def memories_a_user(self) -> int:
        return 100 if self.quick else 1000

    @property
    def memories(self) -> int:
        return self.users * self.memories_a_user

    def times(self, repetitions: int) -> int:
        """Return how often to repeat what a full run repeats this often."""
        return max(repetitions // 10, 5) if self.quick else repetitions
