"""An export as a stream of bytes: read line by line, checked as a whole before any of it is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import IO, Final, NoReturn

from memoranda.engine.portability.lines import (
    IMAGE,
    LINK,
    MEMORY,
    PROFILE,
    SESSION,
    SNAPSHOT,
    TURN,
    End,
    Header,
    ImageLine,
    Line,
    LinkLine,
    MemoryLine,
    ProfileLine,
    SessionLine,
    TurnLine,
    Vectors,
)
from memoranda.engine.portability.parsing import LineError, parse
from memoranda.sdk.errors import MemoryBadRequestError

MAX_LINE: Final = 256 * 1024 * 1024
"""The longest line in bytes; a memory that is repeated often has a long one."""

_BOM: Final = b"\xef\xbb\xbf"

OnBytes = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Extent:
    """What a file holds, known once all of it was checked."""

    header: Header
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class ImportFile:
    """An open export: its name for messages, and its bytes, which are read more than once."""

    name: str
    stream: IO[bytes]

    def lines(self, on_bytes: OnBytes = lambda count: None) -> Iterator[tuple[int, Line]]:
        """Yield the lines with their numbers; ``MemoryBadRequestError`` names the first that is wrong."""
        self.stream.seek(0)
        number = 0
        while line := self.stream.readline(MAX_LINE + 1):
            number += 1
            on_bytes(len(line))
            if len(line) > MAX_LINE:
                self.refuse(number, f"longer than {MAX_LINE // 1024 // 1024} MiB")
            yield number, self._parsed(number, line.removeprefix(_BOM) if number == 1 else line)

    def _parsed(self, number: int, line: bytes) -> Line:
        try:
            return parse(line.decode())
        except UnicodeDecodeError as error:
            self.refuse(number, f"not UTF-8 (byte 0x{line[error.start]:02x} at {error.start + 1})", error)
        except LineError as error:
            self.refuse(number, str(error), error)

    def header(self) -> Header:
        """Return the header; ``MemoryBadRequestError`` where the first line is none."""
        _, first = next(self.lines(), (1, None))
        if isinstance(first, Header):
            return first
        self.refuse(1, "not the header of an export; give a file that memoranda export wrote")

    def check(self, kinds: Collection[str], on_bytes: OnBytes = lambda count: None) -> Extent:
        """Read the whole file: every line, their order, and that none is missing. ``kinds`` are known to the project.

        Raises ``MemoryBadRequestError``, which names the first line that is wrong.
        """
        checker = _Checker(self, self.header(), kinds)
        number = 1
        for number, line in self.lines(on_bytes):
            if number > 1:
                checker.take(number, line)
        if not checker.ended:
            self.refuse(number, "the file ends here, without its end line: it was cut off; export it again")
        return Extent(checker.header, dict(checker.counts))

    def refuse(self, number: int, reason: str, cause: Exception | None = None) -> NoReturn:
        """Raise ``MemoryBadRequestError`` for a line."""
        raise MemoryBadRequestError(f"{self.name}, line {number}: {reason}") from cause


_RECORD_LINES: Final = (TurnLine, MemoryLine, ProfileLine, ImageLine)
_RANKS: Final[dict[type, int]] = {**dict.fromkeys(_RECORD_LINES, 0), LinkLine: 1, SessionLine: 2, End: 3}


class _Checker:
    """Checks what one line cannot tell of itself."""

    def __init__(self, file: ImportFile, header: Header, kinds: Collection[str]) -> None:
        self.header = header
        self.counts: Counter[str] = Counter()
        self._file = file
        self._kinds = kinds
        self._rank = 0

    @property
    def ended(self) -> bool:
        return self._rank == _RANKS[End]

    def take(self, number: int, line: Line) -> None:
        if self.ended:
            self._file.refuse(number, "stands after the end line")
        rank = _RANKS.get(type(line), -1)
        if rank < self._rank:
            self._file.refuse(number, "out of order: an export has its header, records, links, sessions, and its end")
        self._rank = rank
        if isinstance(line, End):
            self._compare(number, line)
        self._check(number, line)
        count(self.counts, line)

    def _compare(self, number: int, end: End) -> None:
        if dict(end.counts) != dict(self.counts):
            told = f"the end line counts {dict(end.counts)}, the file holds {dict(self.counts)}"
            self._file.refuse(number, f"lines are missing or doubled: {told}")

    def _check(self, number: int, line: Line) -> None:
        if isinstance(line, MemoryLine):
            self._check_kind(number, line.record.kind)
        if isinstance(line, TurnLine | MemoryLine | ProfileLine | ImageLine):
            self._check_vectors(number, line.vectors)

    def _check_kind(self, number: int, kind: str) -> None:
        if kind not in self._kinds:
            known = ", ".join(sorted(self._kinds))
            self._file.refuse(number, f"kind {kind!r} is not declared in memory.custom_memory_types; known: {known}")

    def _check_vectors(self, number: int, vectors: Vectors | None) -> None:
        if (vectors is not None) != self.header.vectors:
            self._file.refuse(number, "vectors: in every record or in none, as the header says")
        dimension = self.header.embedder.dimension if self.header.embedder else 0
        for piece in vectors.pieces if vectors else ():
            if len(piece.data) != dimension:
                self._file.refuse(number, f"vectors: data has {len(piece.data)} bytes; the model has {dimension}")


def count(counts: Counter[str], line: Line) -> None:
    """Count what a line holds, by type."""
    if isinstance(line, SessionLine):
        counts[SESSION] += 1
        if line.snapshots:
            counts[SNAPSHOT] += len(line.snapshots)
    elif type(line) in _TYPES:
        counts[_TYPES[type(line)]] += 1


_TYPES: Final[dict[type, str]] = {
    TurnLine: TURN,
    MemoryLine: MEMORY,
    ProfileLine: PROFILE,
    ImageLine: IMAGE,
    LinkLine: LINK,
}
