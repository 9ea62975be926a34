"""Export: a project as lines, from one consistent view of the store and in constant memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from memoranda.engine.portability.lines import (
    SESSION,
    SNAPSHOT,
    TURN,
    End,
    ImageLine,
    Line,
    LinkLine,
    MemoryLine,
    ProfileLine,
    SessionLine,
    TurnLine,
    Vectors,
    header_of,
    written,
)
from memoranda.engine.portability.reading import count
from memoranda.engine.portability.rows import HistoryState, Place, Save
from memoranda.engine.ports import Store, Transaction
from memoranda.engine.records import IMAGE, STM, MemoryStatus, ProjectRow, RecordVectors, VectorState
from memoranda.engine.records import PROFILE as PROFILE_SOURCE
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryStoreError

_PAGE = 500

Progress = Callable[[int, int], None]
"""Told how far an export has come, and how far it goes."""


class Exporter:
    """Reads one project of a store. Needs no embedder, and reads projects that another analyser has indexed."""

    def __init__(self, store: Store, project_id: str) -> None:
        self._store = store
        self._project_id = project_id
        self.counts: Counter[str] = Counter()
        """The numbers of what the last export held, by type."""
        self._current: Counter[str] = Counter()

    def lines(
        self, *, vectors: bool = False, progress: Progress = lambda done, total: None
    ) -> Generator[str, None, None]:
        """Yield the lines of the file, without line breaks; the same project gives the same lines.

        Raises ``MemoryBadRequestError`` for an unknown project, ``MemoryConflictError`` while a deletion is unfinished,
        ``MemoryStoreError`` where the index and the records do not agree.
        """
        self.counts, self._current = Counter(), Counter()
        with self._store.read(self._project_id) as tx:
            row = _exportable(tx, self._project_id)
            header = header_of(row, vectors=vectors and bool(row.embedder_model))
            yield written(header)
            reader = _Reader(tx, row.embedder_model if header.vectors else "")
            for line in reader.all(progress):
                self._count(line)
                yield written(line)
            _check_complete(tx, {**self.counts, **self._current}, row.created_at)
            yield written(End(self.counts))

    def _count(self, line: Line) -> None:
        count(self.counts, line)
        if isinstance(line, MemoryLine) and line.record.status is MemoryStatus.CURRENT:
            self._current[f"memory:{line.record.kind}"] += 1


def _exportable(tx: Transaction, project_id: str) -> ProjectRow:
    row = tx.projects.get()
    if row is None:
        raise MemoryBadRequestError(f"project {project_id!r} is not in this store", code="PROJECT_UNKNOWN")
    if tx.projects.tombstones():
        raise MemoryConflictError(
            "a deletion is unfinished, and what it deletes must not be exported: finish it (memoranda promote runs the "
            "background work), then export again",
            code="DELETION_UNFINISHED",
        )
    return row


def _check_complete(tx: Transaction, counts: Mapping[str, int], now: datetime) -> None:
    """Compare with the tables what was found by way of the index: an export must not leave out in silence."""
    named = {"turns": TURN, "sessions": SESSION, "snapshots": SNAPSHOT}
    for noun, number in tx.projects.totals(now):
        found = counts.get(named.get(noun, noun), 0)
        if found != number:
            raise MemoryStoreError(
                f"the text index is damaged: it leads to {found} of {number} records ({noun}); restore a backup"
            )


class _Reader:
    """Reads the records of one project, page by page."""

    def __init__(self, tx: Transaction, model: str) -> None:
        self._tx = tx
        self._model = model

    def all(self, progress: Progress) -> Iterator[Line]:
        last = self._tx.projects.last_key()
        after = 0
        while places := self._tx.portable.places(after, _PAGE):
            yield from self._records(places)
            after = places[-1].key
            progress(after, last)
        yield from self._links()
        yield from self._sessions()

    def _records(self, places: Sequence[Place]) -> Iterator[Line]:
        page = _Page(self._tx, places, self._model)
        for place in places:
            yield page.line(place)

    def _links(self) -> Iterator[Line]:
        after = ""
        while found := self._tx.portable.links(after, _PAGE):
            yield from (LinkLine(link) for link in found)
            after = found[-1].id

    def _sessions(self) -> Iterator[Line]:
        after: tuple[str, str] | None = None
        while found := self._tx.portable.sessions(after, _PAGE):
            for session in found:
                after = (session.user_id, session.session_id)
                yield SessionLine(session, tuple(self._tx.snapshots.of_session(*after)))


class _Page:
    """The records of one page of places, read in few steps."""

    def __init__(self, tx: Transaction, places: Sequence[Place], model: str) -> None:
        self._tx = tx
        self._model = model
        turn_ids = [place.record_id for place in places if place.source == STM]
        memory_ids = [place.record_id for place in places if place.source not in (STM, PROFILE_SOURCE, IMAGE)]
        image_ids = [place.record_id for place in places if place.source == IMAGE]
        self._turns = {turn.id: turn for turn in tx.turns.get(turn_ids)}
        self._memories = {record.id: record for record in tx.memories.get(memory_ids)}
        self._images = {image.id: image for image in tx.images.get(image_ids)}
        self._history: dict[str, list[HistoryState]] = {}
        for state in tx.portable.histories(memory_ids):
            self._history.setdefault(state.record.id, []).append(state)
        self._saves: dict[str, list[Save]] = {}
        for save in sorted(tx.portable.saves(memory_ids), key=lambda each: (each.user_id, each.idempotency_key)):
            self._saves.setdefault(save.memory_id, []).append(save)
        self._sources = {sources.memory_id: sources for sources in tx.portable.sources(memory_ids)}
        self._vectors = self._read_vectors(places)

    def _read_vectors(self, places: Sequence[Place]) -> dict[int, RecordVectors]:
        keys = [place.key for place in places if place.vector_state == VectorState.PRESENT]
        return {found.key: found for found in self._tx.search.vectors_of(keys, self._model)} if self._model else {}

    def line(self, place: Place) -> Line:
        vectors = self._vectors_of(place) if self._model else None
        if place.source == STM:
            return TurnLine(_found(self._turns.get(place.record_id), place), vectors)
        if place.source == PROFILE_SOURCE:
            subject, _, profile_id = place.record_id.partition(":")
            return ProfileLine(_found(self._tx.profiles.get(subject, profile_id), place), vectors)
        if place.source == IMAGE:
            return self._image(place, vectors)
        record = _found(self._memories.get(place.record_id), place)
        sources = self._sources.get(record.id)
        return MemoryLine(
            record,
            tuple(self._history.get(record.id, ())),
            sources.turn_ids if sources else (),
            sources.snapshot_ids if sources else (),
            tuple(self._saves.get(record.id, ())),
            vectors,
        )

    def _image(self, place: Place, vectors: Vectors | None) -> ImageLine:
        image = _found(self._images.get(place.record_id), place)
        # One at a time: the bytes of a page of images are too much to hold.
        data = _found(self._tx.images.data([image.blob_id]).get(image.blob_id), place)
        return ImageLine(image, data, vectors)

    def _vectors_of(self, place: Place) -> Vectors:
        found = self._vectors.get(place.key)
        if found is not None:
            return Vectors(VectorState.PRESENT, found.pieces)
        # Vectors of another model only: they wait for those of this one.
        state = VectorState(place.vector_state)
        return Vectors(VectorState.PENDING if state is VectorState.PRESENT else state)


_T = TypeVar("_T")


def _found(record: _T | None, place: Place) -> _T:
    if record is None:
        raise MemoryStoreError(
            f"the text index is damaged: it names {place.source} {place.record_id!r}, which is not there; "
            "restore a backup"
        )
    return record
