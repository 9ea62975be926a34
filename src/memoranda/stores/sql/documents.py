"""Rows of the index's own table, and how entries become rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from memoranda.engine.ports import DocumentRow
from memoranda.engine.records import IndexedValue, IndexEntry, IndexState, RecordVectors, VectorState
from memoranda.stores.schema import documents
from memoranda.stores.sql.codec import optional_micros
from memoranda.stores.sql.statement import Row

Parameters = dict[str, object]
Partition = tuple[str, str, str, str]
"""(source, state, visibility, user): what counts and generations are kept for."""

DOCUMENT_COLUMNS = tuple(
    documents.c[name] for name in ("key", "record_id", "source", "state", "user_id", "session_id", "vector_state")
)
FULL_DOCUMENT_COLUMNS = tuple(
    documents.c[name]
    for name in (
        "key",
        "source",
        "state",
        "visibility",
        "user_id",
        "agent_id",
        "session_id",
        "expires_at",
        "length",
        "terms",
        "values",
    )
)

# A look-up costs a tenth of calling the enum, and a search reads a hundred rows.
_STATES = {state.value: state for state in IndexState}
_VECTOR_STATES = {state.value: state for state in VectorState}


def document_from(row: Row) -> DocumentRow:
    """Read a row of ``DOCUMENT_COLUMNS``."""
    return DocumentRow(
        key=row[0],
        record_id=row[1],
        source=row[2],
        state=_STATES[row[3]],
        user_id=row[4],
        session_id=row[5],
        vector_state=_VECTOR_STATES[row[6]],
    )


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What removing or moving a record's index rows needs to know: its place, its terms and its values."""

    key: int
    partition: Partition
    agent_id: str
    session_id: str
    expires_at: int | None
    length: int
    terms: tuple[str, ...]
    values: tuple[IndexedValue, ...]

    @classmethod
    def read(cls, row: Row) -> StoredDocument:
        """Read a row of ``FULL_DOCUMENT_COLUMNS``."""
        key, source, state, visibility, user_id, agent_id, session_id, expires_at, length, terms, values = row
        return cls(
            key=key,
            partition=(source, state, visibility, user_id),
            agent_id=agent_id,
            session_id=session_id,
            expires_at=expires_at,
            length=length,
            terms=tuple(terms.split(" ")) if terms else (),
            values=decode_values(values),
        )

    def place(self, project_id: str) -> Parameters:
        """Return the parameters that address this record's rows in postings and vectors."""
        source, state, visibility, user_id = self.partition
        return {
            "project_id": project_id,
            "p_source": source,
            "p_state": state,
            "p_visibility": visibility,
            "p_user_id": user_id,
            "p_key": self.key,
        }


def encode_values(values: Sequence[IndexedValue]) -> str | None:
    """Keep a record's filterable values beside it, so that exactly those are removed later."""
    if not values:
        return None
    return json.dumps([[value.name, value.type, value.value] for value in values], ensure_ascii=False)


def decode_values(text: str | None) -> tuple[IndexedValue, ...]:
    return tuple(IndexedValue(*value) for value in json.loads(text)) if text else ()


def document_parameters(project_id: str, entry: IndexEntry) -> Parameters:
    return {
        "project_id": project_id,
        "p_key": entry.key,
        "p_record_id": entry.record_id,
        "p_source": entry.source,
        "p_state": entry.state.value,
        "p_visibility": entry.visibility,
        "p_user_id": entry.user_id,
        "p_agent_id": entry.agent_id,
        "p_session_id": entry.session_id,
        "p_expires_at": optional_micros(entry.expires_at),
        "p_length": entry.length,
        # Terms never hold a space: the analyser splits on it.
        "p_terms": " ".join([term for term, _ in entry.terms]),
        "p_values": encode_values(entry.values),
        "p_vector_state": entry.vector_state.value,
    }


def posting_rows(project_id: str, entry: IndexEntry) -> list[tuple[object, ...]]:
    """Return whole rows of ``postings``, in the order of its columns."""
    state, expires_at = entry.state.value, optional_micros(entry.expires_at)
    before, after = (project_id, entry.source, state), (entry.visibility, entry.user_id, entry.key)
    narrow = (entry.length, entry.session_id, entry.agent_id, expires_at)
    return [(*before, term, *after, tf, *narrow) for term, tf in entry.terms]


def value_parameters(project_id: str, source: str, key: int, values: Sequence[IndexedValue]) -> list[Parameters]:
    return [
        {
            "project_id": project_id,
            "p_source": source,
            "p_name": value.name,
            "p_type": value.type,
            "p_text_value": value.value if isinstance(value.value, str) else "",
            "p_number_value": 0.0 if isinstance(value.value, str) else float(value.value),
            "p_key": key,
        }
        for value in values
    ]


def vector_parameters(project_id: str, document: StoredDocument, vectors: RecordVectors) -> list[Parameters]:
    shared = {
        **document.place(project_id),
        "p_model": vectors.model,
        "p_session_id": document.session_id,
        "p_agent_id": document.agent_id,
        "p_expires_at": document.expires_at,
    }
    return [
        {**shared, "p_piece": number, "p_scale": piece.scale, "p_data": piece.data}
        for number, piece in enumerate(vectors.pieces)
    ]
