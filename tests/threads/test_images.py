"""Images of the client and of threads: what is checked, who describes them, whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memoranda.engine.scope import Scope
from memoranda.threads.apis import ILlm, LlmResponse
from memoranda.threads.content import ImageContent, ImageMimeType, Message, TextContent
from memoranda.threads.image_checks import check_images, checked_image, image_limits, sniffed
from memoranda.threads.image_parts import captioned, uncaptioned
from memoranda.threads.images import ClientImages, ImageDesk, ThreadImages
from memoranda.threads.not_set import NOT_SET
from memoranda.threads.options import ImageInputLimitConfig
from memoranda.threads.records import ImageRecord
from memoranda.threads.resolution import ImageLimits
from memoranda.threads.scope import ThreadOwners
from memoranda.threads.stored import Given, ImageUpdate, Listing, NewImage, Removed, StoredImage

PNG = b"\x89PNG\r\n\x1a\n" + b"p" * 8
JPEG = b"\xff\xd8\xff" + b"j" * 8
WEBP = b"RIFF\x04\x00\x00\x00WEBP" + b"w" * 8
_NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Shelf:
    """A backend's images in a dictionary."""

    def __init__(self) -> None:
        self.images: dict[str, StoredImage] = {}
        self.news: list[NewImage] = []
        self.updates: list[ImageUpdate] = []
        self.listings: list[Listing] = []

    def add_image(self, new: NewImage) -> StoredImage:
        self.news.append(new)
        stored = StoredImage(
            id=new.id or f"image-{len(self.images)}",
            mime_type=new.mime_type,
            description=new.description,
            created_at=_NOW,
            updated_at=_NOW,
            event_time=_NOW,
            user_id=new.user_id,
            agent_id=new.agent_id,
            thread_id=new.thread_id,
            message_id=new.message_id,
            metadata=new.metadata,
            timestamp_text=new.timestamp_text,
            data=new.data,
        )
        self.images[stored.id] = stored
        return replace(stored, data=None)

    def get_image(self, image_id: str, *, include_bytes: bool = False) -> StoredImage | None:
        found = self.images.get(image_id)
        return found if found is None or include_bytes else replace(found, data=None)

    def update_image(self, image_id: str, update: ImageUpdate) -> StoredImage:
        self.updates.append(update)
        return self.images[image_id]

    def delete_image(self, image_id: str) -> Removed:
        return Removed(self.images.pop(image_id, None) is not None)

    def list_images(self, listing: Listing, *, message_id: str | None = None) -> Sequence[StoredImage]:
        self.listings.append(listing)
        return [replace(each, data=each.data if listing.include_bytes else None) for each in self.images.values()]


class Eyes(ILlm):
    """A model that describes every image alike."""

    supports_vision = False

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def generate(self, prompt: Any, *, response_json_schema: Any = None, **kwargs: Any) -> LlmResponse:
        raise AssertionError("the asynchronous form is the one that is asked")

    async def generate_async(self, prompt: Any, *, response_json_schema: Any = None, **kwargs: Any) -> LlmResponse:
        self.seen.append((prompt, response_json_schema))
        return LlmResponse(" a cat\n")


class Client(ClientImages):
    def __init__(self, shelf: Shelf, llm: ILlm | None = None, limits: ImageLimits | None = None) -> None:
        self.desk = ImageDesk(shelf, llm, limits or image_limits())

    def _images(self) -> ImageDesk:
        return self.desk


class Thread(ThreadImages):
    def __init__(self, shelf: Shelf, llm: ILlm | None = None) -> None:
        self.desk = ImageDesk(shelf, llm, image_limits(), ThreadOwners("t", "u", None))

    def _images(self) -> ImageDesk:
        return self.desk


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


class TestChecks:
    def test_the_format_is_found_in_the_bytes(self) -> None:
        assert [sniffed(data) for data in (PNG, JPEG, WEBP)] == list(ImageMimeType)
        assert sniffed(b"GIF89a") is None
        assert checked_image(PNG, NOT_SET, image_limits()) == (PNG, ImageMimeType.PNG)
        assert checked_image(JPEG, "image/jpeg", image_limits()) == (JPEG, ImageMimeType.JPEG)

    @pytest.mark.parametrize(
        ("data", "mime_type", "wrong"),
        [
            (b"GIF89a", NOT_SET, "known format"),
            (PNG, "image/jpeg", "but the bytes are of 'image/png'"),
            (PNG, "image/gif", "use one of"),
            (PNG * 99, NOT_SET, "max_raw_image_bytes"),
        ],
    )
    def test_what_is_no_such_image_is_refused(self, data: bytes, mime_type: Any, wrong: str) -> None:
        with pytest.raises(ValueError, match=wrong):
            checked_image(data, mime_type, image_limits(ImageInputLimitConfig(max_raw_image_bytes=100)))

    def test_images_are_bytes(self) -> None:
        with pytest.raises(TypeError, match="str"):
            checked_image("text", NOT_SET, image_limits())

    def test_a_limit_is_the_first_that_is_set(self) -> None:
        call = ImageInputLimitConfig(max_raw_image_bytes=1)
        client = ImageInputLimitConfig(max_raw_image_bytes=2, max_images_per_llm_request=3)
        assert image_limits(call, NOT_SET, None, client) == ImageLimits(1, 3, 100 * 1024 * 1024)
        assert image_limits() == ImageLimits(10 * 1024 * 1024, 100, 100 * 1024 * 1024)
        with pytest.raises(TypeError, match="ImageInputLimitConfig"):
            image_limits({"max_raw_image_bytes": 1})  # type: ignore[arg-type]

    def test_images_of_messages_are_checked_before_they_are_stored(self) -> None:
        good = Message("user", (TextContent("look"), ImageContent(PNG, ImageMimeType.PNG)))
        check_images([good, Message("user", "text")], image_limits())
        for data, wrong in ((None, "no bytes"), (JPEG, "mime_type")):
            with pytest.raises(ValueError, match=wrong):
                check_images([Message("user", [ImageContent(data, ImageMimeType.PNG)])], image_limits())


class TestDescribing:
    def test_images_of_messages_without_a_description_get_the_models(self) -> None:
        eyes = Eyes()
        parts = (
            TextContent("look"),
            ImageContent(PNG, ImageMimeType.PNG),
            ImageContent(PNG, ImageMimeType.PNG, ""),
            ImageContent(None, ImageMimeType.PNG),
        )
        message = Message("user", parts)
        assert uncaptioned([message])
        (found, plain) = captioned([message, Message("user", "text")], eyes)
        assert plain == Message("user", "text")
        assert [getattr(part, "description", "-") for part in found.content] == ["-", "a cat", "", None]
        assert [getattr(part, "id", "") for part in found.content] == [part.id for part in parts]
        assert len(eyes.seen) == 1

    def test_without_a_model_a_description_is_asked_for(self) -> None:
        with pytest.raises(ValueError, match="description"):
            captioned([Message("user", [ImageContent(PNG, ImageMimeType.PNG)])], None)


class TestClient:
    def test_an_image_without_description_is_described_by_the_model(self, shelf: Shelf) -> None:
        eyes = Eyes()
        assert Client(shelf, eyes).add_image(PNG, user_id="u", image_id="mine") == "mine"
        (prompt, schema) = eyes.seen[0]
        assert schema is None
        assert prompt[0].role == "user"
        assert prompt[0].content[1].bytes == PNG
        assert shelf.news[0].description == "a cat"

    def test_a_description_costs_no_model_call(self, shelf: Shelf) -> None:
        for description in ("a dog", ""):
            Client(shelf).add_image(PNG, description, user_id="u", metadata={"k": 1}, timestamp="2026", ttl_days=3)
        first, second = shelf.news
        assert (first.description, first.mime_type, first.metadata) == ("a dog", "image/png", {"k": 1})
        assert (first.timestamp_text, first.lifetime.days) == ("2026", Given(3))
        assert second.description == ""

    @pytest.mark.parametrize(
        ("arguments", "wrong"),
        [
            ({}, "owner"),
            ({"user_id": None, "agent_id": None}, "owner"),
            ({"user_id": ""}, "user_id"),
            ({"user_id": "u", "metadata": {"$agent_memory": 1}}, "reserved"),
            ({"user_id": "u", "image_id": ""}, "image_id"),
            ({"user_id": "u", "ttl_days": 0}, "ttl_days"),
            ({"user_id": "u", "ttl_anchor": "now"}, "ttl_anchor"),
            ({"user_id": "u", "description": None}, "needs an llm"),
        ],
    )
    def test_what_cannot_be_stored_is_refused(self, shelf: Shelf, arguments: dict[str, Any], wrong: str) -> None:
        with pytest.raises(ValueError, match=wrong):
            Client(shelf).add_image(PNG, **{"description": "x", **arguments})
        assert shelf.news == []

    def test_unknown_keywords_are_refused(self, shelf: Shelf) -> None:
        with pytest.raises(TypeError, match="colour"):
            Client(shelf).add_image(PNG, "x", user_id="u", colour="red")
        Client(shelf).add_image(PNG, "x", user_id="u", batch_size=3)

    def test_a_listing_has_bytes_only_where_they_are_asked_for(self, shelf: Shelf) -> None:
        client = Client(shelf)
        client.add_image(PNG, "x", agent_id="a", metadata={"k": 1})
        expected = ImageRecord(
            "image-0",
            content="x",
            timestamp=_NOW.isoformat(),
            metadata={"k": 1},
            agent_id="a",
            mime_type=ImageMimeType.PNG,
        )
        assert client.list_images(user_id=None, metadata_filter=None, limit=None) == [expected]
        found = client.list_images("image-0", agent_id="a", include_bytes=True)
        assert found == [replace(expected, bytes=PNG)]
        assert shelf.listings[0] == Listing(Scope(user_id=""), Given(None), None)
        assert shelf.listings[1] == Listing(Scope(agent_id="a"), None, 10_000, ids=("image-0",), include_bytes=True)

    @pytest.mark.parametrize("arguments", [{"user_id": "u"}, {"image_id": "i"}, {"image_id": "i", "user_id": None}])
    def test_bytes_are_read_of_one_image_of_an_owner(self, shelf: Shelf, arguments: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="include_bytes"):
            Client(shelf).list_images(include_bytes=True, **arguments)


class TestChanging:
    def test_only_what_is_given_is_changed(self, shelf: Shelf) -> None:
        client = Client(shelf)
        client.add_image(PNG, "x", user_id="u")
        assert client.update_image("image-0") == "image-0"
        assert shelf.updates == []
        client.update_image("image-0", JPEG, "y", "image/jpeg", {"k": 2}, None, ttl_days=None)
        (update,) = shelf.updates
        assert (update.data, update.mime_type) == (Given(JPEG), Given("image/jpeg"))
        assert (update.description, update.metadata) == (Given("y"), Given({"k": 2}))
        assert update.timestamp_text == Given(None)
        assert update.lifetime is not None
        assert update.lifetime.days == Given(None)

    def test_a_description_of_none_is_made_anew(self, shelf: Shelf) -> None:
        eyes = Eyes()
        client = Client(shelf, eyes)
        client.add_image(PNG, "x", user_id="u")
        client.update_image("image-0", description=None)
        client.update_image("image-0", JPEG, None, "image/jpeg")
        assert [update.description for update in shelf.updates] == [Given("a cat"), Given("a cat")]
        assert [prompt[0].content[1].bytes for prompt, _ in eyes.seen] == [PNG, JPEG]

    def test_bytes_and_format_go_together(self, shelf: Shelf) -> None:
        client = Client(shelf)
        client.add_image(PNG, "x", user_id="u")
        for arguments in ({"image": JPEG}, {"mime_type": "image/png"}):
            with pytest.raises(ValueError, match="together"):
                client.update_image("image-0", **arguments)

    def test_an_unknown_image_is_a_key_error_and_nothing_to_delete(self, shelf: Shelf) -> None:
        with pytest.raises(KeyError, match="nobody"):
            Client(shelf).update_image("nobody", description="x")
        assert Client(shelf).delete_image("nobody") == 0

    def test_a_part_of_a_message_lives_and_ends_with_it(self, shelf: Shelf) -> None:
        shelf.add_image(NewImage(PNG, "image/png", "x", user_id="u", thread_id="t", message_id="m"))
        for client in (Client(shelf), Thread(shelf)):
            with pytest.raises(ValueError, match="message 'm'"):
                client.delete_image("image-0")
            with pytest.raises(ValueError, match="message 'm'"):
                client.update_image("image-0", ttl_days=3)
            client.update_image("image-0", description="y")


class TestThread:
    def test_an_image_of_a_thread_has_its_owners(self, shelf: Shelf) -> None:
        Thread(shelf).add_image(PNG, "x", user_id="u", thread_id="t")
        assert (shelf.news[0].user_id, shelf.news[0].agent_id, shelf.news[0].thread_id) == ("u", None, "t")
        for arguments in ({"user_id": "other"}, {"agent_id": "a"}, {"thread_id": None}):
            with pytest.raises(ValueError, match="image of this thread"):
                Thread(shelf).add_image(PNG, "x", **arguments)

    def test_a_thread_sees_its_own_images_alone(self, shelf: Shelf) -> None:
        Client(shelf).add_image(PNG, "x", user_id="u")
        thread = Thread(shelf)
        assert thread.delete_image("image-0") == 0
        with pytest.raises(KeyError):
            thread.update_image("image-0", description="y")
        thread.list_images(limit=3)
        assert shelf.listings == [Listing(Scope(session_id="t"), None, 3)]
        with pytest.raises(ValueError, match="include_bytes"):
            thread.list_images(include_bytes=True)
        assert thread.add_image(PNG, "y") == "image-1"
        assert thread.delete_image("image-1") == 1
