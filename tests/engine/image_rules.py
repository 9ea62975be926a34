"""What images of the engine do, whatever the database: found by their description, ended with what they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import pytest

from memoranda.engine.engine import MemoryEngine, Providers
from memoranda.engine.extraction.local import LocalExtractor
from memoranda.engine.image_rows import ImageQuery
from memoranda.engine.images import ImageChanges, ImageDraft
from memoranda.engine.ports import Store
from memoranda.engine.records import IMAGE, Identity, Image
from memoranda.engine.retrieval.plan import SearchRequest, SourcePlan
from memoranda.engine.scope import Scope
from memoranda.engine.turns import TurnDraft
from memoranda.providers.local_embedder import LocalEmbedder
from memoranda.providers.tokens import estimate_tokens
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryNotFoundError
from memoranda.testing.clock import ManualClock

ANN = Identity("ann", session_id="s")
BYTES = b"\x89PNG\r\n\x1a\n and more"


@dataclass(frozen=True, slots=True)
class Images:
    """An open engine."""

    engine: MemoryEngine
    clock: ManualClock

    def add(self, description: str, user: str = "ann", **fields: object) -> Image:
        draft = ImageDraft(BYTES, "image/png", description, identity=Identity(user), **fields)  # type: ignore[arg-type]
        return self.engine.images.add(draft)

    def found(self, query: str, user: str | None = "ann") -> list[str]:
        request = SearchRequest(query, Scope(user_id=user), [SourcePlan(IMAGE)])
        return [hit.id for hit in self.engine.searcher.search(request).hits]

    def all(self) -> list[str]:
        return [image.id for image in self.engine.images.query(ImageQuery(Scope(), self.clock.now()))]

    def work(self) -> None:
        self.engine.background.worker.run_until_idle()


@contextmanager
def open_images(store: Store) -> Iterator[Images]:
    """Yield an engine over a store, which is closed afterwards."""
    clock = ManualClock()
    providers = Providers(clock, estimate_tokens, LocalExtractor(), LocalEmbedder())
    engine = MemoryEngine(store, "default", providers, config=None, worker=False)
    try:
        yield Images(engine, clock)
    finally:
        engine.close()
        store.close()


class KeepingRules:
    def test_an_image_is_found_by_its_description_within_its_scope(self, images: Images) -> None:
        cat, dog = images.add("a cat on a sofa"), images.add("a dog in the snow", metadata={"k": 1})
        shared = images.add("a cat in a tree", user="")
        assert images.found("cat") == [cat.id]
        assert images.found("dog") == [dog.id]
        assert images.found("cat", user="bob") == []
        assert images.found("cat", user="") == [shared.id]
        assert images.engine.images.data([cat, dog]) == {cat.id: BYTES, dog.id: BYTES}
        assert images.engine.images.get(dog.id) == dog

    def test_its_vector_is_made_by_a_job(self, images: Images) -> None:
        image = images.add("a puppy playing with a ball")
        assert images.found("young hounds having fun") == []
        images.work()
        assert images.found("young hounds having fun") == [image.id]

    def test_a_new_description_replaces_the_old_one(self, images: Images) -> None:
        image = images.add("a cat")
        changed = images.engine.images.update(
            image.id, ImageChanges(data=b"new", mime_type="image/webp", description="a horse", metadata={"k": 2})
        )
        assert (changed.description, changed.mime_type, changed.metadata) == ("a horse", "image/webp", {"k": 2})
        assert images.engine.images.get(image.id) == changed
        assert images.engine.images.data([changed]) == {image.id: b"new"}
        assert (images.found("cat"), images.found("horse")) == ([], [image.id])

    def test_an_update_of_nothing_leaves_all_else_as_it_is(self, images: Images) -> None:
        image = images.add("a cat", metadata={"k": 1})
        assert images.engine.images.update(image.id, ImageChanges()) == image
        assert images.found("cat") == [image.id]

    def test_what_cannot_be_kept_is_refused(self, images: Images) -> None:
        image = images.add("a cat", id="one")
        with pytest.raises(MemoryConflictError, match="'one'"):
            images.add("another", id="one")
        with pytest.raises(MemoryBadRequestError, match="no bytes"):
            images.engine.images.add(ImageDraft(b"", "image/png"))
        with pytest.raises(MemoryBadRequestError, match="mime_type"):
            images.engine.images.update(image.id, ImageChanges(data=b"x"))
        with pytest.raises(MemoryNotFoundError, match="'two'"):
            images.engine.images.update("two", ImageChanges())
        with pytest.raises(MemoryNotFoundError, match="'two'"):
            images.engine.images.delete("two")


class EndingRules:
    def test_a_deleted_image_leaves_nothing(self, images: Images) -> None:
        image = images.add("a cat")
        assert images.engine.images.delete(image.id).images == 1
        assert images.found("cat") == images.all() == []
        assert images.engine.images.get(image.id) is None
        assert images.engine.images.data([image]) == {}

    def test_an_image_ends_with_its_turn(self, images: Images) -> None:
        turn = images.engine.turns.record([TurnDraft(ANN, "user", "look")])[0].turn
        part = images.add("a cat", turn_id=turn.id)
        other = images.add("a dog")
        assert images.engine.images.of_turns([turn.id]) == [part]
        assert images.engine.deletion.delete_turn(turn.id).images == 1
        assert images.all() == [other.id]

    def test_an_image_of_a_turn_ends_with_the_session(self, images: Images) -> None:
        turn = images.engine.turns.record([TurnDraft(ANN, "user", "look")])[0].turn
        images.add("a cat", turn_id=turn.id)
        other = images.add("a dog")
        assert images.engine.deletion.delete_session("s").images == 1
        assert images.all() == [other.id]

    def test_an_image_ends_with_its_user(self, images: Images) -> None:
        for number in range(7):
            images.add(f"cat {number}")
        bobs = images.add("a cat", user="bob")
        assert images.engine.deletion.delete_user("ann").images == 7
        assert images.all() == [bobs.id]

    def test_what_has_expired_is_not_there_and_is_removed_by_a_job(self, images: Images) -> None:
        image = images.add("a cat", expires_at=images.clock.now() + timedelta(days=1))
        images.clock.advance(timedelta(days=1))
        assert images.found("cat") == images.all() == []
        assert images.engine.images.get(image.id) is None
        images.work()
        assert images.engine.images.data([image]) == {}
