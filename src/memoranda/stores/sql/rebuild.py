"""Re-embedding and re-indexing: walks over a project's whole index, and what they change."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, bindparam, delete, exists, func, select, update

from memoranda.engine.ports import DocumentRow
from memoranda.engine.rebuilding.rows import Footing
from memoranda.engine.records import IndexEntry, RecordVectors, VectorState
from memoranda.stores.schema import documents, jobs, partition_counts, projects, vectors
from memoranda.stores.sql.documents import (
    DOCUMENT_COLUMNS,
    StoredDocument,
    document_from,
    document_parameters,
    posting_rows,
    value_parameters,
)
from memoranda.stores.sql.index import (
    ADD_POSTING,
    ADD_VALUE,
    REMOVE_POSTING,
    PartitionTotals,
    SqlIndexRows,
    places,
)
from memoranda.stores.sql.statement import Statement

_IN_PROJECT = documents.c.project_id == bindparam("project_id")
_PLACE = ("project_id", "source", "state", "visibility", "user_id", "key")

_FOOTING = Statement(
    select(
        projects.c.analyser,
        projects.c.embedder_model,
        projects.c.embedder_fingerprint,
        projects.c.embedder_dimension,
        projects.c.rebuilding.is_not(None),
    ).where(projects.c.project_id == bindparam("project_id"))
)
_SIZE = Statement(
    select(func.coalesce(func.sum(partition_counts.c.records), 0)).where(
        partition_counts.c.project_id == bindparam("project_id")
    )
)
_WALK = Statement(
    select(*DOCUMENT_COLUMNS)
    .where(_IN_PROJECT, documents.c.key > bindparam("after"))
    .order_by(documents.c.key)
    .limit(bindparam("page_size"))
)
_SET_TERMS = Statement(
    update(documents)
    .where(_IN_PROJECT, documents.c.key == bindparam("p_key"))
    .values({"terms": bindparam("p_terms"), "length": bindparam("p_length"), "values": bindparam("p_values")})
)


def _has_vector() -> ColumnElement[bool]:
    """Whether a document has a vector of the model; its place leads the key of the vectors."""
    same = [vectors.c[name] == documents.c[name] for name in _PLACE]
    return exists(
        select(1).select_from(vectors).where(*same, vectors.c.model == bindparam("model")).correlate(documents)
    )


_WITHOUT = Statement(
    select(*DOCUMENT_COLUMNS)
    .where(_IN_PROJECT, documents.c.key > bindparam("after"), ~_has_vector())
    .order_by(documents.c.key)
    .limit(bindparam("page_size"))
)
_COUNT_WITHOUT = Statement(select(func.count()).select_from(documents).where(_IN_PROJECT, ~_has_vector()))
_PRESENT = Statement(
    update(documents)
    .where(_IN_PROJECT, documents.c.vector_state != bindparam("new_state"), _has_vector())
    .values(vector_state=bindparam("new_state"))
)
_ABSENT = Statement(
    update(documents)
    .where(_IN_PROJECT, documents.c.vector_state != bindparam("new_state"), ~_has_vector())
    .values(vector_state=bindparam("new_state"))
)
_RAISE_GENERATIONS = Statement(
    update(partition_counts)
    .where(partition_counts.c.project_id == bindparam("project_id"))
    .values(generation=partition_counts.c.generation + 1)
)
_NAME_EMBEDDER = Statement(
    update(jobs)
    .where(jobs.c.project_id == bindparam("project_id"), jobs.c.embedder != "", jobs.c.embedder != bindparam("model"))
    .values(embedder=bindparam("model"))
)


_REMOVE_OTHERS = Statement(
    delete(vectors).where(
        *(vectors.c[name] == bindparam(name if name == "project_id" else f"p_{name}") for name in _PLACE),
        vectors.c.model != bindparam("model"),
    )
)


class SqlRebuildRows(SqlIndexRows):
    """``RebuildRows`` over SQL."""

    def footing(self) -> Footing | None:
        row = self._sql.one(_FOOTING)
        if row is None:
            return None
        analyser, model, fingerprint, dimension, rebuilding = row
        return Footing(analyser, model, fingerprint, dimension, bool(rebuilding))

    def size(self) -> int:
        row = self._sql.one(_SIZE)
        return 0 if row is None else int(row[0])

    def walk(self, after: int, limit: int) -> Sequence[DocumentRow]:
        return [document_from(row) for row in self._sql.all(_WALK, after=after, page_size=limit)]

    def replace_terms(self, entries: Sequence[IndexEntry]) -> None:
        by_key, totals = {entry.key: entry for entry in entries}, PartitionTotals()
        for stored in self._stored(list(by_key)):
            self._change_postings(REMOVE_POSTING, stored, {})
            self._remove_values(stored)
            found = [by_key[document.key] for document in stored]
            self._sql.execute_many(_SET_TERMS, [document_parameters(self._project, entry) for entry in found])
            self._sql.insert(ADD_POSTING, [row for entry in found for row in posting_rows(self._project, entry)])
            values = [
                row for entry in found for row in value_parameters(self._project, entry.source, entry.key, entry.values)
            ]
            self._run_if_any(ADD_VALUE, values)
            for document, entry in zip(stored, found, strict=True):
                totals.add(document.partition, 0, entry.length - document.length)
        self._count(totals)

    def without_vectors(self, model: str, after: int, limit: int) -> Sequence[DocumentRow]:
        return [document_from(row) for row in self._sql.all(_WITHOUT, model=model, after=after, page_size=limit)]

    def count_without_vectors(self, model: str) -> int:
        row = self._sql.one(_COUNT_WITHOUT, model=model)
        return 0 if row is None else int(row[0])

    def add_vectors(self, vectors: Sequence[RecordVectors]) -> None:
        # Generations stay: what others have cached of the present set is as good as before.
        self._store_vectors(vectors)

    def adopt_vectors(self, model: str) -> None:
        self._sql.execute(_PRESENT, model=model, new_state=VectorState.PRESENT.value)
        self._sql.execute(_ABSENT, model=model, new_state=VectorState.NONE.value)
        self._sql.execute(_RAISE_GENERATIONS)

    def remove_other_vectors(self, keys: Sequence[int], model: str) -> int:
        return sum(self._remove_others(stored, model) for stored in self._stored(keys))

    def _remove_others(self, stored: Sequence[StoredDocument], model: str) -> int:
        self._scan.leaving(self._sql, places(stored))
        rows = [{**document.place(self._project), "model": model} for document in stored]
        removed = self._sql.execute_many(_REMOVE_OTHERS, rows)
        self._scan.arrived(self._sql, places(stored))
        return removed

    def name_embedder(self, model: str) -> None:
        self._sql.execute(_NAME_EMBEDDER, model=model)
