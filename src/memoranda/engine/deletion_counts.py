"""What a deletion removed."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class DeletionCounts:
    """Numbers of rows removed; ``vectors`` counts records that had one."""

    turns: int = 0
    memories: int = 0
    snapshots: int = 0
    links: int = 0
    profiles: int = 0
    history: int = 0
    jobs: int = 0
    failures: int = 0
    postings: int = 0
    vectors: int = 0
    images: int = 0

    def __add__(self, other: DeletionCounts) -> DeletionCounts:
        return DeletionCounts(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))
