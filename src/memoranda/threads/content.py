"""Messages and their parts, as callers write and read them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias
from uuid import uuid4

# A field of that name hides the builtin in its class.
RawBytes: TypeAlias = bytes


class ImageMimeType(StrEnum):
    """The image formats that messages may hold."""

    PNG = "image/png"
    JPEG = "image/jpeg"
    WEBP = "image/webp"


def _new_id() -> str:
    return str(uuid4())


@dataclass(frozen=True, slots=True)
class MessageContent(ABC):
    """One part of a message; ``id`` is made when none is given."""

    id: str = field(default_factory=_new_id, kw_only=True)
    timestamp: str | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def type(self) -> str:
        """The name of the kind of part, as in its mapping form."""


@dataclass(frozen=True, slots=True)
class TextContent(MessageContent):
    """A part that is text."""

    text: str

    @property
    def type(self) -> str:
        return "text"


@dataclass(frozen=True, slots=True)
class ImageContent(MessageContent):
    """A part that is an image: its bytes (``None`` when not loaded), format and description.

    Raises ``TypeError`` for a value of another type; whether the bytes are an image of the format is checked when they
    are stored.
    """

    bytes: RawBytes | None
    mime_type: ImageMimeType
    description: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.mime_type, ImageMimeType):
            raise TypeError(f"mime_type is {self.mime_type!r}; give a member of ImageMimeType")
        if self.bytes is not None and not isinstance(self.bytes, RawBytes):
            raise TypeError(f"bytes is of type {type_name(self.bytes)}; give bytes, or None for an image not loaded")
        if self.description is not None and not isinstance(self.description, str):
            raise TypeError(f"description is of type {type_name(self.description)}; give a string or None")

    @property
    def type(self) -> str:
        return "image"


MessageBody: TypeAlias = str | Sequence[MessageContent]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a thread. Any role is allowed; a sequence of parts is kept as a tuple.

    Raises ``TypeError`` for a role, content, timestamp or id of the wrong type and ``ValueError`` for an empty sequence
    or metadata that is no dictionary.
    """

    role: str
    content: MessageBody
    timestamp: str | None = None
    metadata: dict[str, object] | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.role, str):
            raise TypeError(f"the role of a message is a string, not {type_name(self.role)}")
        object.__setattr__(self, "content", _checked_content(self.content))
        for name, value in (("timestamp", self.timestamp), ("id", self.id)):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"the {name} of a message is a string or None, not {type_name(value)}")
        if self.metadata is not None and not isinstance(self.metadata, dict):
            raise ValueError(f"the metadata of a message is a dictionary or None, not {type_name(self.metadata)}")

    @property
    def text(self) -> str:
        """The text of the message: its content, or its text parts joined by line breaks."""
        return text_of(self.content)


MessageLike: TypeAlias = Message | Mapping[str, object]


def text_of(content: MessageBody) -> str:
    """Return the text of a message's content; images have none."""
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content if isinstance(part, TextContent))


def messages_of(raw: Iterable[MessageLike]) -> list[Message]:
    """Read what callers hand in as messages: ``Message`` objects or mappings; unknown keys of a mapping are ignored.

    Raises ``TypeError`` for ``None`` or a wrong type within a message, ``KeyError`` for a mapping without ``role`` or
    ``content`` and ``ValueError`` for anything else that is no message.
    """
    if raw is None:
        raise TypeError("messages is None; give a list of messages, [] for none")
    if isinstance(raw, str | bytes | Mapping):
        raise ValueError(f"messages is a {type_name(raw)}; give a list of messages")
    return [message_of(item) for item in raw]


def message_of(raw: MessageLike) -> Message:
    """Read one message; see ``messages_of``."""
    if isinstance(raw, Message):
        return raw
    if not isinstance(raw, Mapping):
        raise ValueError(f"a message is a Message or a mapping with role and content, not {type_name(raw)}")
    for name in ("role", "content"):
        if name not in raw:
            raise KeyError(f"a message has no {name!r}; its keys are {sorted(map(str, raw))}")
    return _from_mapping(raw)


def content_of(raw: object) -> MessageBody:
    """Read a message's content: a string, or parts that are ``MessageContent`` objects or mappings.

    Raises ``ValueError`` for ``None``, an empty sequence or an unknown part and ``TypeError`` for another type.
    """
    if isinstance(raw, str):
        return raw
    if raw is None:
        raise ValueError("the content of a message is None; give a string, '' for none")
    if not isinstance(raw, Sequence) or isinstance(raw, bytes | bytearray):
        raise TypeError(f"the content of a message is a string or a list of parts, not {type_name(raw)}")
    return _checked_content([part_of(part) for part in raw])


def part_of(raw: object) -> MessageContent:
    """Read one part: a ``MessageContent``, ``{"type": "text", "text": ...}`` or ``{"type": "image", "bytes": ...,
    "mime_type": ..., "description": ...}``. Raises ``ValueError`` for any other."""
    if isinstance(raw, MessageContent):
        return raw
    if not isinstance(raw, Mapping):
        raise ValueError(f"a part of a message is a MessageContent or a mapping, not {type_name(raw)}")
    match raw.get("type"):
        case "text":
            return _text_part(raw)
        case "image":
            return _image_part(raw)
        case other:
            raise ValueError(f"a part of a message has type {other!r}; use 'text', or 'image' with bytes and mime_type")


def type_name(value: object) -> str:
    """Return the name of a value's type, for messages."""
    return type(value).__name__


def _checked_content(content: object) -> MessageBody:
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence) or isinstance(content, bytes | bytearray):
        raise TypeError(f"the content of a message is a string or a sequence of parts, not {type_name(content)}")
    if not content:
        raise ValueError("the content of a message has no parts; give '' for an empty message")
    for part in content:
        if not isinstance(part, MessageContent):
            raise TypeError(f"a part of a message is a MessageContent, not {type_name(part)}")
    return tuple(content)


def _from_mapping(raw: Mapping[str, object]) -> Message:
    role, timestamp, metadata, given = (raw.get(name) for name in ("role", "timestamp", "metadata", "id"))
    if not isinstance(role, str):
        raise TypeError(f"the role of a message is a string, not {type_name(role)}")
    if metadata is not None and not isinstance(metadata, dict):
        raise ValueError(f"the metadata of a message is a dictionary or None, not {type_name(metadata)}")
    return Message(
        role,
        content_of(raw["content"]),
        timestamp=_optional_text("timestamp", timestamp),
        metadata=metadata,
        id=_optional_text("id", given),
    )


def _text_part(raw: Mapping[str, object]) -> TextContent:
    text = raw.get("text")
    if not isinstance(text, str):
        raise ValueError(f"a text part has text of type {type_name(text)}; give a string")
    return TextContent(text, **_identity(raw))


def _image_part(raw: Mapping[str, object]) -> ImageContent:
    data, description = raw.get("bytes"), raw.get("description")
    if data is not None and not isinstance(data, bytes):
        raise ValueError(f"an image part has bytes of type {type_name(data)}; give bytes")
    try:
        mime_type = ImageMimeType(str(raw.get("mime_type")))
    except ValueError:
        known = ", ".join(repr(member.value) for member in ImageMimeType)
        raise ValueError(f"an image part has mime_type {raw.get('mime_type')!r}; use one of {known}") from None
    return ImageContent(data, mime_type, _optional_text("description", description), **_identity(raw))


def _identity(raw: Mapping[str, object]) -> dict[str, str]:
    """Return the id and timestamp that a part's mapping gives."""
    found = {name: _optional_text(name, raw.get(name)) for name in ("id", "timestamp")}
    return {name: value for name, value in found.items() if value is not None}


def _optional_text(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"the {name} of a message or part is a string or None, not {type_name(value)}")
