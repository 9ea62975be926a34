"""The part of the scope predicate that leaves out what a deletion hides until it is purged."""

from __future__ import annotations

from sqlalchemy import ColumnElement, FromClause, and_, exists, or_, select

from memoranda.stores.schema import tombstones


def not_hidden(table: FromClause, *, of_sessions: bool = True) -> ColumnElement[bool]:
    """Return "no tombstone covers this row" for a table with a project, a user, a session and a key.

    ``of_sessions`` is whether the deletion of a session covers rows that name it.
    """
    whole_user = tombstones.c.session_id.is_(None)
    covers = and_(
        tombstones.c.project_id == table.c.project_id,
        tombstones.c.user_id == table.c.user_id,
        tombstones.c.upto_key >= table.c.key,
        or_(whole_user, tombstones.c.session_id == table.c.session_id) if of_sessions else whole_user,
        tombstones.c.snapshot_id.is_(None),
    )
    return ~exists(select(1).select_from(tombstones).where(covers))
