"""The part of the scope predicate that leaves out what a deletion hides until it is purged."""

from __future__ import annotations

from sqlalchemy import ColumnElement, FromClause, and_, exists, false, or_, select

from memoranda.engine.records import STM
from memoranda.stores.schema import tombstones, turns


def not_hidden(table: FromClause) -> ColumnElement[bool]:
    """Return "no tombstone covers this row" for a table with a project, a user, a session and a key.

    The deletion of a session covers its turns alone: what was extracted from them goes with its first step, and what
    was written directly stays.
    """
    covers = and_(
        tombstones.c.project_id == table.c.project_id,
        tombstones.c.user_id == table.c.user_id,
        tombstones.c.upto_key >= table.c.key,
        or_(tombstones.c.session_id.is_(None), _turn_of_session(table)),
        tombstones.c.snapshot_id.is_(None),
    )
    return ~exists(select(1).select_from(tombstones).where(covers))


def _turn_of_session(table: FromClause) -> ColumnElement[bool]:
    in_session = tombstones.c.session_id == table.c.session_id
    if "source" in table.c:
        return and_(in_session, table.c.source == STM)
    return in_session if table is turns else false()
