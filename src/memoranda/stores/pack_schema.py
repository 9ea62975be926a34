"""The part of the schema that keeps the vectors of shared scopes packed, beside their rows (docs/decisions/0011)."""

from __future__ import annotations

from sqlalchemy import Column, LargeBinary

from memoranda.stores.columns import int_column as _int
from memoranda.stores.columns import key_column as _key
from memoranda.stores.columns import project_column as _project
from memoranda.stores.columns import table as _table

# Copies of rows of `vectors`, many to a row. A pack is never changed: one that has lost a record is made anew. Not
# clustered: to compare the key of so long a row with the end of a range, SQLite would first read all of it.
vector_packs = _table(
    "vector_packs",
    _project(),
    _key("source", primary=True),
    _key("state", primary=True),
    _key("visibility", primary=True),
    _key("user_id", primary=True),
    _key("model", primary=True),
    _int("first_key", primary=True),
    _int("last_key"),
    _int("records"),
    Column("keys", LargeBinary, nullable=False),
    Column("scales", LargeBinary, nullable=False),
    Column("ends", LargeBinary),
    Column("data", LargeBinary, nullable=False),
    clustered=False,
)

# The records of packed visibilities whose vectors are in no pack, and are read from their rows.
loose_vectors = _table(
    "loose_vectors",
    _project(),
    _key("source", primary=True),
    _key("state", primary=True),
    _key("visibility", primary=True),
    _key("user_id", primary=True),
    _key("model", primary=True),
    _int("key", primary=True),
)
