"""Conditions on JSON text in a column, in the words of each database; ``engine.json_filters`` is their model.

PostgreSQL compares ``jsonb``. SQLite has no equality of JSON, and its paths cannot name every key: there a condition
walks with ``json_each``, one level an ``EXISTS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlalchemy import Boolean, ColumnElement, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from memoranda.engine.json_filters import OURS, JsonEquals, JsonFilter, JsonHolds, NoMetadata
from memoranda.stores.sql.codec import to_json

_INT64: Final = 2**63


class JsonCondition(ColumnElement[bool]):
    """One condition on a document; its values are constants of the statement that it stands in."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, document: ColumnElement[str], node: JsonFilter) -> None:
        self.document = document
        self.node = node


@compiles(JsonCondition, "sqlite")
def _sqlite(element: JsonCondition, compiler: SQLCompiler, **options: Any) -> str:
    def text(value: object) -> str:
        return _bound(compiler, value, options)

    document = compiler.process(element.document, **options)
    match element.node:
        case NoMetadata():
            return f"NOT EXISTS (SELECT 1 FROM json_each({document}) AS m WHERE m.key <> {text(OURS)})"
        case JsonEquals(path, wanted):
            return _Walk(text).to(path, document, wanted, holds=False)
        case JsonHolds(path, wanted):
            return _Walk(text).to(path, document, wanted, holds=True)


@compiles(JsonCondition, "postgresql")
def _postgresql(element: JsonCondition, compiler: SQLCompiler, **options: Any) -> str:
    def text(value: object) -> str:
        return f"CAST({_bound(compiler, value, options)} AS text)"

    def json(value: object) -> str:
        # In a list, for the encoder takes no bare scalar.
        return f"CAST({_bound(compiler, to_json([value]), options)} AS jsonb)"

    document = f"CAST({compiler.process(element.document, **options)} AS jsonb)"
    match element.node:
        case NoMetadata():
            return f"coalesce({document} - {text(OURS)} = CAST('{{}}' AS jsonb), true)"
        case JsonEquals(path, wanted):
            found = " -> ".join([document, *map(text, path)])
            return f"coalesce(({found}) = ({json(wanted)} -> 0), false)"
        case JsonHolds(path, wanted):
            found = " -> ".join([document, *map(text, path)])
            return f"coalesce(jsonb_typeof({found}) = 'array' AND ({found}) @> {json(wanted)}, false)"


def _bound(compiler: SQLCompiler, value: object, options: Mapping[str, Any]) -> str:
    rendered: str = compiler.process(bindparam(None, value, unique=True), **options)
    return rendered


class _Walk:
    """Writes one condition for SQLite; each level of the walk has a row of ``json_each`` of its own name."""

    def __init__(self, text: Callable[[object], str]) -> None:
        self._text = text
        self._level = 0

    def to(self, path: tuple[str, ...], document: str, wanted: object, *, holds: bool) -> str:
        """Return "the value at the path equals this one", or holds it among its items."""
        row = self._row()
        if path[1:]:
            inner = self.to(path[1:], _inside(row, "object"), wanted, holds=holds)
        else:
            inner = self._item(row, wanted) if holds else self._equal(row, wanted)
        return _exists(row, document, f"{row}.key = {self._text(path[0])} AND {inner}")

    def _item(self, row: str, wanted: object) -> str:
        item = self._row()
        return _exists(item, _inside(row, "array"), self._equal(item, wanted))

    def _equal(self, row: str, wanted: object) -> str:
        """Return "the value of this row is that one"."""
        if wanted is None:
            return f"{row}.type = 'null'"
        if isinstance(wanted, bool):
            return f"{row}.type = '{'true' if wanted else 'false'}'"
        if isinstance(wanted, int | float):
            number = wanted if isinstance(wanted, float) or -_INT64 <= wanted < _INT64 else float(wanted)
            return f"{row}.type IN ('integer', 'real') AND {row}.value = {self._text(number)}"
        if isinstance(wanted, Mapping):
            return self._members(row, "object", dict(wanted))
        if isinstance(wanted, list | tuple):
            return self._members(row, "array", dict(enumerate(wanted)))
        return f"{row}.type = 'text' AND {row}.value = {self._text(wanted)}"

    def _members(self, row: str, kind: str, wanted: Mapping[Any, object]) -> str:
        inside = _inside(row, kind)
        parts = [f"{row}.type = '{kind}'", f"(SELECT count(*) FROM json_each({inside})) = {len(wanted)}"]
        for key, value in wanted.items():
            member = self._row()
            parts.append(_exists(member, inside, f"{member}.key = {self._text(key)} AND {self._equal(member, value)}"))
        return " AND ".join(parts)

    def _row(self) -> str:
        self._level += 1
        return f"j{self._level}"


def _exists(row: str, document: str, condition: str) -> str:
    return f"EXISTS (SELECT 1 FROM json_each({document}) AS {row} WHERE {condition})"


def _inside(row: str, kind: str) -> str:
    # Anything else has no rows: the text of a string would be read as JSON.
    return f"CASE {row}.type WHEN '{kind}' THEN {row}.value END"
