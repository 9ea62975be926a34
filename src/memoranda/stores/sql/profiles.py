"""Rows of profiles of users and agents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import ColumnElement, Select, bindparam, delete, exists, or_, select

from memoranda.engine.records import Profile
from memoranda.stores.schema import profiles, tombstones
from memoranda.stores.sql.codec import from_micros, object_from, optional_json, to_micros
from memoranda.stores.sql.statement import Executor, Row, Statement
from memoranda.stores.sql.upsert import insert

_FIELDS = ("subject", "id", "key", "information", "created_at", "updated_at", "metadata")
_COLUMNS = tuple(profiles.c[name] for name in _FIELDS)
_IN_PROJECT = profiles.c.project_id == bindparam("project_id")
_OF_SUBJECT = (_IN_PROJECT, profiles.c.subject == bindparam("subject"))
_ONE = (*_OF_SUBJECT, profiles.c.id == bindparam("id"))

_given = insert(profiles).values({name: bindparam(name) for name in ("project_id", *_FIELDS)})
_PUT = Statement(
    _given.on_conflict_do_update(
        index_elements=["project_id", "subject", "id"],
        set_={name: bindparam(name) for name in ("key", "information", "created_at", "updated_at", "metadata")},
    )
)
_DELETE = Statement(delete(profiles).where(*_ONE))


def _not_hidden() -> ColumnElement[bool]:
    """Return "no deletion of this user covers it"; a profile of an agent belongs to no user."""
    covers = (
        tombstones.c.project_id == profiles.c.project_id,
        tombstones.c.user_id == profiles.c.id,
        tombstones.c.upto_key >= profiles.c.key,
        tombstones.c.session_id.is_(None),
        tombstones.c.snapshot_id.is_(None),
    )
    return or_(profiles.c.subject != "user", ~exists(select(1).select_from(tombstones).where(*covers)))


def _visible(query: Select[tuple[object, ...]], *, hides: bool) -> Select[tuple[object, ...]]:
    return query.where(_not_hidden()) if hides else query


@lru_cache
def _get(hides: bool) -> Statement:
    return Statement(_visible(select(*_COLUMNS).where(*_ONE), hides=hides))


@lru_cache
def _page(hides: bool) -> Statement:
    query = select(*_COLUMNS).where(*_OF_SUBJECT, profiles.c.id > bindparam("after"))
    return Statement(_visible(query, hides=hides).order_by(profiles.c.id).limit(bindparam("page_size")))


def _profile(row: Row) -> Profile:
    return Profile(
        subject=row[0],
        id=row[1],
        key=row[2],
        information=row[3],
        created_at=from_micros(row[4]),
        updated_at=from_micros(row[5]),
        metadata=object_from(row[6]),
    )


class SqlProfileRows:
    """``ProfileRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def put(self, profile: Profile) -> None:
        self._sql.execute(
            _PUT,
            subject=profile.subject,
            id=profile.id,
            key=profile.key,
            information=profile.information,
            created_at=to_micros(profile.created_at),
            updated_at=to_micros(profile.updated_at),
            metadata=optional_json(profile.metadata),
        )

    def get(self, subject: str, profile_id: str) -> Profile | None:
        row = self._sql.one(_get(self._sql.hides), subject=subject, id=profile_id)
        return None if row is None else _profile(row)

    def page(self, subject: str, after: str, limit: int) -> Sequence[Profile]:
        rows = self._sql.all(_page(self._sql.hides), subject=subject, after=after, page_size=limit)
        return [_profile(row) for row in rows]

    def delete(self, subject: str, profile_id: str) -> int:
        return self._sql.execute(_DELETE, subject=subject, id=profile_id)
