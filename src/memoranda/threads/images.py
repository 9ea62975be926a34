"""Images of the client and of a thread: added, changed, listed, removed, and found by their description."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from memoranda.engine.scope import Scope as EngineScope
from memoranda.threads.apis import ILlm
from memoranda.threads.backend import ImageRows
from memoranda.threads.content import ImageMimeType
from memoranda.threads.image_checks import checked_image
from memoranda.threads.image_parts import caption
from memoranda.threads.message_forms import lifetime
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import TimeToLiveAnchor
from memoranda.threads.records import AGENT_MEMORY_KEY, ImageRecord, Metadata, check_metadata
from memoranda.threads.resolution import ImageLimits
from memoranda.threads.scope import ResolvedScope, ThreadOwners, check_id
from memoranda.threads.stored import Given, ImageUpdate, JsonObject, Listing, NewImage, StoredImage

MAX_LIST_LIMIT: Final = 10_000
"""How many records a listing returns at most where no ``limit`` is given."""

# What a caller may pass to the store of the original; here it has no meaning.
_IGNORED: Final = frozenset({"batch_size"})

_Id = str | NotSet | None


@dataclass(frozen=True, slots=True)
class ImageDesk:
    """What the calls about images stand on. ``owners`` is None for the client; ``limits`` are those in force."""

    backend: ImageRows
    llm: ILlm | None
    limits: ImageLimits
    owners: ThreadOwners | None = None

    def found(self, image_id: str) -> StoredImage | None:
        """Return an image that these calls may see: the client's any, a thread's its own."""
        image = self.backend.get_image(image_id)
        hidden = image is not None and self.owners is not None and image.thread_id != self.owners.thread_id
        return None if hidden else image

    def required(self, image_id: str) -> StoredImage:
        """Return an image; raises ``KeyError``."""
        image = self.found(image_id)
        if image is None:
            raise KeyError(f"there is no image {image_id!r} here")
        return image


class _Images(ABC):
    """What both have: the calls that name an image by its id."""

    @abstractmethod
    def _images(self) -> ImageDesk:
        """Return what the calls stand on; the place to refuse them once all is closed."""

    def update_image(
        self,
        image_id: str,
        image: bytes | NotSet = NOT_SET,
        description: str | NotSet | None = NOT_SET,
        mime_type: ImageMimeType | str | NotSet = NOT_SET,
        metadata: Metadata | NotSet | None = NOT_SET,
        timestamp: str | NotSet | None = NOT_SET,
        ttl_days: int | NotSet | None = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | str | NotSet = NOT_SET,
    ) -> str:
        """Change what is given of an image, and return its id.

        ``image`` and ``mime_type`` go together. A ``description`` of None has the model describe the image anew.
        Metadata is replaced whole. Raises ``KeyError`` for an unknown image and ``ValueError`` for a wrong value, or
        for a new lifetime of an image that is part of a message.
        """
        desk = self._images()
        stored = desk.required(image_id)
        data, kind = _new_bytes(image, mime_type, desk.limits)
        life = None if ttl_days is NOT_SET and ttl_anchor is NOT_SET else lifetime(ttl_days, ttl_anchor)
        if life is not None and stored.message_id is not None:
            raise ValueError(f"image {image_id!r} is part of message {stored.message_id!r}, and ends with it")
        update = ImageUpdate(
            data=None if data is None else Given(data),
            mime_type=None if kind is None else Given(kind.value),
            description=_new_description(desk, stored, description, data),
            metadata=None if metadata is NOT_SET else Given(check_metadata(metadata)),
            timestamp_text=None if timestamp is NOT_SET else Given(timestamp),
            lifetime=life,
        )
        if update != ImageUpdate():
            desk.backend.update_image(image_id, update)
        return image_id

    def delete_image(self, image_id: str) -> int:
        """Remove an image; return 1, or 0 when there is none.

        Raises ``ValueError`` for one that is part of a message: delete the message.
        """
        desk = self._images()
        stored = desk.found(image_id)
        if stored is None:
            return 0
        if stored.message_id is not None:
            raise ValueError(f"image {image_id!r} is part of message {stored.message_id!r}; delete the message")
        return int(desk.backend.delete_image(image_id).found)


class ClientImages(_Images):
    """The client's calls about images."""

    def add_image(
        self,
        /,
        image: bytes,
        description: str | NotSet | None = NOT_SET,
        mime_type: ImageMimeType | str | NotSet | None = NOT_SET,
        image_id: str | NotSet = NOT_SET,
        user_id: _Id = NOT_SET,
        agent_id: _Id = NOT_SET,
        thread_id: _Id = NOT_SET,
        *,
        metadata: Metadata | NotSet | None = NOT_SET,
        timestamp: str | NotSet | None = NOT_SET,
        ttl_days: int | NotSet | None = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | str | NotSet = NOT_SET,
        **store_kwargs: Any,
    ) -> str:
        """Store an image and return its id. It belongs to a user, an agent or a thread, at least.

        It is found by its ``description``: the model's where none is given. The format is found in the bytes where
        ``mime_type`` is not given. Raises ``ValueError`` without an owner, for bytes that are no image or too many, and
        without both description and model.
        """
        given = {"user_id": user_id, "agent_id": agent_id, "thread_id": thread_id}
        owners = {name: _owner(name, value) for name, value in given.items()}
        if not any(owners.values()):
            raise ValueError("an image needs an owner: give user_id, agent_id or thread_id")
        draft = _Draft(image, description, mime_type, image_id, metadata, timestamp)
        new = _new_image(self._images(), draft, ttl_days, ttl_anchor, store_kwargs)
        return self._images().backend.add_image(_owned(new, **owners)).id

    def list_images(
        self,
        image_id: str | NotSet = NOT_SET,
        user_id: _Id = NOT_SET,
        agent_id: _Id = NOT_SET,
        thread_id: _Id = NOT_SET,
        metadata_filter: JsonObject | NotSet | None = NOT_SET,
        include_bytes: bool | NotSet = NOT_SET,
        limit: int | NotSet | None = NOT_SET,
    ) -> list[ImageRecord]:
        """Return images, oldest first; of an omitted owner any, of one that is None those without it.

        ``limit`` is 10 000 where omitted and none where None. A ``metadata_filter`` of None asks for images without
        metadata. ``include_bytes`` needs ``image_id`` and an owner, else ``ValueError``.
        """
        owners = (user_id, agent_id, thread_id)
        if _wants_bytes(include_bytes, image_id) and not any(owner not in (NOT_SET, None) for owner in owners):
            raise ValueError("include_bytes=True needs an owner: user_id, agent_id or thread_id")
        scope = ResolvedScope(user_id, agent_id, thread_id).to_engine()
        return _listed(self._images(), scope, image_id, metadata_filter, include_bytes, limit)


class ThreadImages(_Images):
    """A thread's calls about images, which are its own."""

    def add_image(
        self,
        /,
        image: bytes,
        description: str | NotSet | None = NOT_SET,
        mime_type: ImageMimeType | str | NotSet | None = NOT_SET,
        image_id: str | NotSet = NOT_SET,
        user_id: _Id = NOT_SET,
        agent_id: _Id = NOT_SET,
        thread_id: _Id = NOT_SET,
        *,
        metadata: Metadata | NotSet | None = NOT_SET,
        timestamp: str | NotSet | None = NOT_SET,
        ttl_days: int | NotSet | None = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | str | NotSet = NOT_SET,
        **store_kwargs: Any,
    ) -> str:
        """Store an image of this thread and return its id; as on the client otherwise.

        Raises ``ValueError`` for an owner that is not the thread's.
        """
        desk = self._images()
        owners = _owners(desk)
        for name, value in (("user_id", user_id), ("agent_id", agent_id), ("thread_id", thread_id)):
            if value is not NOT_SET and value != getattr(owners, name):
                raise ValueError(f"{name} is {value!r}; an image of this thread has {getattr(owners, name)!r}")
        draft = _Draft(image, description, mime_type, image_id, metadata, timestamp)
        new = _new_image(desk, draft, ttl_days, ttl_anchor, store_kwargs)
        owned = _owned(new, user_id=owners.user_id, agent_id=owners.agent_id, thread_id=owners.thread_id)
        return desk.backend.add_image(owned).id

    def list_images(
        self,
        image_id: str | NotSet = NOT_SET,
        metadata_filter: JsonObject | NotSet | None = NOT_SET,
        include_bytes: bool | NotSet = NOT_SET,
        limit: int | NotSet | None = NOT_SET,
    ) -> list[ImageRecord]:
        """Return this thread's images, oldest first; as on the client otherwise."""
        desk = self._images()
        _wants_bytes(include_bytes, image_id)
        scope = ResolvedScope(thread_id=_owners(desk).thread_id).to_engine()
        return _listed(desk, scope, image_id, metadata_filter, include_bytes, limit)


def image_record(stored: StoredImage) -> ImageRecord:
    """Return a stored image as callers read it."""
    metadata = {name: value for name, value in (stored.metadata or {}).items() if name != AGENT_MEMORY_KEY}
    return ImageRecord(
        stored.id,
        content=stored.description,
        timestamp=stored.timestamp_text or stored.event_time.isoformat(),
        metadata=metadata or None,
        thread_id=stored.thread_id,
        user_id=stored.user_id,
        agent_id=stored.agent_id,
        message_id=stored.message_id,
        mime_type=ImageMimeType(stored.mime_type),
        bytes=stored.data,
    )


# --- parts of the calls


@dataclass(frozen=True, slots=True)
class _Draft:
    image: bytes
    description: str | NotSet | None
    mime_type: ImageMimeType | str | NotSet | None
    image_id: str | NotSet
    metadata: Metadata | NotSet | None
    timestamp: str | NotSet | None


def _new_image(
    desk: ImageDesk,
    draft: _Draft,
    ttl_days: int | NotSet | None,
    ttl_anchor: TimeToLiveAnchor | str | NotSet,
    store_kwargs: dict[str, Any],
) -> NewImage:
    unknown = sorted(store_kwargs.keys() - _IGNORED)
    if unknown:
        raise TypeError(f"add_image takes no {', '.join(unknown)}")
    data, kind = checked_image(draft.image, draft.mime_type, desk.limits)
    image_id = None if draft.image_id is NOT_SET else check_id("image_id", draft.image_id)
    metadata = None if draft.metadata is NOT_SET else check_metadata(draft.metadata)
    life = lifetime(ttl_days, ttl_anchor)
    timestamp = None if draft.timestamp is NOT_SET else draft.timestamp
    description = _checked_description(draft.description, lambda: caption(desk.llm, data, kind))
    return NewImage(data, kind.value, description, image_id, metadata=metadata, timestamp_text=timestamp, lifetime=life)


def _owned(new: NewImage, *, user_id: str | None, agent_id: str | None, thread_id: str | None) -> NewImage:
    return replace(new, user_id=user_id, agent_id=agent_id, thread_id=thread_id)


def _owner(name: str, value: _Id) -> str | None:
    return None if value is NOT_SET or value is None else check_id(name, value)


def _owners(desk: ImageDesk) -> ThreadOwners:
    if desk.owners is None:
        raise RuntimeError("these are calls of a thread, and no thread was given")
    return desk.owners


def _checked_description(description: str | NotSet | None, described: Callable[[], str]) -> str:
    if description is NOT_SET or description is None:
        return described()
    if not isinstance(description, str):
        raise TypeError(f"description is of type {type(description).__name__}; give a string, or None for the model's")
    return description


def _new_bytes(
    image: bytes | NotSet, mime_type: ImageMimeType | str | NotSet, limits: ImageLimits
) -> tuple[bytes | None, ImageMimeType | None]:
    if (image is NOT_SET) != (mime_type is NOT_SET):
        raise ValueError("image and mime_type are changed together; give both")
    return (None, None) if image is NOT_SET else checked_image(image, mime_type, limits)


def _new_description(
    desk: ImageDesk, stored: StoredImage, description: str | NotSet | None, data: bytes | None
) -> Given[str] | None:
    if description is NOT_SET:
        return None

    def described() -> str:
        shown = data or _bytes_of(desk, stored)
        return caption(desk.llm, *checked_image(shown, NOT_SET, desk.limits))

    return Given(_checked_description(description, described))


def _bytes_of(desk: ImageDesk, stored: StoredImage) -> bytes:
    found = desk.backend.get_image(stored.id, include_bytes=True)
    if found is None or found.data is None:
        raise KeyError(f"image {stored.id!r} is gone")
    return found.data


def _wants_bytes(include_bytes: bool | NotSet, image_id: str | NotSet) -> bool:
    wanted = include_bytes is not NOT_SET and bool(include_bytes)
    if wanted and image_id is NOT_SET:
        raise ValueError("include_bytes=True needs image_id: bytes are read one image at a time")
    return wanted


def _listed(
    desk: ImageDesk,
    scope: EngineScope,
    image_id: str | NotSet,
    metadata_filter: JsonObject | NotSet | None,
    include_bytes: bool | NotSet,
    limit: int | NotSet | None,
) -> list[ImageRecord]:
    listing = Listing(
        scope=scope,
        filter=None if metadata_filter is NOT_SET else Given(metadata_filter),
        limit=MAX_LIST_LIMIT if limit is NOT_SET else limit,
        ids=() if image_id is NOT_SET else (check_id("image_id", image_id),),
        include_bytes=_wants_bytes(include_bytes, image_id),
    )
    return [image_record(stored) for stored in desk.backend.list_images(listing)]
