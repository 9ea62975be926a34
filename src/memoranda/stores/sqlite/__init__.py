"""SQLite: only what differs from other SQL databases."""

from memoranda.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
