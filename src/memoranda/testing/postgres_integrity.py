"""Counts a PostgreSQL store again from its records, by the rules of ``memoranda.testing.integrity``."""

from __future__ import annotations

import sqlite3
from typing import cast

import psycopg

from memoranda.testing import integrity

_OF_SQLITE = {"_file_is_sound", "_shared_vectors_are_packed_or_loose"}
"""Rules about what only a SQLite store has."""


def check(url: str) -> list[str]:
    """Return everything that is inconsistent in a database, as sentences; empty when it is sound."""
    with psycopg.connect(url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        # The rules ask in the SQL of both databases, of a connection that can execute and fetch.
        reader = cast(sqlite3.Connection, connection)
        rules = [rule for rule in integrity._RULES if rule.__name__ not in _OF_SQLITE]
        return [finding for rule in rules for finding in rule(reader)]
