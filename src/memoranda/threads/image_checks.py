"""What is checked of images before they are stored or sent: their format, and the limits in force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from memoranda.threads.content import ImageContent, ImageMimeType, Message, type_name
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import ImageInputLimitConfig
from memoranda.threads.resolution import ImageLimits, resolve_image_limits

IMAGE_MARK: Final = "[image]"
"""What stands for an image that has no description."""


def image_limits(*configs: ImageInputLimitConfig | NotSet | None) -> ImageLimits:
    """Return the limits, each field from the first config that sets it: that of the call, the thread, the client.

    Raises ``TypeError`` for another object.
    """
    levels: list[ImageInputLimitConfig] = []
    for config in configs:
        if isinstance(config, ImageInputLimitConfig):
            levels.append(config)
        elif config is not None and config is not NOT_SET:
            raise TypeError(f"image_input_limit_config is of type {type_name(config)}; give an ImageInputLimitConfig")
    return resolve_image_limits(*levels)


def sniffed(data: bytes) -> ImageMimeType | None:
    """Return the format that bytes begin as, None for another one."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return ImageMimeType.PNG
    if data.startswith(b"\xff\xd8\xff"):
        return ImageMimeType.JPEG
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return ImageMimeType.WEBP
    return None


def checked_image(
    data: object, mime_type: ImageMimeType | str | NotSet | None, limits: ImageLimits
) -> tuple[bytes, ImageMimeType]:
    """Return the bytes and format of an image; the format is found in the bytes where it is not given.

    Raises ``TypeError`` for what is no bytes and ``ValueError`` for an image that is too large, of an unknown format,
    or of another one than it is said to be.
    """
    if not isinstance(data, bytes):
        raise TypeError(f"an image is bytes, not {type_name(data)}")
    if len(data) > limits.max_raw_image_bytes:
        raise ValueError(
            f"the image has {len(data)} bytes, the limit is {limits.max_raw_image_bytes} "
            "(max_raw_image_bytes of ImageInputLimitConfig)"
        )
    found, named = sniffed(data), _named(mime_type)
    if found is None:
        known = ", ".join(member.value for member in ImageMimeType)
        raise ValueError(f"the bytes are no image of a known format ({known})")
    if named not in (None, found):
        raise ValueError(f"mime_type is {named.value!r}, but the bytes are of {found.value!r}")
    return data, found


def _named(mime_type: ImageMimeType | str | NotSet | None) -> ImageMimeType | None:
    if mime_type is NOT_SET or mime_type is None:
        return None
    try:
        return ImageMimeType(mime_type)
    except ValueError:
        known = ", ".join(repr(member.value) for member in ImageMimeType)
        raise ValueError(f"mime_type is {mime_type!r}; use one of {known}") from None


def images_in(messages: Iterable[Message]) -> list[ImageContent]:
    """Return the image parts of messages, in order."""
    return [
        part
        for message in messages
        if not isinstance(message.content, str)
        for part in message.content
        if isinstance(part, ImageContent)
    ]


def check_images(messages: Iterable[Message], limits: ImageLimits) -> None:
    """Check the image parts of messages that are to be stored; raises as ``checked_image``, and for missing bytes."""
    for part in images_in(messages):
        if part.bytes is None:
            raise ValueError(f"image part {part.id!r} has no bytes; load it before it is added")
        checked_image(part.bytes, part.mime_type, limits)


def check_request(messages: Sequence[Message], limits: ImageLimits) -> None:
    """Raise ``ValueError`` for more images, or more of their bytes, than one request may hold."""
    sizes = [len(part.bytes) for part in images_in(messages) if part.bytes is not None]
    if len(sizes) > limits.max_images_per_llm_request:
        raise ValueError(
            f"the request has {len(sizes)} images, the limit is {limits.max_images_per_llm_request} "
            "(max_images_per_llm_request of ImageInputLimitConfig)"
        )
    if sum(sizes) > limits.max_total_raw_image_bytes_per_llm_request:
        raise ValueError(
            f"the request has {sum(sizes)} bytes of images, the limit is "
            f"{limits.max_total_raw_image_bytes_per_llm_request} "
            "(max_total_raw_image_bytes_per_llm_request of ImageInputLimitConfig)"
        )
