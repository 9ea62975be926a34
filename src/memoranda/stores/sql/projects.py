"""The project's own row, its key counter, its tombstones and its totals."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import BindParameter, bindparam, delete, func, select, update

from memoranda.engine.records import JsonObject, ProjectRow, Tombstone
from memoranda.stores.schema import CONTROL_TABLES, metadata, projects, tombstones
from memoranda.stores.sql.codec import from_micros, object_from, optional_json, to_micros
from memoranda.stores.sql.statement import Executor, Statement
from memoranda.stores.sql.totals import TOTALS
from memoranda.stores.sql.upsert import insert

_PROJECT: BindParameter[str] = bindparam("project_id")
_FIELDS = (
    "org_id",
    "created_at",
    "config",
    "analyser",
    "embedder_model",
    "embedder_fingerprint",
    "embedder_dimension",
    "filling",
    "rebuilding",
    "pending_config",
)

_GET = Statement(select(*(projects.c[name] for name in _FIELDS)).where(projects.c.project_id == _PROJECT))
_PUT = Statement(
    insert(projects)
    .values({name: bindparam(name) for name in ("project_id", *_FIELDS)})
    .on_conflict_do_update(
        index_elements=["project_id"], set_={name: bindparam(name) for name in _FIELDS if name != "created_at"}
    )
)
_ALLOCATE = Statement(
    update(projects)
    .where(projects.c.project_id == _PROJECT)
    .values(next_key=projects.c.next_key + bindparam("count"))
    .returning(projects.c.next_key)
)
_LAST_KEY = Statement(select(projects.c.next_key - 1).where(projects.c.project_id == _PROJECT))

_TOMBSTONES = Statement(
    select(
        tombstones.c.id,
        tombstones.c.user_id,
        tombstones.c.upto_key,
        tombstones.c.created_at,
        tombstones.c.session_id,
        tombstones.c.snapshot_id,
    )
    .where(tombstones.c.project_id == _PROJECT)
    .order_by(tombstones.c.id)
)
_ADD_TOMBSTONE = Statement(
    insert(tombstones).values(
        {
            name: bindparam(name)
            for name in ("project_id", "id", "user_id", "upto_key", "created_at", "session_id", "snapshot_id")
        }
    )
)
_REMOVE_TOMBSTONE = Statement(
    delete(tombstones).where(tombstones.c.project_id == _PROJECT, tombstones.c.id == bindparam("id"))
)
_DROP = [
    Statement(delete(table).where(table.c.project_id == _PROJECT))
    for table in metadata.sorted_tables
    if table.name not in CONTROL_TABLES
]
_HAS_TOMBSTONES = Statement(select(func.count()).select_from(tombstones).where(tombstones.c.project_id == _PROJECT))


def filling_from(text: str | None) -> dict[str, list[str]]:
    """Read which sources still lack the values of which filter keys."""
    return {} if text is None else {name: list(sources) for name, sources in json.loads(text).items()}


def rebuilding_from(text: str | None) -> dict[str, JsonObject]:
    """Read what re-embedding and re-indexing have to lead to."""
    return {} if text is None else {name: dict(mark) for name, mark in json.loads(text).items()}


class SqlProjectRows:
    """``ProjectRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def get(self) -> ProjectRow | None:
        row = self._sql.one(_GET)
        if row is None:
            return None
        org_id, created_at, config, analyser, model, fingerprint, dimension, filling, rebuilding, pending = row
        return ProjectRow(
            project_id=self._sql.project_id,
            created_at=from_micros(created_at),
            org_id=org_id,
            config=object_from(config),
            analyser=analyser,
            embedder_model=model,
            embedder_fingerprint=fingerprint,
            embedder_dimension=dimension,
            filling=filling_from(filling),
            rebuilding=rebuilding_from(rebuilding),
            pending_config=object_from(pending),
        )

    def put(self, row: ProjectRow) -> None:
        self._sql.execute(
            _PUT,
            org_id=row.org_id,
            created_at=to_micros(row.created_at),
            config=optional_json(row.config),
            analyser=row.analyser,
            embedder_model=row.embedder_model,
            embedder_fingerprint=row.embedder_fingerprint,
            embedder_dimension=row.embedder_dimension,
            filling=optional_json(row.filling or None),
            rebuilding=optional_json(row.rebuilding or None),
            pending_config=optional_json(row.pending_config),
        )

    def allocate_keys(self, count: int) -> int:
        row = self._sql.one(_ALLOCATE, count=count)
        if row is None:
            raise LookupError(f"project {self._sql.project_id!r} is not in this store; open it first")
        return int(row[0]) - count

    def last_key(self) -> int:
        row = self._sql.one(_LAST_KEY)
        return 0 if row is None else int(row[0])

    def add_tombstone(self, tombstone: Tombstone) -> None:
        self._sql.execute(
            _ADD_TOMBSTONE,
            id=tombstone.id,
            user_id=tombstone.user_id,
            upto_key=tombstone.upto_key,
            created_at=to_micros(tombstone.created_at),
            session_id=tombstone.session_id,
            snapshot_id=tombstone.snapshot_id,
        )
        self._sql.hides = True

    def reveal(self) -> None:
        self._sql.hides = False

    def tombstones(self) -> Sequence[Tombstone]:
        return [
            Tombstone(
                id=row[0],
                user_id=row[1],
                upto_key=row[2],
                created_at=from_micros(row[3]),
                session_id=row[4],
                snapshot_id=row[5],
            )
            for row in self._sql.all(_TOMBSTONES)
        ]

    def remove_tombstone(self, tombstone_id: str) -> None:
        self._sql.execute(_REMOVE_TOMBSTONE, id=tombstone_id)

    def drop(self) -> None:
        for statement in _DROP:
            self._sql.execute(statement)

    def totals(self, now: object) -> Sequence[tuple[str, int]]:
        return [(str(noun), int(number)) for noun, number in self._sql.all(TOTALS)]


def has_tombstones(sql: Executor) -> bool:
    """Return whether anything is hidden in the project, so that reads only then pay for the check."""
    row = sql.one(_HAS_TOMBSTONES)
    return row is not None and bool(row[0])
