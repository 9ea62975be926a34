"""Images: their bytes, found by their description. One that is part of a turn ends with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from memoranda.engine.analyser import Analyser
from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.deletion_counts import DeletionCounts
from memoranda.engine.drafts import UNSET, Unset
from memoranda.engine.ids import new_id
from memoranda.engine.image_rows import Blob, ImageQuery
from memoranda.engine.indexing import entry_for_image
from memoranda.engine.jobs.planner import JobPlanner
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.engine.records import Identity, Image, JsonObject, VectorState
from memoranda.engine.text import clean_object, clean_text, require_storable_id
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryNotFoundError

T = TypeVar("T")

_NOBODY = Identity()


@dataclass(frozen=True, slots=True)
class ImageDraft:
    """An image to add. The session of ``identity`` is the conversation it belongs to, ``turn_id`` what it is part of.

    ``event_time`` is now when it is None.
    """

    data: bytes
    mime_type: str
    description: str = ""
    id: str | None = None
    identity: Identity = _NOBODY
    turn_id: str = ""
    metadata: JsonObject | None = None
    event_time: datetime | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ImageChanges:
    """What changes about an image; ``data`` and ``mime_type`` go together."""

    data: bytes | Unset = UNSET
    mime_type: str | Unset = UNSET
    description: str | Unset = UNSET
    metadata: JsonObject | Unset | None = UNSET
    event_time: datetime | Unset = UNSET
    expires_at: datetime | Unset | None = UNSET


class ImageWriter:
    """Writes images in transactions that are the caller's."""

    def __init__(self, analyser: Analyser, clock: Clock, config: ProjectConfig, planner: JobPlanner) -> None:
        self._analyser = analyser
        self._clock = clock
        self._config = config
        self._planner = planner

    def insert(self, tx: Transaction, draft: ImageDraft) -> Image:
        """Add an image with its bytes; ``MemoryConflictError`` for an id that is taken."""
        image_id = require_storable_id("image id", draft.id) if draft.id else new_id()
        if tx.images.get([image_id]):
            raise MemoryConflictError(f"there is an image {image_id!r} already; choose another id", code="IMAGE_EXISTS")
        _check_bytes(draft.data)
        now, owner = self._clock.now(), draft.identity
        image = Image(
            id=image_id,
            key=tx.projects.allocate_keys(1),
            user_id=owner.user_id,
            blob_id=new_id(),
            mime_type=draft.mime_type,
            description=clean_text(draft.description),
            created_at=now,
            updated_at=now,
            event_time=draft.event_time or now,
            agent_id=owner.agent_id,
            session_id=owner.session_id,
            turn_id=draft.turn_id,
            metadata=_cleaned(draft.metadata),
            expires_at=draft.expires_at,
        )
        tx.images.put_blob(Blob(image.blob_id, image.mime_type, draft.data, now))
        tx.images.insert(image)
        self._index(tx, image)
        return image

    def update(self, tx: Transaction, image: Image, changes: ImageChanges) -> Image:
        """Change an image that exists, and index it anew where that shows."""
        now = self._clock.now()
        changed = replace(_changed(image, changes), updated_at=now)
        if not isinstance(changes.data, Unset):
            _check_bytes(changes.data)
            tx.images.put_blob(Blob(image.blob_id, changed.mime_type, changes.data, now))
        tx.images.update(changed)
        if (changed.description, changed.expires_at) != (image.description, image.expires_at):
            tx.index.remove([image.key])
            self._index(tx, changed)
        else:
            tx.index.replace_values([entry_for_image(changed, self._analyser, self._config)])
        return changed

    def _index(self, tx: Transaction, image: Image) -> None:
        entry = entry_for_image(image, self._analyser, self._config, embed=self._planner.embeds_memories)
        tx.index.add([entry])
        now = self._clock.now()
        self._planner.after_lifetimes(tx, [image.expires_at], now)
        if entry.vector_state is VectorState.PENDING:
            self._planner.after_memories(tx, image.user_id, now)


class ImageService:
    """Keeps images. Their bytes are read apart, and their vectors made by a job."""

    def __init__(self, store: Store, project_id: str, *, writer: ImageWriter, clock: Clock) -> None:
        self._store = store
        self._project_id = project_id
        self._clock = clock
        self.writer = writer

    def add(self, draft: ImageDraft) -> Image:
        """Add an image; ``MemoryConflictError`` for an id that is taken."""
        with self._store.write(self._project_id) as tx:
            return self.writer.insert(tx, draft)

    def get(self, image_id: str) -> Image | None:
        """Return an image that is alive, or None."""
        with self._store.read(self._project_id) as tx:
            return self._alive(tx, image_id)

    def data(self, images: Sequence[Image]) -> Mapping[str, bytes]:
        """Return the bytes of images, by the images' ids."""
        with self._store.read(self._project_id) as tx:
            found = tx.images.data([image.blob_id for image in images])
        return {image.id: found[image.blob_id] for image in images if image.blob_id in found}

    def of_turns(self, turn_ids: Sequence[str]) -> Sequence[Image]:
        """Return the images that are parts of turns."""
        with self._store.read(self._project_id) as tx:
            return tx.images.of_turns(turn_ids)

    def query(self, query: ImageQuery) -> Sequence[Image]:
        """Return images, latest written first."""
        with self._store.read(self._project_id) as tx:
            return tx.images.query(query)

    def update(self, image_id: str, changes: ImageChanges) -> Image:
        """Change an image; ``MemoryNotFoundError``."""
        with self._store.write(self._project_id) as tx:
            return self.writer.update(tx, self._required(tx, image_id), changes)

    def delete(self, image_id: str) -> DeletionCounts:
        """Remove an image with its bytes; ``MemoryNotFoundError``."""
        with self._store.write(self._project_id) as tx:
            return remove_images(tx, [self._required(tx, image_id)])

    def _required(self, tx: Transaction, image_id: str) -> Image:
        found = self._alive(tx, image_id)
        if found is None:
            raise MemoryNotFoundError(f"there is no image {image_id!r}", code="NOT_FOUND")
        return found

    def _alive(self, tx: Transaction, image_id: str) -> Image | None:
        now = self._clock.now()
        alive = (image for image in tx.images.get([image_id]) if image.expires_at is None or image.expires_at > now)
        return next(alive, None)


def remove_images(tx: Transaction, images: Sequence[Image]) -> DeletionCounts:
    """Remove images with their bytes and index rows."""
    if not images:
        return DeletionCounts()
    keys = [image.key for image in images]
    rows = tx.search.documents(keys)
    return DeletionCounts(
        postings=tx.index.remove(keys),
        vectors=sum(row.vector_state is VectorState.PRESENT for row in rows),
        images=tx.images.delete([image.id for image in images]),
    )


def remove_images_of_turns(tx: Transaction, turn_ids: Sequence[str]) -> DeletionCounts:
    """Remove the images that are parts of turns."""
    return remove_images(tx, tx.images.of_turns(turn_ids))


def _changed(image: Image, changes: ImageChanges) -> Image:
    if isinstance(changes.data, Unset) != isinstance(changes.mime_type, Unset):
        raise MemoryBadRequestError("new bytes of an image need their mime_type, and it them", code="INVALID_REQUEST")
    metadata = changes.metadata
    return replace(
        image,
        mime_type=_or(changes.mime_type, image.mime_type),
        description=clean_text(_or(changes.description, image.description)),
        metadata=image.metadata if isinstance(metadata, Unset) else _cleaned(metadata),
        event_time=_or(changes.event_time, image.event_time),
        expires_at=image.expires_at if isinstance(changes.expires_at, Unset) else changes.expires_at,
    )


def _or(value: T | Unset, otherwise: T) -> T:
    return otherwise if isinstance(value, Unset) else value


def _cleaned(metadata: JsonObject | None) -> JsonObject | None:
    return clean_object("metadata", metadata) if metadata else None


def _check_bytes(data: bytes) -> None:
    if not data:
        raise MemoryBadRequestError("the image has no bytes", code="INVALID_REQUEST")
