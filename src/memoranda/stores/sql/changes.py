"""Rows of the change feed.

Writers only add entries; the row of ``feeds``, which counts positions, is touched by who assigns them alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import BindParameter, bindparam, delete, literal_column, select, update

from memoranda.engine.feed.rows import Change, Entity, FeedEnds, Operation
from memoranda.stores.schema import changes, feeds
from memoranda.stores.sql.codec import from_micros, to_micros
from memoranda.stores.sql.statement import Executor, Insert, Statement
from memoranda.stores.sql.upsert import insert

_PROJECT: BindParameter[str] = bindparam("project_id")
_IN_PROJECT = changes.c.project_id == _PROJECT
_FIELDS = ("id", "entity", "entity_id", "operation", "at", "user_id", "position")
_COLUMNS = tuple(changes.c[name] for name in _FIELDS)

_ADD = Insert(changes)
_UNASSIGNED = Statement(
    select(changes.c.id)
    .where(_IN_PROJECT, changes.c.position.is_(None))
    .order_by(changes.c.id)
    .limit(bindparam("page_size"))
)
_ASSIGN = Statement(
    update(changes)
    .where(changes.c.project_id == _PROJECT, changes.c.id == bindparam("change_id"))
    .values(position=bindparam("given"))
)
# The row stays locked until the transaction ends: whoever else assigns positions waits, and then counts on.
_LOCK = Statement(
    insert(feeds)
    .values({"project_id": _PROJECT, "last_position": 0, "pruned_position": 0})
    .on_conflict_do_update(index_elements=["project_id"], set_={"last_position": feeds.c.last_position})
    .returning(feeds.c.last_position)
)
_COUNT = Statement(update(feeds).where(feeds.c.project_id == _PROJECT).values(last_position=bindparam("reached")))
_PRUNED = Statement(update(feeds).where(feeds.c.project_id == _PROJECT).values(pruned_position=bindparam("reached")))
_ENDS = Statement(select(feeds.c.last_position, feeds.c.pruned_position).where(feeds.c.project_id == _PROJECT))
_PAGE = Statement(
    select(*_COLUMNS)
    .where(_IN_PROJECT, changes.c.position > bindparam("after"))
    .order_by(changes.c.position)
    .limit(bindparam("page_size"))
)
_REMOVE_UPTO = Statement(delete(changes).where(_IN_PROJECT, changes.c.position <= bindparam("reached")))
_FORGET = Statement(
    delete(changes).where(
        _IN_PROJECT,
        changes.c.user_id == bindparam("p_user_id"),
        # Spelled as in the partial index, so that the planners see that it applies.
        changes.c.user_id != literal_column("''"),
        changes.c.id <= bindparam("upto_id"),
    )
)


class SqlChangeRows:
    """``ChangeRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def add(self, changes: Sequence[Change]) -> None:
        if not changes:
            return
        project = self._sql.project_id
        self._sql.insert(_ADD, [_row(project, change) for change in changes])
        self._sql.enqueued = True

    def unassigned(self) -> bool:
        return self._sql.one(_UNASSIGNED, page_size=1) is not None

    def assign(self, limit: int) -> int:
        row = self._sql.one(_LOCK)
        last = 0 if row is None else int(row[0])
        found = self._sql.all(_UNASSIGNED, page_size=limit)
        if found:
            project = self._sql.project_id
            self._sql.execute_many(
                _ASSIGN,
                [
                    {"project_id": project, "change_id": change_id, "given": last + number}
                    for number, (change_id,) in enumerate(found, 1)
                ],
            )
            self._sql.execute(_COUNT, reached=last + len(found))
        return len(found)

    def page(self, after: int, limit: int) -> Sequence[Change]:
        return [_change(*row) for row in self._sql.all(_PAGE, after=after, page_size=limit)]

    def ends(self) -> FeedEnds:
        row = self._sql.one(_ENDS)
        return FeedEnds() if row is None else FeedEnds(int(row[0]), int(row[1]))

    def forget_user(self, user_id: str, upto_id: str) -> int:
        self._sql.one(_LOCK)  # Who assigns positions to these entries at this moment takes them in another order.
        return self._sql.execute(_FORGET, p_user_id=user_id, upto_id=upto_id)

    def prune(self, upto: datetime, limit: int) -> int:
        reached = 0
        for change in self.page(0, limit):
            if change.at > upto:
                break
            reached = change.position
        if not reached:
            return 0
        self._sql.execute(_PRUNED, reached=reached)
        return self._sql.execute(_REMOVE_UPTO, reached=reached)


def _row(project_id: str, change: Change) -> tuple[object, ...]:
    """Return an entry in the order of the table's columns."""
    return (
        project_id,
        change.id,
        None,
        change.entity.value,
        change.entity_id,
        change.operation.value,
        change.user_id,
        to_micros(change.at),
    )


def _change(
    change_id: str, entity: str, entity_id: str, operation: str, at: int, user_id: str, position: int
) -> Change:
    return Change(change_id, Entity(entity), entity_id, Operation(operation), from_micros(at), user_id, int(position))
