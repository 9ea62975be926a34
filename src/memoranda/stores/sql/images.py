"""Rows of images and of their bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache

from sqlalchemy import ColumnElement, Select, and_, bindparam, delete, insert, or_, select, update

from memoranda.engine.image_rows import Blob, ImageQuery
from memoranda.engine.records import Image
from memoranda.stores.schema import blobs, images
from memoranda.stores.sql.codec import (
    from_micros,
    object_from,
    optional_json,
    optional_micros,
    optional_time,
    to_micros,
)
from memoranda.stores.sql.filters import filter_clause
from memoranda.stores.sql.hidden import not_hidden
from memoranda.stores.sql.statement import Executor, Row, Statement, chunks, in_list, list_parameters, list_size
from memoranda.stores.sql.upsert import insert as upsert

_FIELDS = (
    "id",
    "key",
    "user_id",
    "blob_id",
    "description",
    "created_at",
    "updated_at",
    "event_time",
    "agent_id",
    "session_id",
    "turn_id",
    "metadata",
    "expires_at",
)
_COLUMNS = (*(images.c[name] for name in _FIELDS), blobs.c.mime_type)
_BLOB = and_(blobs.c.project_id == images.c.project_id, blobs.c.id == images.c.blob_id)
_IN_PROJECT = images.c.project_id == bindparam("project_id")
_ALIVE = or_(images.c.expires_at.is_(None), images.c.expires_at > bindparam("now"))

_INSERT = Statement(insert(images).values({name: bindparam(name) for name in ("project_id", *_FIELDS)}))
_CHANGED = ("description", "metadata", "event_time", "expires_at", "updated_at")
_UPDATE = Statement(
    update(images)
    .where(_IN_PROJECT, images.c.id == bindparam("image_id"))
    .values({name: bindparam(f"new_{name}") for name in _CHANGED})
)
_BLOB_FIELDS = ("mime_type", "digest", "data", "created_at")
_PUT_BLOB = Statement(
    upsert(blobs)
    .values({name: bindparam(name) for name in ("project_id", "id", *_BLOB_FIELDS)})
    .on_conflict_do_update(index_elements=["project_id", "id"], set_={name: bindparam(name) for name in _BLOB_FIELDS})
)


def _visible(query: Select[tuple[object, ...]], *, hides: bool) -> Select[tuple[object, ...]]:
    return query.where(not_hidden(images)) if hides else query


@lru_cache
def _among(column: str, size: int, hides: bool) -> Statement:
    wanted = in_list(images.c[column], "image", size)
    return Statement(_visible(select(*_COLUMNS).join(blobs, _BLOB).where(_IN_PROJECT, wanted), hides=hides))


@lru_cache
def _data(size: int) -> Statement:
    in_project = blobs.c.project_id == bindparam("project_id")
    return Statement(select(blobs.c.id, blobs.c.data).where(in_project, in_list(blobs.c.id, "blob", size)))


@lru_cache
def _delete(size: int) -> Statement:
    return Statement(delete(images).where(_IN_PROJECT, in_list(images.c.id, "image", size)))


@lru_cache
def _delete_blobs(size: int) -> Statement:
    owned = select(images.c.blob_id).where(_IN_PROJECT, in_list(images.c.id, "image", size))
    in_project: ColumnElement[bool] = blobs.c.project_id == bindparam("project_id")
    return Statement(delete(blobs).where(in_project, blobs.c.id.in_(owned)))


def _listing(query: ImageQuery, parameters: dict[str, object], *, hides: bool) -> Statement:
    wanted = select(*_COLUMNS).join(blobs, _BLOB).where(_IN_PROJECT, _ALIVE)
    scope = query.scope
    named = {"user_id": scope.user_id, "agent_id": scope.agent_id, "session_id": scope.session_id}
    for name, value in named.items():
        if value is not None:
            parameters[name] = value
            wanted = wanted.where(images.c[name] == bindparam(name))
    if query.before_key is not None:
        parameters["before_key"] = query.before_key
        wanted = wanted.where(images.c.key < bindparam("before_key"))
    if query.where is not None:
        wanted = wanted.where(filter_clause(query.where, images, parameters))
    return Statement(_visible(wanted, hides=hides).order_by(images.c.key.desc()).limit(bindparam("page_size")))


def _image(row: Row) -> Image:
    return Image(
        id=row[0],
        key=row[1],
        user_id=row[2],
        blob_id=row[3],
        description=row[4] or "",
        created_at=from_micros(row[5]),
        updated_at=from_micros(row[6]),
        event_time=from_micros(row[7]),
        agent_id=row[8],
        session_id=row[9],
        turn_id=row[10],
        metadata=object_from(row[11]),
        expires_at=optional_time(row[12]),
        mime_type=row[13],
    )


class SqlImageRows:
    """``ImageRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def put_blob(self, blob: Blob) -> None:
        self._sql.execute(
            _PUT_BLOB,
            id=blob.id,
            mime_type=blob.mime_type,
            digest=hashlib.blake2b(blob.data, digest_size=16).hexdigest(),
            data=blob.data,
            created_at=to_micros(blob.created_at),
        )

    def data(self, blob_ids: Sequence[str]) -> Mapping[str, bytes]:
        return {
            row[0]: bytes(row[1])
            for part in chunks(blob_ids)
            for row in self._sql.all(_data(list_size(len(part))), **list_parameters("blob", part))
        }

    def insert(self, image: Image) -> None:
        self._sql.execute(
            _INSERT,
            id=image.id,
            key=image.key,
            user_id=image.user_id,
            blob_id=image.blob_id,
            description=image.description,
            created_at=to_micros(image.created_at),
            updated_at=to_micros(image.updated_at),
            event_time=to_micros(image.event_time),
            agent_id=image.agent_id,
            session_id=image.session_id,
            turn_id=image.turn_id,
            metadata=optional_json(image.metadata),
            expires_at=optional_micros(image.expires_at),
        )

    def update(self, image: Image) -> None:
        changed = self._sql.execute(
            _UPDATE,
            image_id=image.id,
            new_description=image.description,
            new_metadata=optional_json(image.metadata),
            new_event_time=to_micros(image.event_time),
            new_expires_at=optional_micros(image.expires_at),
            new_updated_at=to_micros(image.updated_at),
        )
        if not changed:
            raise LookupError(f"image {image.id!r} is gone; nothing was updated")

    def get(self, image_ids: Sequence[str]) -> Sequence[Image]:
        return self._all("id", image_ids)

    def of_turns(self, turn_ids: Sequence[str]) -> Sequence[Image]:
        return self._all("turn_id", [turn_id for turn_id in turn_ids if turn_id])

    def _all(self, column: str, values: Sequence[str]) -> Sequence[Image]:
        found = [
            _image(row)
            for part in chunks(values)
            for row in self._sql.all(
                _among(column, list_size(len(part)), self._sql.hides), **list_parameters("image", part)
            )
        ]
        return sorted(found, key=lambda image: image.key)

    def query(self, query: ImageQuery) -> Sequence[Image]:
        parameters: dict[str, object] = {"now": to_micros(query.now), "page_size": query.limit}
        statement = _listing(query, parameters, hides=self._sql.hides)
        return [_image(row) for row in self._sql.all(statement, **parameters)]

    def delete(self, image_ids: Sequence[str]) -> int:
        return sum(self._delete_part(part) for part in chunks(image_ids))

    def _delete_part(self, image_ids: Sequence[str]) -> int:
        given, size = list_parameters("image", image_ids), list_size(len(image_ids))
        self._sql.execute(_delete_blobs(size), **given)
        return self._sql.execute(_delete(size), **given)
