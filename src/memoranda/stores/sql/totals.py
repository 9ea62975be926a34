"""How much a project holds, by noun; for ``status``."""

from __future__ import annotations

from sqlalchemy import BindParameter, bindparam, func, literal, select, union_all

from memoranda.engine.records import MemoryStatus
from memoranda.stores.schema import memories, sessions, snapshots, turns
from memoranda.stores.sql.statement import Statement

_PROJECT: BindParameter[str] = bindparam("project_id")

TOTALS = Statement(
    union_all(
        select(literal("turns"), func.count()).select_from(turns).where(turns.c.project_id == _PROJECT),
        select(literal("sessions"), func.count()).select_from(sessions).where(sessions.c.project_id == _PROJECT),
        select(literal("snapshots"), func.count()).select_from(snapshots).where(snapshots.c.project_id == _PROJECT),
        select(literal("memory:") + memories.c.kind, func.count())
        .where(memories.c.project_id == _PROJECT, memories.c.status == MemoryStatus.CURRENT.value)
        .group_by(memories.c.kind),
    )
)
"""Rows of (noun, number); the current memories of a kind are ``memory:<kind>``."""
