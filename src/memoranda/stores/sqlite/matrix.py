"""Vectors as parallel arrays, and how they are read from rows and from packs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, LargeBinary, cast, func

from memoranda.stores.schema import vectors
from memoranda.stores.sql.quantised import Floats, Ints
from memoranda.stores.sql.statement import Row

_NEVER = int(np.iinfo(np.int64).max)
_PRECISION = 1e12
_LONG, _REAL = np.dtype("<i8"), np.dtype("<f4")

# One row for many vectors: SQLite joins ten thousand of them in half the time that Python takes to be handed them, and
# no tuples are made for the garbage collector to look at. Text keeps any bytes, and all four are in the same order.
ROW_COLUMNS = (
    func.group_concat(vectors.c.key),
    func.group_concat(cast(func.round(vectors.c.scale * _PRECISION), BigInteger)),
    cast(func.group_concat(vectors.c.data, ""), LargeBinary),
    func.count(vectors.c.expires_at),
)
END_COLUMNS = (vectors.c.key, vectors.c.expires_at)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Vectors as parallel arrays, one row a piece; the pieces of a record stand together.

    ``expires_at`` is the largest integer where never.
    """

    keys: Ints
    scales: Floats
    bytes: NDArray[np.int8]
    expires_at: Ints

    @property
    def size(self) -> int:
        return self.bytes.nbytes + self.keys.nbytes + self.scales.nbytes + self.expires_at.nbytes

    def without(self, keys: Iterable[int]) -> Matrix:
        """Return the rest when some records are taken out."""
        rest = ~np.isin(self.keys, np.fromiter(keys, dtype=np.int64))
        return Matrix(self.keys[rest], self.scales[rest], self.bytes[rest], self.expires_at[rest])

    def parts(self, records: int) -> Iterator[Matrix]:
        """Cut into parts of so many records, the last one less."""
        starts = np.flatnonzero(np.diff(self.keys, prepend=self.keys[:1] - 1))[::records].tolist()
        for start, end in pairwise([*starts, len(self.keys)]):
            part = slice(start, end)
            yield Matrix(self.keys[part], self.scales[part], self.bytes[part], self.expires_at[part])


def from_rows(row: Row, ends: Sequence[Row]) -> Matrix:
    """Read a row of ``ROW_COLUMNS`` and, of what expires, the rows of ``END_COLUMNS``."""
    joined_keys, joined_scales, data, _ = row
    keys = np.fromstring(joined_keys, dtype=np.int64, sep=",")
    expires_at = np.full(len(keys), _NEVER, dtype=np.int64)
    if ends:
        by_key = {row[0]: row[1] for row in ends}
        expires_at = np.array([by_key.get(key, _NEVER) for key in keys.tolist()], dtype=np.int64)
    return Matrix(
        keys=keys,
        scales=(np.fromstring(joined_scales, dtype=np.int64, sep=",") / _PRECISION).astype(np.float32),
        bytes=np.frombuffer(data, dtype=np.int8).reshape(len(keys), -1),
        expires_at=expires_at,
    )


def pack(matrix: Matrix) -> dict[str, bytes | None]:
    """Return the arrays as the columns of a pack; where nothing expires there are no ``ends``."""
    expires = bool((matrix.expires_at != _NEVER).any())
    return {
        "keys": matrix.keys.astype(_LONG).tobytes(),
        "scales": matrix.scales.astype(_REAL).tobytes(),
        "ends": matrix.expires_at.astype(_LONG).tobytes() if expires else None,
        "data": matrix.bytes.tobytes(),
    }


def keys_of(keys: bytes) -> set[int]:
    """Return the records of a pack."""
    return set(np.frombuffer(keys, dtype=_LONG).tolist())


def from_pack(row: Row) -> Matrix:
    """Read one pack (keys, scales, ends, data)."""
    return from_packs([row], len(row[1]) // _REAL.itemsize, len(row[3]), None)


def from_packs(packs: Iterable[Row], pieces: int, size: int, loose: Matrix | None) -> Matrix:
    """Join packs (keys, scales, ends, data) of so many pieces and bytes in all, and what is in none.

    Each pack is copied to its place as it comes: what costs most in a new process is memory that it has not touched
    yet, and one large array has that in large pages.
    """
    more = 0 if loose is None else len(loose.keys)
    width = size // pieces
    matrix = Matrix(
        keys=np.empty(pieces + more, dtype=np.int64),
        scales=np.empty(pieces + more, dtype=np.float32),
        bytes=np.empty((pieces + more, width), dtype=np.int8),
        expires_at=np.full(pieces + more, _NEVER, dtype=np.int64),
    )
    start = 0
    for keys, scales, ends, data in packs:
        part = slice(start, start + len(scales) // _REAL.itemsize)
        matrix.keys[part] = np.frombuffer(keys, dtype=_LONG)
        matrix.scales[part] = np.frombuffer(scales, dtype=_REAL)
        matrix.bytes[part] = np.frombuffer(data, dtype=np.int8).reshape(-1, width)
        if ends is not None:
            matrix.expires_at[part] = np.frombuffer(ends, dtype=_LONG)
        start = part.stop
    if loose is not None:
        matrix.keys[start:], matrix.scales[start:] = loose.keys, loose.scales
        matrix.bytes[start:], matrix.expires_at[start:] = loose.bytes, loose.expires_at
    return matrix
