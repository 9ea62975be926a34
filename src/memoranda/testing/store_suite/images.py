"""Images and their bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.engine.image_rows import Blob, ImageQuery
from memoranda.engine.ports import Store
from memoranda.engine.records import Image, Tombstone
from memoranda.engine.scope import Scope
from memoranda.testing.samples import NOW, PROJECT, Scribe, later
from memoranda.testing.store_suite.base import StoreRules

_BYTES = bytes(range(256))


def _stored(store: Store, image_id: str, user: str = "alice", project: str = PROJECT, **fields: object) -> Image:
    with store.write(project) as tx:
        key = tx.projects.allocate_keys(1)
        plain = Image(image_id, key, user, f"blob-{image_id}", "image/png", "a cat", NOW, NOW, NOW)
        image = replace(plain, **fields)  # type: ignore[arg-type]  # fields of an Image, by the caller's word
        tx.images.put_blob(Blob(image.blob_id, image.mime_type, _BYTES, NOW))
        tx.images.insert(image)
    return image


class ImageRules(StoreRules):
    """``ImageRows``."""

    def test_an_image_comes_back_as_it_was_written(self, store: Store, scribe: Scribe) -> None:
        image = _stored(
            store,
            "a",
            metadata={"k": [1]},
            description="ein Hund",
            agent_id="x",
            session_id="s",
            turn_id="t",
            event_time=later(days=-9),
            expires_at=later(days=1),
        )
        with store.read(PROJECT) as tx:
            assert tx.images.get(["a", "nobody"]) == [image]
            assert tx.images.of_turns(["t", ""]) == [image]
            assert tx.images.data([image.blob_id, "nothing"]) == {image.blob_id: _BYTES}

    def test_bytes_are_replaced(self, store: Store, scribe: Scribe) -> None:
        image = _stored(store, "a")
        with store.write(PROJECT) as tx:
            tx.images.put_blob(Blob(image.blob_id, "image/webp", b"other", NOW))
            assert tx.images.data([image.blob_id]) == {image.blob_id: b"other"}
            assert tx.images.get(["a"])[0].mime_type == "image/webp"

    def test_an_update_keeps_the_owners(self, store: Store, scribe: Scribe) -> None:
        image = _stored(store, "a", metadata={"k": 1})
        changed = replace(
            image, description="a dog", metadata=None, updated_at=later(hours=1), expires_at=later(days=3)
        )
        with store.write(PROJECT) as tx:
            tx.images.update(replace(changed, user_id="bob"))
            assert tx.images.get(["a"]) == [changed]
            with pytest.raises(LookupError):
                tx.images.update(replace(image, id="nobody"))

    def test_images_of_a_scope_come_latest_first(self, store: Store, scribe: Scribe) -> None:
        first = _stored(store, "a", session_id="s")
        second = _stored(store, "b", "", expires_at=later(hours=1))
        third = _stored(store, "c", agent_id="x")
        with store.read(PROJECT) as tx:
            assert tx.images.query(ImageQuery(Scope(), NOW)) == [third, second, first]
            assert tx.images.query(ImageQuery(Scope(), later(hours=1))) == [third, first]
            assert tx.images.query(ImageQuery(Scope(), NOW, before_key=third.key, limit=1)) == [second]
            assert tx.images.query(ImageQuery(Scope(user_id="alice"), NOW)) == [third, first]
            assert tx.images.query(ImageQuery(Scope(user_id=""), NOW)) == [second]
            assert tx.images.query(ImageQuery(Scope(agent_id="x"), NOW)) == [third]
            assert tx.images.query(ImageQuery(Scope(session_id="s"), NOW)) == [first]

    def test_bytes_go_with_their_image(self, store: Store, scribe: Scribe) -> None:
        gone, kept = _stored(store, "a"), _stored(store, "b")
        with store.write(PROJECT) as tx:
            assert tx.images.delete(["a", "nobody"]) == 1
        with store.read(PROJECT) as tx:
            assert tx.images.get(["a", "b"]) == [kept]
            assert list(tx.images.data([gone.blob_id, kept.blob_id])) == [kept.blob_id]

    def test_what_a_deletion_hides_is_not_there(self, store: Store, scribe: Scribe) -> None:
        hidden, other = _stored(store, "a"), _stored(store, "b", "bob")
        with store.write(PROJECT) as tx:
            tx.projects.add_tombstone(Tombstone("t", "alice", hidden.key, NOW))
        with store.read(PROJECT) as tx:
            assert tx.images.get(["a", "b"]) == [other]
            assert tx.images.query(ImageQuery(Scope(), NOW)) == [other]

    def test_images_do_not_cross_projects(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        theirs = _stored(store, "a", project=stranger.project_id, turn_id="t")
        with store.write(PROJECT) as tx:
            assert tx.images.get(["a"]) == []
            assert tx.images.of_turns(["t"]) == []
            assert tx.images.data([theirs.blob_id]) == {}
            assert tx.images.query(ImageQuery(Scope(), NOW)) == []
            assert tx.images.delete(["a"]) == 0
