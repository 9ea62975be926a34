"""The store in a PostgreSQL database: many servers, many workers."""

from __future__ import annotations

from memoranda.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
