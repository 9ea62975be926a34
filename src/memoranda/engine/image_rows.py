"""The rows of images and of their bytes. The rules of ``engine.rows`` hold here too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memoranda.engine.filters import Filter
from memoranda.engine.records import Image
from memoranda.engine.scope import Scope


@dataclass(frozen=True, slots=True)
class Blob:
    """The bytes of an image as they were handed in."""

    id: str
    mime_type: str
    data: bytes
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ImageQuery:
    """A listing of images, latest written first, below ``before_key`` where one is given."""

    scope: Scope
    now: datetime
    where: Filter | None = None
    before_key: int | None = None
    limit: int = 50


class ImageRows(Protocol):
    """Images; the bytes are read apart."""

    def put_blob(self, blob: Blob) -> None:
        """Store bytes in place of those of the same id."""
        ...

    def data(self, blob_ids: Sequence[str]) -> Mapping[str, bytes]:
        """Return the bytes of the blobs that exist, by id."""
        ...

    def insert(self, image: Image) -> None:
        """Add an image; its blob is there already."""
        ...

    def update(self, image: Image) -> None:
        """Write description, metadata and times of an existing image; owners and blob stay."""
        ...

    def get(self, image_ids: Sequence[str]) -> Sequence[Image]:
        """Return the images that exist and are not hidden, expired ones included, in key order."""
        ...

    def of_turns(self, turn_ids: Sequence[str]) -> Sequence[Image]:
        """Return the images that are parts of these turns, in key order."""
        ...

    def query(self, query: ImageQuery) -> Sequence[Image]: ...

    def delete(self, image_ids: Sequence[str]) -> int:
        """Delete images with their bytes; the index is the caller's. Return how many went."""
        ...
