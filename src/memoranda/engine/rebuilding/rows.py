"""The rows that re-embedding and re-indexing ask a store for, beside those of ``engine/rows.py``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memoranda.engine.records import IndexEntry, RecordVectors
from memoranda.engine.rows import DocumentRow


@dataclass(frozen=True, slots=True)
class Footing:
    """What of a project an open engine stands on; ``rebuilding`` says whether the index is being made anew."""

    analyser: str
    embedder_model: str
    embedder_fingerprint: str
    embedder_dimension: int
    rebuilding: bool


class RebuildRows(Protocol):
    """Walks over the whole index of a project, whatever the source, and what they change."""

    def footing(self) -> Footing | None:
        """Return what open engines stand on; cheap, for it is asked in every transaction."""
        ...

    def size(self) -> int:
        """Return the number of indexed records."""
        ...

    def walk(self, after: int, limit: int) -> Sequence[DocumentRow]:
        """Return indexed records with a key above ``after``, in key order."""
        ...

    def replace_terms(self, entries: Sequence[IndexEntry]) -> None:
        """Replace terms, length and values of indexed records that stay where they are; vectors are left alone."""
        ...

    def without_vectors(self, model: str, after: int, limit: int) -> Sequence[DocumentRow]:
        """Return indexed records with a key above ``after`` that have no vector of this model, in key order."""
        ...

    def count_without_vectors(self, model: str) -> int: ...

    def add_vectors(self, vectors: Sequence[RecordVectors]) -> None:
        """Store vectors beside those of other models; what the records say of their vectors stays as it is."""
        ...

    def adopt_vectors(self, model: str) -> None:
        """Have every record say whether it has a vector of this model (``present`` or ``none``)."""
        ...

    def remove_other_vectors(self, keys: Sequence[int], model: str) -> int:
        """Remove the vectors of every other model that these records have; return how many pieces went."""
        ...

    def name_embedder(self, model: str) -> None:
        """Have every job that asks for an embedder ask for this one."""
        ...
