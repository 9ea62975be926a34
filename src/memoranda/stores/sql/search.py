"""The two legs of a search over SQL, and the way from keys to records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from sqlalchemy import and_, bindparam, case, func, select

from memoranda.engine.ports import DocumentRow, LegQuery, Narrowing, ScoredKey, TextMatches
from memoranda.engine.records import RecordVectors, VectorPiece
from memoranda.stores.schema import documents, partition_counts, postings, vectors
from memoranda.stores.sql.documents import DOCUMENT_COLUMNS, document_from
from memoranda.stores.sql.legs import USUAL_SHAPES, Shape, candidate, narrowed, parameters_of, partitions, shape_of
from memoranda.stores.sql.statement import Executor, Statement, chunks, in_list, list_parameters, list_size
from memoranda.stores.sql.vector_scan import VectorScan

USUAL_HITS = 64
"""How many records most searches read, by the sizes of lists."""

_EMPTY = Narrowing()


def _text_statement(
    terms: int, shape: Shape, narrowing: Narrowing = _EMPTY, parameters: dict[str, object] | None = None
) -> Statement:
    conditions = [*candidate(postings, shape), *narrowed(postings, narrowing, {} if parameters is None else parameters)]
    marked = case((and_(*conditions), 1), else_=0)
    columns = (postings.c.term, postings.c.key, postings.c.tf, postings.c.length, marked)
    wanted = in_list(postings.c.term, "term", terms)
    return Statement(
        select(*columns).where(*partitions(postings, shape), wanted).order_by(postings.c.term, postings.c.key)
    )


@lru_cache(maxsize=512)
def _plain_text_statement(terms: int, shape: Shape) -> Statement:
    return _text_statement(terms, shape)


@lru_cache
def _counts_statement(shape: Shape) -> Statement:
    counts = partition_counts.c
    total = (func.coalesce(func.sum(counts.records), 0), func.coalesce(func.sum(counts.total_length), 0))
    return Statement(select(*total).where(*partitions(partition_counts, shape)))


@lru_cache
def _documents_statement(size: int) -> Statement:
    keys = in_list(documents.c.key, "key", size)
    in_project = documents.c.project_id == bindparam("project_id")
    return Statement(select(*DOCUMENT_COLUMNS).where(in_project, keys).order_by(documents.c.key))


@lru_cache
def _vectors_statement(size: int) -> Statement:
    """Return the pieces of records, found by their place in the index, which leads the table's key."""
    place = ("project_id", "source", "state", "visibility", "user_id", "key")
    same = [vectors.c[name] == documents.c[name] for name in place]
    wanted = (
        documents.c.project_id == bindparam("project_id"),
        in_list(documents.c.key, "key", size),
        vectors.c.model == bindparam("model"),
    )
    columns = select(vectors.c.key, vectors.c.scale, vectors.c.data).select_from(documents.join(vectors, and_(*same)))
    return Statement(columns.where(*wanted).order_by(vectors.c.key, vectors.c.piece))


def usual() -> Iterator[Statement]:
    """Return the statements that nearly every search runs, records apart."""
    for shape in USUAL_SHAPES:
        yield _counts_statement(shape)
        yield from (_plain_text_statement(terms, shape) for terms in (4, 8, 16))
    yield _documents_statement(USUAL_HITS)


class SqlSearchRows:
    """``SearchRows`` over SQL."""

    def __init__(self, sql: Executor, scan: VectorScan) -> None:
        self._sql = sql
        self._scan = scan

    def text(self, query: LegQuery, terms: Sequence[str]) -> TextMatches:
        shape = shape_of(query, hides=self._sql.hides)
        parameters = parameters_of(query)
        counts = self._sql.one(_counts_statement(shape), **parameters)
        records, total_length = counts if counts is not None else (0, 0)
        if not terms or not records:
            return TextMatches((), (), (), (), (), int(records), int(total_length))
        parameters |= list_parameters("term", terms)
        size = list_size(len(terms))
        statement = (
            _plain_text_statement(size, shape)
            if query.narrowing == _EMPTY
            else _text_statement(size, shape, query.narrowing, parameters)
        )
        rows = self._sql.all(statement, **parameters)
        if not rows:
            return TextMatches((), (), (), (), (), int(records), int(total_length))
        found, keys, frequencies, lengths, candidates = zip(*rows, strict=True)
        return TextMatches(found, keys, frequencies, lengths, candidates, int(records), int(total_length))

    def vectors(self, query: LegQuery, model: str, vector: Sequence[float], limit: int) -> Sequence[ScoredKey]:
        return self._scan.nearest(self._sql, query, model, vector, limit)

    def vectors_of(self, keys: Sequence[int], model: str) -> Sequence[RecordVectors]:
        found: dict[int, list[VectorPiece]] = {}
        for part in chunks(sorted(set(keys))):
            named = list_parameters("key", part)
            for key, scale, data in self._sql.all(_vectors_statement(list_size(len(part))), model=model, **named):
                found.setdefault(key, []).append(VectorPiece(data, scale))
        return [RecordVectors(key, model, tuple(pieces)) for key, pieces in found.items()]

    def documents(self, keys: Sequence[int]) -> Sequence[DocumentRow]:
        return [
            document_from(row)
            for part in chunks(sorted(set(keys)))
            for row in self._sql.all(_documents_statement(list_size(len(part))), **list_parameters("key", part))
        ]

    def listing(self, query: LegQuery, limit: int) -> Sequence[int]:
        shape = shape_of(query, hides=self._sql.hides)
        parameters = parameters_of(query)
        conditions = [*partitions(documents, shape), *candidate(documents, shape)]
        conditions += narrowed(documents, query.narrowing, parameters)
        newest = select(documents.c.key).where(*conditions).order_by(documents.c.key.desc())
        rows = self._sql.all(Statement(newest.limit(bindparam("page_size"))), page_size=limit, **parameters)
        return [row[0] for row in rows]
