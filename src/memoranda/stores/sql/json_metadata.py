"""Where the metadata of a row is: in the row itself, or, for rows of the index, in the record that they stand for."""

from __future__ import annotations

from sqlalchemy import ColumnElement, FromClause, ScalarSelect, Table, and_, case, select

from memoranda.engine.records import PROFILE, STM
from memoranda.stores.schema import documents, images, memories, profiles, turns

IMAGE = "image"


def metadata_of(table: FromClause) -> ColumnElement[str]:
    """Return the metadata, JSON text or NULL, of a row of records or of the index."""
    if "metadata" in table.c:
        return table.c.metadata
    return case(
        (table.c.source == STM, _by_id(turns, table)),
        (table.c.source == IMAGE, _by_id(images, table)),
        (table.c.source == PROFILE, _by_key(profiles, table)),
        else_=_by_key(memories, table),
    )


def _by_key(records: Table, table: FromClause) -> ScalarSelect[str]:
    record = records.alias()
    same = (record.c.project_id == table.c.project_id, record.c.key == table.c.key)
    return select(record.c.metadata).where(*same).correlate(table).scalar_subquery()


def _by_id(records: Table, table: FromClause) -> ScalarSelect[str]:
    # No index of these tables has the key; the documents know the id.
    record, entry = records.alias(), documents.alias()
    joined = entry.join(record, and_(record.c.project_id == entry.c.project_id, record.c.id == entry.c.record_id))
    same = (entry.c.project_id == table.c.project_id, entry.c.key == table.c.key)
    return select(record.c.metadata).select_from(joined).where(*same).correlate(table).scalar_subquery()
