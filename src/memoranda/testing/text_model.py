"""The text index as a list: what its reads must answer, worked out the slow and obvious way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memoranda.engine.ports import LegQuery, TextMatches
from memoranda.engine.records import STM, IndexEntry, Tombstone


@dataclass(frozen=True, slots=True)
class ExpectedMatches:
    """A ``TextMatches`` as plain rows: (term, key, frequency, length, candidate)."""

    rows: tuple[tuple[str, int, int, int, int], ...]
    records: int
    total_length: int


def as_rows(matches: TextMatches) -> ExpectedMatches:
    """Return what a store answered in the form that the model answers in."""
    columns = (matches.terms, matches.keys, matches.frequencies, matches.lengths, matches.candidates)
    return ExpectedMatches(tuple(zip(*columns, strict=True)), matches.records, matches.total_length)


class TextModel:
    """Index entries by key, and what hides them. Narrowing conditions but ``keys`` are not modelled."""

    def __init__(self, entries: Iterable[IndexEntry] = (), tombstones: Iterable[Tombstone] = ()) -> None:
        self.entries = {entry.key: entry for entry in entries}
        self.tombstones = list(tombstones)

    def partition(self, query: LegQuery) -> list[IndexEntry]:
        """Return the entries whose statistics count, in key order."""
        scope = query.scope
        return [
            entry
            for _, entry in sorted(self.entries.items())
            if entry.source == query.source
            and entry.state in query.states
            and entry.visibility in scope.visibilities()
            and scope.user_id in (None, entry.user_id)
        ]

    def is_candidate(self, entry: IndexEntry, query: LegQuery) -> bool:
        """Return whether a search may return the entry."""
        scope = query.scope
        only = query.narrowing.keys
        return (
            scope.session_id in (None, entry.session_id)
            and scope.agent_id in (None, entry.agent_id)
            and not has_ended(entry.expires_at, query.now)
            and not self.is_hidden(entry)
            and (only is None or entry.key in only)
        )

    def is_hidden(self, entry: IndexEntry) -> bool:
        """Return whether a deletion covers the entry."""
        return any(
            tombstone.user_id == entry.user_id
            and entry.key <= tombstone.upto_key
            and (tombstone.session_id is None or (entry.source, entry.session_id) == (STM, tombstone.session_id))
            and tombstone.snapshot_id is None
            for tombstone in self.tombstones
        )

    def text(self, query: LegQuery, terms: Sequence[str]) -> ExpectedMatches:
        """Return the postings of the terms in the query's partitions, with the partitions' statistics."""
        partition = self.partition(query)
        rows = sorted(
            (term, entry.key, frequency, entry.length, int(self.is_candidate(entry, query)))
            for entry in partition
            for term, frequency in entry.terms
            if term in set(terms)
        )
        return ExpectedMatches(tuple(rows), len(partition), sum(entry.length for entry in partition))

    def listing(self, query: LegQuery, limit: int) -> list[int]:
        """Return the newest candidate keys, newest first."""
        candidates = [entry.key for entry in self.partition(query) if self.is_candidate(entry, query)]
        return candidates[::-1][:limit]


def has_ended(expires_at: datetime | None, now: datetime) -> bool:
    """Return whether a lifetime has ended; its last moment is outside."""
    return expires_at is not None and expires_at <= now
