"""Profiles, the deletion of users and agents, and images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from memoranda.engine.drafts import UNSET
from memoranda.engine.filters import matches
from memoranda.engine.image_rows import ImageQuery
from memoranda.engine.images import ImageChanges, ImageDraft
from memoranda.engine.records import Identity, Image, Profile
from memoranda.sdk.errors import MemoryNotFoundError
from memoranda.threads.backend import Subject
from memoranda.threads.engine_backend.base import PAGE, EngineParts, event_time, filter_of, newest_first
from memoranda.threads.engine_backend.forms import image_of, profile_of
from memoranda.threads.stored import ImageUpdate, Listing, NewImage, Removed, StoredImage, StoredProfile


class EngineProfiles(EngineParts):
    """``ProfileRows`` over an engine."""

    def put_profile(
        self, subject: Subject, profile_id: str, information: str, *, metadata: dict[str, object] | None = None
    ) -> StoredProfile:
        return profile_of(self.engine.profiles.put(subject, profile_id, information, metadata=metadata))

    def get_profile(self, subject: Subject, profile_id: str) -> StoredProfile | None:
        found = self.engine.profiles.get(subject, profile_id)
        return None if found is None else profile_of(found)

    def list_profiles(self, subject: Subject, listing: Listing) -> Sequence[StoredProfile]:
        where = filter_of(listing)
        found = [each for each in self._profiles(subject) if where is None or matches(where, each.metadata or {}, "")]
        in_order = sorted(found, key=lambda each: (each.created_at, each.key))
        first = 0 if listing.limit is None else max(len(in_order) - max(listing.limit, 0), 0)
        return [profile_of(each) for each in in_order[first:]]

    def _profiles(self, subject: Subject) -> list[Profile]:
        found: list[Profile] = []
        while page := self.engine.profiles.page(subject, after=found[-1].id if found else "", limit=PAGE):
            found += page
        return found

    def delete_owner(self, subject: Subject, owner_id: str, *, cascade: bool = True) -> Removed:
        if not owner_id.strip():
            return Removed(found=False)
        found = self.engine.profiles.get(subject, owner_id) is not None
        if not cascade:
            return Removed(found=self.engine.profiles.delete(subject, owner_id))
        deletion = self.engine.deletion
        counts = deletion.delete_user(owner_id) if subject == "user" else deletion.delete_agent(owner_id)
        return Removed(found=found, counts=asdict(counts))


class EngineImages(EngineParts):
    """``ImageRows`` over an engine."""

    def add_image(self, new: NewImage) -> StoredImage:
        added = self.engine.images.add(
            ImageDraft(
                data=new.data,
                mime_type=new.mime_type,
                description=new.description,
                id=new.id,
                identity=Identity(new.user_id or "", new.agent_id or "", new.thread_id or ""),
                turn_id=new.message_id or "",
                metadata=new.metadata,
                event_time=event_time(new.timestamp_text),
                expires_at=self._ends(new.lifetime, self._now(), new.timestamp_text),
            )
        )
        return image_of(added)

    def get_image(self, image_id: str, *, include_bytes: bool = False) -> StoredImage | None:
        found = self.engine.images.get(image_id)
        return None if found is None else self._shown([found], include_bytes=include_bytes)[0]

    def update_image(self, image_id: str, update: ImageUpdate) -> StoredImage:
        before = self.engine.images.get(image_id)
        if before is None:
            raise MemoryNotFoundError(f"there is no image {image_id!r}", code="NOT_FOUND")
        text = image_of(before).timestamp_text
        if update.timestamp_text is not None:
            text = update.timestamp_text.value
        changes = ImageChanges(
            data=UNSET if update.data is None else update.data.value,
            mime_type=UNSET if update.mime_type is None else update.mime_type.value,
            description=UNSET if update.description is None else update.description.value,
            metadata=UNSET if update.metadata is None else update.metadata.value,
            event_time=UNSET if update.timestamp_text is None else event_time(text) or before.created_at,
            expires_at=UNSET if update.lifetime is None else self._ends(update.lifetime, before.created_at, text),
        )
        return image_of(self.engine.images.update(image_id, changes))

    def delete_image(self, image_id: str) -> Removed:
        try:
            counts = self.engine.images.delete(image_id)
        except MemoryNotFoundError:
            return Removed(found=False)
        return Removed(found=True, counts=asdict(counts))

    def list_images(self, listing: Listing, *, message_id: str | None = None) -> Sequence[StoredImage]:
        where, now = filter_of(listing), self._now()
        if message_id is not None or listing.ids:
            images = self._named(listing.ids, message_id)
            kept = [
                image
                for image in images
                if _inside(image, listing) and (where is None or matches(where, image.metadata or {}, image.agent_id))
            ]
            return self._shown(kept, include_bytes=listing.include_bytes)
        with self._read() as tx:

            def page(below: int | None) -> Sequence[Image]:
                return tx.images.query(ImageQuery(listing.scope, now, where, below, PAGE))

            found = newest_first(page, lambda image: image.key, listing.limit)
        return self._shown(found, include_bytes=listing.include_bytes)

    def _named(self, ids: Sequence[str], message_id: str | None) -> list[Image]:
        now = self._now()
        with self._read() as tx:
            found = tx.images.of_turns([message_id]) if message_id is not None else tx.images.get(ids)
        alive = [image for image in found if image.expires_at is None or image.expires_at > now]
        return [image for image in alive if not ids or image.id in ids]

    def _shown(self, images: Sequence[Image], *, include_bytes: bool) -> list[StoredImage]:
        data = self.engine.images.data(images) if include_bytes and images else {}
        return [image_of(image, data.get(image.id)) for image in images]


def _inside(image: Image, listing: Listing) -> bool:
    wanted = (
        (listing.scope.user_id, image.user_id),
        (listing.scope.agent_id, image.agent_id),
        (listing.scope.session_id, image.session_id),
    )
    return all(value is None or value == actual for value, actual in wanted)
