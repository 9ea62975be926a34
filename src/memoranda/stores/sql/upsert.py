"""INSERT with ON CONFLICT, one construct for all databases.

The two dialects of SQLAlchemy speak the same SQL here. SQLite's constructs are loaded anyway; those of PostgreSQL bring
its whole dialect, a twentieth of what opening a file takes. All that its compiler misses in SQLite's is the name of a
constraint, which we never give.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects.sqlite.dml import Insert, OnConflictDoNothing, OnConflictDoUpdate

__all__ = ["insert"]


class _DoNothing(OnConflictDoNothing):
    inherit_cache = True
    constraint_target = None


class _DoUpdate(OnConflictDoUpdate):
    inherit_cache = True
    constraint_target = None


class _Upsert(Insert):
    inherit_cache = True

    def on_conflict_do_update(
        self, index_elements: Any = None, index_where: Any = None, set_: Any = None, where: Any = None
    ) -> _Upsert:
        return self.ext(_DoUpdate(index_elements, index_where, set_, where))

    def on_conflict_do_nothing(self, index_elements: Any = None, index_where: Any = None) -> _Upsert:
        return self.ext(_DoNothing(index_elements, index_where))


def insert(table: Table) -> _Upsert:
    """Return an INSERT that may say what happens ``on_conflict``."""
    return _Upsert(table)
