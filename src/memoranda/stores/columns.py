"""What every table of the schema is made of."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, MetaData, Table, Text, text
from sqlalchemy.sql.schema import SchemaItem

metadata = MetaData()

# Keys compare byte for byte on both databases.
KEY = Text().with_variant(Text(collation="C"), "postgresql")


def project_column() -> Column[str]:
    return Column("project_id", KEY, primary_key=True)


def key_column(name: str, *, primary: bool = False) -> Column[str]:
    return Column(name, KEY, nullable=False, primary_key=primary, server_default=None if primary else text("''"))


def text_column(name: str, *, optional: bool = False) -> Column[str]:
    return Column(name, Text, nullable=optional)


def int_column(name: str, *, optional: bool = False, default: int | None = None, primary: bool = False) -> Column[int]:
    fixed = None if default is None else text(str(default))
    return Column(name, BigInteger, nullable=optional, primary_key=primary, autoincrement=False, server_default=fixed)


def identity_columns() -> tuple[Column[str], ...]:
    return (key_column("user_id"), key_column("agent_id"), key_column("session_id"))


def table(name: str, *parts: SchemaItem, clustered: bool = True) -> Table:
    """Declare a table; ``clustered`` stores rows in the primary key's order (WITHOUT ROWID on SQLite)."""
    return Table(name, metadata, *parts, sqlite_with_rowid=not clustered)
