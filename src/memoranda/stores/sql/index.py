"""The text index: documents, postings, partition counts, filterable values and vectors (design-storage.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from random import getrandbits

from sqlalchemy import ColumnElement, Table, bindparam, delete, insert, literal_column, select, update

from memoranda.engine.ports import DocumentRow
from memoranda.engine.records import IndexEntry, IndexState, RecordVectors, VectorState
from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.schema import documents, partition_counts, postings, record_values, vectors
from memoranda.stores.sql.codec import to_micros
from memoranda.stores.sql.documents import (
    DOCUMENT_COLUMNS,
    FULL_DOCUMENT_COLUMNS,
    Partition,
    StoredDocument,
    document_from,
    document_parameters,
    encode_values,
    posting_rows,
    value_parameters,
    vector_parameters,
)
from memoranda.stores.sql.statement import Executor, Insert, Statement, chunks, in_list, list_parameters, list_size
from memoranda.stores.sql.upsert import insert as upsert
from memoranda.stores.sql.vector_scan import Place, VectorScan

_PLACE = ("source", "state", "visibility", "user_id")
_COUNTED = ("records", "total_length", "generation")


def _parameter(name: str) -> str:
    """Return a parameter's name: apart from the column's, which an UPDATE reserves for its own use."""
    return name if name == "project_id" else f"p_{name}"


def _insert(table: Table) -> Statement:
    return Statement(insert(table).values({column.name: bindparam(_parameter(column.name)) for column in table.c}))


def _at(table: Table, *names: str) -> Iterator[ColumnElement[bool]]:
    return (table.c[name] == bindparam(_parameter(name)) for name in ("project_id", *names))


_ADD_DOCUMENT = _insert(documents)
ADD_POSTING = Insert(postings)
ADD_VALUE = _insert(record_values)
_ADD_VECTOR = _insert(vectors)
_COUNT = Statement(
    upsert(partition_counts)
    .values({name: bindparam(_parameter(name)) for name in ("project_id", *_PLACE, *_COUNTED)})
    .on_conflict_do_update(
        index_elements=["project_id", *_PLACE],
        set_={
            "records": partition_counts.c.records + bindparam("p_records"),
            "total_length": partition_counts.c.total_length + bindparam("p_total_length"),
            "generation": partition_counts.c.generation + 1,
        },
    )
)
_FORGET_EMPTY = Statement(
    delete(partition_counts).where(*_at(partition_counts, "user_id"), partition_counts.c.records == 0)
)
REMOVE_POSTING = Statement(delete(postings).where(*_at(postings, *_PLACE, "term", "key")))
_MOVE_POSTING = Statement(
    update(postings).where(*_at(postings, *_PLACE, "term", "key")).values(state=bindparam("new_state"))
)
_REMOVE_VECTORS = Statement(delete(vectors).where(*_at(vectors, *_PLACE, "key")))
_REMOVE_MODEL_VECTORS = Statement(delete(vectors).where(*_at(vectors, *_PLACE, "key", "model")))
_MOVE_VECTORS = Statement(update(vectors).where(*_at(vectors, *_PLACE, "key")).values(state=bindparam("new_state")))
_REMOVE_VALUE = Statement(
    delete(record_values).where(*_at(record_values, "source", "name", "type", "text_value", "number_value", "key"))
)
_SET_VALUES = Statement(update(documents).where(*_at(documents, "key")).values({"values": bindparam("p_values")}))
_IN_PROJECT = documents.c.project_id == bindparam("project_id")
_KEYS_AFTER = Statement(
    select(*DOCUMENT_COLUMNS)
    .where(_IN_PROJECT, documents.c.key > bindparam("after"), documents.c.source == bindparam("p_source"))
    .order_by(documents.c.key)
    .limit(bindparam("page_size"))
)
_EXPIRED = Statement(
    select(*DOCUMENT_COLUMNS)
    .where(_IN_PROJECT, documents.c.expires_at.is_not(None), documents.c.expires_at <= bindparam("now"))
    .order_by(documents.c.expires_at, documents.c.key)
    .limit(bindparam("page_size"))
)


@lru_cache
def _full(size: int) -> Statement:
    keys = in_list(documents.c.key, "key", size)
    return Statement(select(*FULL_DOCUMENT_COLUMNS).where(_IN_PROJECT, keys).order_by(documents.c.key))


@lru_cache
def _remove_documents(size: int) -> Statement:
    return Statement(delete(documents).where(_IN_PROJECT, in_list(documents.c.key, "key", size)))


@lru_cache
def _set_document(size: int, column: str) -> Statement:
    keys = in_list(documents.c.key, "key", size)
    return Statement(update(documents).where(_IN_PROJECT, keys).values({column: bindparam("new_value")}))


@lru_cache
def _awaiting(session: bool) -> Statement:
    query = select(*DOCUMENT_COLUMNS).where(
        *_at(documents, "source", "user_id"),
        # Spelled as in the partial index, so that the planners see that it applies.
        documents.c.vector_state == literal_column("'pending'"),
    )
    if session:
        query = query.where(documents.c.session_id == bindparam("p_session_id"))
    # In the order of the partial index: by key alone SQLite would walk the whole project in key order instead.
    place = (documents.c.source, documents.c.user_id, documents.c.session_id, documents.c.key)
    return Statement(query.order_by(*place).limit(bindparam("page_size")))


class PartitionTotals:
    """What a change does to the counts of each partition, applied at its end."""

    def __init__(self) -> None:
        self._changes: dict[Partition, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, partition: Partition, records: int, length: int) -> None:
        change = self._changes[partition]
        change[0] += records
        change[1] += length

    def parameters(self, project_id: str) -> list[dict[str, object]]:
        """Return one row a partition, in key order, so that bulk writers do not deadlock."""
        names = [_parameter(name) for name in _PLACE]
        return [
            {
                "project_id": project_id,
                **dict(zip(names, partition, strict=True)),
                "p_records": records,
                "p_total_length": length,
                # A partition that comes again after it was forgotten is never taken for the one that was cached.
                "p_generation": getrandbits(62),
            }
            for partition, (records, length) in sorted(self._changes.items())
        ]


def places(stored: Sequence[StoredDocument], state: IndexState | None = None) -> list[Place]:
    """Return where records stand, or will stand in another state."""
    if state is None:
        return [(document.partition, document.key) for document in stored]
    moved = ((document.partition, document.key) for document in stored)
    return [((source, state.value, visibility, user), key) for (source, _, visibility, user), key in moved]


class SqlIndexRows:
    """``IndexRows`` over SQL."""

    def __init__(self, sql: Executor, scan: VectorScan) -> None:
        self._sql = sql
        self._scan = scan
        self._project = sql.project_id

    def add(self, entries: Sequence[IndexEntry]) -> None:
        totals = PartitionTotals()
        for entry in entries:
            totals.add((entry.source, entry.state.value, entry.visibility, entry.user_id), 1, entry.length)
        run, project = self._sql.execute_many, self._project
        run(_ADD_DOCUMENT, [document_parameters(project, entry) for entry in entries])
        self._sql.insert(ADD_POSTING, [row for entry in entries for row in posting_rows(project, entry)])
        self._run_if_any(
            ADD_VALUE,
            [row for entry in entries for row in value_parameters(project, entry.source, entry.key, entry.values)],
        )
        self._count(totals)

    def _run_if_any(self, statement: Statement, rows: Sequence[Mapping[str, object]]) -> int:
        return self._sql.execute_many(statement, rows) if rows else 0

    def _count(self, totals: PartitionTotals) -> None:
        self._run_if_any(_COUNT, totals.parameters(self._project))

    def forget_empty(self, user_id: str) -> int:
        return self._sql.execute(_FORGET_EMPTY, p_user_id=user_id)

    def _stored(self, keys: Sequence[int]) -> Iterator[list[StoredDocument]]:
        """Read these records' index rows, part by part in key order; parts without any are left out."""
        for part in chunks(sorted(set(keys))):
            rows = self._sql.all(_full(list_size(len(part))), **list_parameters("key", part))
            if rows:
                yield [StoredDocument.read(row) for row in rows]

    def remove(self, keys: Sequence[int]) -> int:
        removed, totals = 0, PartitionTotals()
        for stored in self._stored(keys):
            removed += self._change_postings(REMOVE_POSTING, stored, {})
            self._scan.leaving(self._sql, places(stored))
            self._sql.execute_many(_REMOVE_VECTORS, [document.place(self._project) for document in stored])
            self._remove_values(stored)
            found = [document.key for document in stored]
            self._sql.execute(_remove_documents(list_size(len(found))), **list_parameters("key", found))
            for document in stored:
                totals.add(document.partition, -1, -document.length)
        self._count(totals)
        return removed

    def _change_postings(
        self, statement: Statement, stored: Sequence[StoredDocument], change: Mapping[str, object]
    ) -> int:
        """Change exactly the postings that the records' lists of terms name, and check that they were there."""
        wanted = [
            {**document.place(self._project), **change, "p_term": term}
            for document in stored
            for term in document.terms
        ]
        changed = self._run_if_any(statement, wanted)
        if changed != len(wanted):
            keys = [document.key for document in stored]
            raise MemoryStoreError(
                f"the text index is damaged: {len(wanted)} postings were expected for keys {keys[0]} to {keys[-1]} "
                f"of project {self._project!r}, {changed} were found; restore a backup or ingest anew"
            )
        return changed

    def _remove_values(self, stored: Sequence[StoredDocument]) -> None:
        rows = [
            row
            for document in stored
            for row in value_parameters(self._project, document.partition[0], document.key, document.values)
        ]
        self._run_if_any(_REMOVE_VALUE, rows)

    def set_state(self, keys: Sequence[int], state: IndexState) -> None:
        totals = PartitionTotals()
        for part in self._stored(keys):
            stored = [document for document in part if document.partition[1] != state.value]
            if not stored:
                continue
            change = {"new_state": state.value}
            self._change_postings(_MOVE_POSTING, stored, change)
            self._scan.leaving(self._sql, places(stored))
            self._sql.execute_many(_MOVE_VECTORS, [{**row.place(self._project), **change} for row in stored])
            self._scan.arrived(self._sql, places(stored, state))
            found = [document.key for document in stored]
            statement = _set_document(list_size(len(found)), "state")
            self._sql.execute(statement, new_value=state.value, **list_parameters("key", found))
            for document in stored:
                source, _, visibility, user = document.partition
                totals.add(document.partition, -1, -document.length)
                totals.add((source, state.value, visibility, user), 1, document.length)
        self._count(totals)

    def put_vectors(self, vectors: Sequence[RecordVectors]) -> None:
        totals = PartitionTotals()
        stored = self._store_vectors(vectors)
        self.set_vector_state([document.key for document in stored], VectorState.PRESENT)
        for document in stored:
            totals.add(document.partition, 0, 0)  # raises the generation, so that cached matrices are read again
        self._count(totals)

    def _store_vectors(self, vectors: Sequence[RecordVectors]) -> list[StoredDocument]:
        """Store vectors in place of those of the same model; return the records that are there to have them."""
        by_key = {vector.key: vector for vector in vectors}
        found: list[StoredDocument] = []
        for stored in self._stored(list(by_key)):
            same_model = [{**row.place(self._project), "p_model": by_key[row.key].model} for row in stored]
            self._scan.leaving(self._sql, places(stored))
            self._sql.execute_many(_REMOVE_MODEL_VECTORS, same_model)
            rows = [row for item in stored for row in vector_parameters(self._project, item, by_key[item.key])]
            self._run_if_any(_ADD_VECTOR, rows)
            self._scan.arrived(self._sql, places(stored))
            found += stored
        return found

    def set_vector_state(self, keys: Sequence[int], state: VectorState) -> None:
        for part in chunks(keys):
            statement = _set_document(list_size(len(part)), "vector_state")
            self._sql.execute(statement, new_value=state.value, **list_parameters("key", part))

    def awaiting_vectors(self, source: str, user_id: str, session_id: str | None, limit: int) -> Sequence[DocumentRow]:
        named = {} if session_id is None else {"p_session_id": session_id}
        statement = _awaiting(session_id is not None)
        rows = self._sql.all(statement, p_source=source, p_user_id=user_id, page_size=limit, **named)
        return sorted((document_from(row) for row in rows), key=lambda document: document.key)

    def replace_values(self, entries: Sequence[IndexEntry]) -> None:
        by_key = {entry.key: entry for entry in entries}
        for stored in self._stored(list(by_key)):
            self._remove_values(stored)
            for document in stored:
                values = by_key[document.key].values
                rows = value_parameters(self._project, document.partition[0], document.key, values)
                self._run_if_any(ADD_VALUE, rows)
                self._sql.execute(_SET_VALUES, p_key=document.key, p_values=encode_values(values))

    def keys_after(self, source: str, after: int, limit: int) -> Sequence[DocumentRow]:
        rows = self._sql.all(_KEYS_AFTER, p_source=source, after=after, page_size=limit)
        return [document_from(row) for row in rows]

    def expired(self, now: datetime, limit: int) -> Sequence[DocumentRow]:
        return [document_from(row) for row in self._sql.all(_EXPIRED, now=to_micros(now), page_size=limit)]
