"""What every table of the schema is made of."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Index, MetaData, Table, Text, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex
from sqlalchemy.sql.compiler import DDLCompiler
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


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """Declare an index of the rows that satisfy a condition, the same on all databases."""
    return Index(name, *columns, unique=unique, sqlite_where=text(where), info={"where": where})


# Told when it is declared, SQLAlchemy would load the whole dialect of PostgreSQL to look at the condition.
@compiles(CreateIndex, "postgresql")
def _create_index(element: CreateIndex, compiler: DDLCompiler, **options: Any) -> str:
    where = element.element.info.get("where")
    if where is not None:
        element.element.dialect_options["postgresql"]["where"] = text(where)
    created: str = compiler.visit_create_index(element, **options)  # type: ignore[no-untyped-call]
    return created
