"""Rows of links between memories."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import bindparam, delete, insert, select, update

from memoranda.engine.records import Link
from memoranda.stores.schema import links
from memoranda.stores.sql.codec import (
    from_micros,
    object_from,
    optional_json,
    optional_micros,
    optional_time,
    to_micros,
)
from memoranda.stores.sql.statement import Executor, Row, Statement, chunks, in_list, list_parameters, list_size

_FIELDS = ("id", "source_id", "target_id", "relation", "inverse", "created_at", "event_time", "metadata")
LINK_COLUMNS = tuple(links.c[name] for name in _FIELDS)
_IN_PROJECT = links.c.project_id == bindparam("project_id")

_INSERT = Statement(insert(links).values({name: bindparam(name) for name in ("project_id", *_FIELDS)}))
_CHANGED = ("relation", "inverse", "event_time", "metadata")
_UPDATE = Statement(
    update(links)
    .where(_IN_PROJECT, links.c.id == bindparam("link_id"))
    .values({name: bindparam(f"new_{name}") for name in _CHANGED})
)
_GET = Statement(select(*LINK_COLUMNS).where(_IN_PROJECT, links.c.id == bindparam("id")))


@lru_cache
def _at_end(end: str, size: int) -> Statement:
    return Statement(select(*LINK_COLUMNS).where(_IN_PROJECT, in_list(links.c[end], "memory", size)))


@lru_cache
def _delete(size: int) -> Statement:
    return Statement(delete(links).where(_IN_PROJECT, in_list(links.c.id, "id", size)))


def link_from(row: Row) -> Link:
    """Read a row of ``LINK_COLUMNS``."""
    return Link(
        id=row[0],
        source_id=row[1],
        target_id=row[2],
        relation=row[3],
        inverse=row[4],
        created_at=from_micros(row[5]),
        event_time=optional_time(row[6]),
        metadata=object_from(row[7]),
    )


class SqlLinkRows:
    """``LinkRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def insert(self, link: Link) -> None:
        self._sql.execute(
            _INSERT,
            id=link.id,
            source_id=link.source_id,
            target_id=link.target_id,
            relation=link.relation,
            inverse=link.inverse,
            created_at=to_micros(link.created_at),
            event_time=optional_micros(link.event_time),
            metadata=optional_json(link.metadata),
        )

    def get(self, link_id: str) -> Link | None:
        row = self._sql.one(_GET, id=link_id)
        return None if row is None else link_from(row)

    def of(self, memory_ids: Sequence[str]) -> Sequence[Link]:
        found: dict[str, Link] = {}
        for part in chunks(memory_ids):
            # Two reads, each on its index; one OR over both ends would read the whole table.
            for end in ("source_id", "target_id"):
                rows = self._sql.all(_at_end(end, list_size(len(part))), **list_parameters("memory", part))
                found.update({row[0]: link_from(row) for row in rows})
        return sorted(found.values(), key=lambda link: (link.created_at, link.id))

    def update(self, link: Link) -> None:
        changed = self._sql.execute(
            _UPDATE,
            link_id=link.id,
            new_relation=link.relation,
            new_inverse=link.inverse,
            new_event_time=optional_micros(link.event_time),
            new_metadata=optional_json(link.metadata),
        )
        if not changed:
            raise LookupError(f"link {link.id!r} is gone; nothing was updated")

    def delete(self, link_ids: Sequence[str]) -> int:
        return sum(
            self._sql.execute(_delete(list_size(len(part))), **list_parameters("id", part)) for part in chunks(link_ids)
        )
