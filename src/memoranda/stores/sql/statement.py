"""SQL written once in SQLAlchemy Core and prepared once for each dialect.

A statement is compiled to the driver's own text on first use and run on the driver's cursor from then on: one source
for all dialects, and no object building on the hot path. Constants inside a statement become its default parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol, TypeVar

from sqlalchemy import BindParameter, ClauseElement, ColumnElement, Dialect, Table, bindparam

from memoranda.sdk.errors import MemoryBadRequestError

Row = Sequence[Any]

LIST_LIMIT = 256
"""The longest list one statement takes; longer ones are run in parts (``chunks``)."""

INSERT_BLOCK = 32
"""How many rows of an ``Insert`` one statement takes.

One by one they take as long, but for each SQLite's driver lets go of the interpreter's lock and waits for it.
"""

T = TypeVar("T")


def list_size(count: int) -> int:
    """Return the padded size of a list parameter, so that few statement shapes exist (powers of two)."""
    return 1 << max(count - 1, 0).bit_length()


def in_list(column: ColumnElement[Any], name: str, size: int) -> ColumnElement[bool]:
    """Return ``column IN (name0, name1, ...)`` with ``size`` parameters; fill them with ``list_parameters``."""
    members: list[BindParameter[Any]] = [bindparam(f"{name}{position}") for position in range(size)]
    return column.in_(members)


def list_parameters(name: str, values: Sequence[object]) -> dict[str, object]:
    """Return the parameters of ``in_list``, the last value repeated up to the padded size."""
    size = list_size(len(values))
    padded = [*values, *([values[-1]] * (size - len(values)))]
    return {f"{name}{position}": value for position, value in enumerate(padded)}


def chunks(values: Sequence[T], size: int = LIST_LIMIT) -> Iterable[Sequence[T]]:
    """Cut a sequence into parts of at most ``size``."""
    return (values[start : start + size] for start in range(0, len(values), size))


class Insert:
    """An INSERT of whole rows, given as tuples in the order of the table's columns; for rows that come in numbers."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._prepared: dict[tuple[str, int], str] = {}

    def prepared(self, dialect: Dialect, rows: int = 1) -> str:
        """Return the driver's SQL for so many rows."""
        found = self._prepared.get((dialect.name, rows))
        if found is None:
            marks = ", ".join("?" * len(self._table.c))
            found = f"{self._into(dialect)} VALUES {', '.join([f'({marks})'] * rows)}"
            self._prepared[dialect.name, rows] = found
        return found

    def prepared_for_columns(self, dialect: Dialect) -> str:
        """Return the driver's SQL for any number of rows, given as one array a column."""
        found = self._prepared.get((dialect.name, 0))
        if found is None:
            # Without its collation, which is the column's own.
            types = (column.type.compile(dialect).partition(" ")[0] for column in self._table.c)
            arrays = ", ".join(f"%s::{name}[]" for name in types)
            found = self._prepared[dialect.name, 0] = f"{self._into(dialect)} SELECT * FROM unnest({arrays})"
        return found

    def _into(self, dialect: Dialect) -> str:
        quoted = dialect.identifier_preparer
        columns = ", ".join(quoted.format_column(column) for column in self._table.c)
        return f"INSERT INTO {quoted.format_table(self._table)} ({columns})"


class Cursor(Protocol):
    """The part of a DB-API cursor that statements use."""

    @property
    def rowcount(self) -> int: ...
    def execute(self, sql: str, parameters: Mapping[str, object] | Sequence[object] = ..., /) -> object: ...
    def executemany(
        self, sql: str, parameters: Sequence[Mapping[str, object]] | Sequence[tuple[object, ...]], /
    ) -> object: ...
    def fetchone(self) -> Row | None: ...
    def fetchall(self) -> Sequence[Row]: ...


class Statement:
    """One prepared statement; parameters are given by the names of its bind parameters."""

    def __init__(self, clause: ClauseElement) -> None:
        self._clause = clause
        self._prepared: dict[str, tuple[str, dict[str, object]]] = {}

    def prepared(self, dialect: Dialect) -> tuple[str, dict[str, object]]:
        """Return the driver's SQL and the constants it needs."""
        found = self._prepared.get(dialect.name)
        if found is None:
            compiled = self._clause.compile(dialect=dialect)
            constants = {name: value for name, value in (compiled.params or {}).items() if value is not None}
            found = self._prepared[dialect.name] = (str(compiled), constants)
        return found


class Executor:
    """Runs statements on one driver connection inside one transaction of one project."""

    def __init__(
        self, cursor: Cursor, dialect: Dialect, project_id: str, find_hides: Callable[[Executor], bool]
    ) -> None:
        self._cursor = cursor
        self._dialect = dialect
        self.project_id = project_id
        self._find_hides = find_hides
        self._hides: bool | None = None
        self.enqueued = False
        """Whether there is something for a worker to do: it is woken after the commit."""

    @property
    def hides(self) -> bool:
        """Whether a deletion hides records of the project until they are purged; looked up by the first who asks."""
        if self._hides is None:
            self._hides = self._find_hides(self)
        return self._hides

    @hides.setter
    def hides(self, hides: bool) -> None:
        self._hides = hides

    def begin(self, sql: str) -> None:
        """Start the transaction with the database's own words."""
        self._cursor.execute(sql)

    def set(self, sql: str) -> None:
        """Set something about the connection with the database's own words."""
        self._cursor.execute(sql)

    def _run(self, statement: Statement, parameters: Mapping[str, object]) -> None:
        sql, constants = statement.prepared(self._dialect)
        try:
            self._cursor.execute(sql, {**constants, "project_id": self.project_id, **parameters})
        except UnicodeEncodeError as error:
            # Writes are cleaned and checked before; this is an id or a value that a read was asked for.
            raise MemoryBadRequestError(
                f"{error.object[:40]!r} holds an unpaired surrogate; pass valid Unicode text", code="INVALID_ID"
            ) from error

    def execute(self, statement: Statement, **parameters: object) -> int:
        """Run a change; return how many rows it touched."""
        self._run(statement, parameters)
        return self._cursor.rowcount

    def execute_many(self, statement: Statement, rows: Sequence[Mapping[str, object]]) -> int:
        """Run a change once for each row of parameters (``project_id`` included by the caller)."""
        sql, constants = statement.prepared(self._dialect)
        if len(rows) == 1:
            self._cursor.execute(sql, {**constants, **rows[0]})
            return self._cursor.rowcount
        self._cursor.executemany(sql, [{**constants, **row} for row in rows] if constants else rows)
        return self._cursor.rowcount

    def insert(self, statement: Insert, rows: Sequence[tuple[object, ...]]) -> None:
        """Add rows (``project_id`` included by the caller)."""
        if self._dialect.name == "postgresql":
            if rows:
                columns = [list(column) for column in zip(*rows, strict=True)]
                self._cursor.execute(statement.prepared_for_columns(self._dialect), columns)
            return
        whole = len(rows) - len(rows) % INSERT_BLOCK
        for start in range(0, whole, INSERT_BLOCK):
            block = list(chain.from_iterable(rows[start : start + INSERT_BLOCK]))
            self._cursor.execute(statement.prepared(self._dialect, INSERT_BLOCK), block)
        if whole < len(rows):
            self._cursor.executemany(statement.prepared(self._dialect), rows[whole:])

    def one(self, statement: Statement, **parameters: object) -> Row | None:
        self._run(statement, parameters)
        return self._cursor.fetchone()

    def each(self, statement: Statement, **parameters: object) -> Iterator[Row]:
        """Run a query whose rows are large one row at a time; nothing else may be run until it is through."""
        self._run(statement, parameters)
        while (row := self._cursor.fetchone()) is not None:
            yield row

    def all(self, statement: Statement, **parameters: object) -> Sequence[Row]:
        self._run(statement, parameters)
        return self._cursor.fetchall()
