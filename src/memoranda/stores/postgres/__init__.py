"""The store in a PostgreSQL database: many servers, many workers."""

from __future__ import annotations

from memoranda.stores.postgres.connecting import is_lent, is_postgres_url
from memoranda.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore", "is_lent", "is_postgres_url"]
