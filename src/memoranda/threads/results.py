"""The results of a search, and their text for a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.record_text import DEFAULT_FORMAT, SearchResultFormatConfig, record_text
from memoranda.threads.records import Metadata, Record, RecordContent, RecordStatus
from memoranda.threads.relations import RecordRelation


class SearchResult:
    """A record that a search found. The smaller ``distance``, the better; results come in its order."""

    __slots__ = ("_linked", "distance", "format_config", "id", "record")

    def __init__(
        self,
        distance: float,
        record: Record,
        *,
        id: str | None = None,  # the name is that of the public API
        linked_results: Sequence[tuple[RecordRelation, Record]] | None = None,
        format_config: SearchResultFormatConfig = DEFAULT_FORMAT,
    ) -> None:
        self.distance = distance
        self.record = record
        self.id = record.id if id is None else id
        self.format_config = format_config
        self._linked = record.linked_results if linked_results is None else tuple(linked_results)

    @property
    def content(self) -> RecordContent:
        """What the record says."""
        return self.record.content

    @property
    def status(self) -> RecordStatus:
        """Whether the record still holds."""
        return self.record.status

    @property
    def metadata(self) -> Metadata | None:
        """The record's metadata."""
        return self.record.metadata

    @property
    def timestamp(self) -> str | None:
        """The record's event time, or when it was created."""
        return self.record.timestamp

    @property
    def linked_results(self) -> Sequence[tuple[RecordRelation, Record]]:
        """What a search with hops reached from this record, with the relation that leads there."""
        return self._linked

    @property
    def formatted_content(self) -> str:
        """The result as XML, by its own configuration."""
        return self.format_content()

    def format_content(self, format_config: SearchResultFormatConfig | NotSet = NOT_SET) -> str:
        """Return the result as XML; options that ``format_config`` omits are the result's own."""
        return "\n".join(self.lines(format_config))

    def lines(self, format_config: SearchResultFormatConfig | NotSet = NOT_SET, *, level: int = 0) -> list[str]:
        """Return the lines of ``format_content``, moved in by ``level`` steps of two spaces."""
        config = self.format_config if format_config is NOT_SET else format_config.over(self.format_config)
        return record_text(config).lines(self.record, self._linked, level=level, distance=self.distance)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SearchResult):
            return NotImplemented
        return (self.id, self.distance, self.record, self._linked) == (
            other.id,
            other.distance,
            other.record,
            other.linked_results,
        )

    __hash__ = None  # type: ignore[assignment]  # records with metadata have no hash

    def __repr__(self) -> str:
        return f"SearchResult(distance={self.distance!r}, record={self.record!r})"
