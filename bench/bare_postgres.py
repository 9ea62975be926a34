"""The floor on PostgreSQL: the rows of a turn in one transaction of bare psycopg, one statement a table."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
from psycopg import sql

_LIKE_A_TURN = ("turns", "documents", "postings")


class BareTurns:
    """Inserts the rows that a recorded turn left, again and again, under new keys and in a session of its own."""

    def __init__(self, url: str, project_id: str, user_id: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._named: dict[str, object] = {"project": project_id, "user": user_id}
        self._begin = f"BEGIN; SET LOCAL memoranda.project = '{project_id}'".encode()
        self._connection.execute(self._begin)
        self._columns: dict[str, dict[str, list[Any]]] = {}
        self._inserts: dict[str, bytes] = {}
        for table in _LIKE_A_TURN:
            self._read(table)
        self._connection.execute("COMMIT")

    def _read(self, table: str) -> None:
        """Keep the rows of the turn, without the columns that are empty in all of them."""
        query = sql.SQL("SELECT * FROM {} WHERE project_id = %(project)s AND user_id = %(user)s")
        cursor = self._connection.execute(query.format(sql.Identifier(table)), self._named)
        rows = cursor.fetchall()
        columns = dict(zip((column.name for column in cursor.description or ()), zip(*rows, strict=True), strict=True))
        kept = {name: list(values) for name, values in columns.items() if any(value is not None for value in values)}
        types = (sql.SQL("bigint[]" if isinstance(values[0], int) else "text[]") for values in kept.values())
        self._columns[table] = kept
        names, several = sql.SQL(", ").join(map(sql.Identifier, kept)), table == "postings"
        marks = sql.SQL(", ").join(sql.SQL("%s::{}").format(name) if several else sql.SQL("%s") for name in types)
        form = "INSERT INTO {} ({}) SELECT * FROM unnest({})" if several else "INSERT INTO {} ({}) VALUES ({})"
        # Rendered once: a floor must not pay for composing its statements again each time.
        self._inserts[table] = sql.SQL(form).format(sql.Identifier(table), names, marks).as_bytes(self._connection)

    def record(self) -> None:
        run = self._connection.execute
        run(self._begin)
        key = self._number(
            "UPDATE projects SET next_key = next_key + 1 WHERE project_id = %(project)s RETURNING next_key - 1"
        )
        seq = self._number(
            "UPDATE sessions SET last_seq = last_seq + 1, last_turn_at = last_turn_at + 1, updated_at = updated_at + 1 "
            "WHERE project_id = %(project)s AND user_id = %(user)s RETURNING last_seq"
        )
        changed = {"key": key, "turn_seq": seq, "id": str(uuid.uuid4()), "record_id": str(key)}
        for table, insert in self._inserts.items():
            columns = self._columns[table].items()
            several = table == "postings"
            run(insert, [self._sent(changed.get(name), values, several) for name, values in columns])
        run(
            "UPDATE partition_counts SET records = records + 1, total_length = total_length + 20, "
            "generation = generation + 1 WHERE project_id = %(project)s AND user_id = %(user)s",
            self._named,
        )
        run("COMMIT")

    def _sent(self, changed: object, values: list[Any], several: bool) -> object:
        """Return what is sent for a column: an array for many rows, a value for one."""
        if not several:
            return values[0] if changed is None else changed
        return values if changed is None else [changed] * len(values)

    def _number(self, query: str) -> int:
        row = self._connection.execute(query.encode(), self._named).fetchone()
        if row is None:
            raise RuntimeError("the turn to start from is not there")
        return int(row[0])

    def close(self) -> None:
        self._connection.close()
