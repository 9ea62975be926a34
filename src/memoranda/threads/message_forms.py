"""A thread's messages between the form that callers write and read and the form that is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal
from uuid import uuid4

from memoranda.threads.content import (
    ImageContent,
    ImageMimeType,
    Message,
    MessageBody,
    MessageContent,
    TextContent,
    text_of,
)
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import TimeToLiveAnchor, is_integer
from memoranda.threads.prompt_text import ShownMessage
from memoranda.threads.records import check_metadata
from memoranda.threads.stored import Given, JsonObject, Lifetime, NewMessage, StoredImage, StoredMessage, Window

DEFAULT_WINDOW: Final = 100


def new_message(message: Message, lifetime: Lifetime) -> NewMessage:
    """Return a message as it is stored; one without an id gets one, so that a repeated call finds it."""
    return NewMessage(
        role=message.role,
        content=searched_text(message.content),
        id=message.id or str(uuid4()),
        parts=parts_of(message.content),
        metadata=check_metadata(message.metadata),
        timestamp_text=message.timestamp,
        lifetime=lifetime,
    )


def searched_text(content: MessageBody) -> str:
    """Return what of a message is searched and read by models: its text, and the descriptions of its images."""
    if isinstance(content, str):
        return content
    shown = (
        text_of([part]) if not isinstance(part, ImageContent) else f"[image: {part.description}]"
        for part in content
        if not isinstance(part, ImageContent) or part.description
    )
    return "\n".join(shown)


def parts_of(content: MessageBody) -> tuple[JsonObject, ...] | None:
    """Return a message's structured form, without the bytes of images; None where it is plain text."""
    return None if isinstance(content, str) else tuple(_part(part) for part in content)


def images_of(content: MessageBody) -> list[ImageContent]:
    """Return the images of a message."""
    return [] if isinstance(content, str) else [part for part in content if isinstance(part, ImageContent)]


def read_message(stored: StoredMessage, images: Mapping[str, StoredImage] | None = None) -> Message:
    """Return a stored message as callers read it; images have their bytes where ``images`` (by id) has them."""
    return Message(
        role=stored.role,
        content=_content(stored, images or {}),
        timestamp=stored.timestamp_text or stored.created_at.isoformat(),
        metadata=None if stored.metadata is None else dict(stored.metadata),
        id=stored.id,
    )


def shown_message(stored: StoredMessage) -> ShownMessage:
    """Return a stored message as a prompt shows it."""
    timestamp = stored.timestamp_text or stored.created_at.isoformat()
    return ShownMessage(stored.role, stored.content, timestamp, stored.id, stored.seq_no)


def with_call_metadata(messages: Sequence[Message], metadata: object) -> list[Message]:
    """Return messages with the metadata of the call, which replaces their own: one for all, or a list of as many.

    Raises ``ValueError`` for a list of another length and for metadata that is no dictionary.
    """
    if metadata is NOT_SET:
        return list(messages)
    values = aligned("metadata", metadata, len(messages))
    return [replace(each, metadata=check_metadata(value)) for each, value in zip(messages, values, strict=True)]


def lifetimes(ttl_days: object, ttl_anchor: object, count: int) -> list[Lifetime]:
    """Return the lifetime of each of several records; raises ``ValueError`` for what is none."""
    days = aligned("ttl_days", ttl_days, count)
    anchors = aligned("ttl_anchor", ttl_anchor, count)
    return [lifetime(each, anchor) for each, anchor in zip(days, anchors, strict=True)]


def lifetime(ttl_days: object, ttl_anchor: object) -> Lifetime:
    """Return a lifetime: omitted days are the project's default, None the longest there is."""
    anchor = _anchor("created_at" if ttl_anchor is NOT_SET else ttl_anchor)
    if ttl_days is NOT_SET:
        return Lifetime(None, anchor)
    if ttl_days is not None and (isinstance(ttl_days, bool) or not isinstance(ttl_days, int | float) or ttl_days <= 0):
        raise ValueError(f"ttl_days is {ttl_days!r}; give a positive number of days, or None for the longest there is")
    return Lifetime(Given(ttl_days), anchor)


def window_of(start: int | NotSet | None, end: int | NotSet | None) -> Window:
    """Return the window that a call asks for: the latest 100 messages, or 100 from ``start`` on, or up to ``end``.

    ``end`` given as None or -1 is everything from ``start``; otherwise they are as in a Python slice. Raises
    ``ValueError`` for anything but integers.
    """
    for name, value in (("start", start), ("end", end)):
        if value is not NOT_SET and value is not None and not is_integer(value):
            raise ValueError(f"{name} is {value!r}; give an integer")
    if start is NOT_SET and end is NOT_SET:
        return Window(-DEFAULT_WINDOW, None)
    first = None if start is NOT_SET else start
    if end is NOT_SET:
        begin = first or 0
        stop = begin + DEFAULT_WINDOW
        return Window(begin, None if begin < 0 <= stop else stop)
    return Window(first, None if end in (None, -1) else end)


def aligned(name: str, value: object, count: int) -> list[object]:
    """Return one value for each of ``count`` messages, from one for all or from a list of them."""
    if not isinstance(value, list):
        return [value] * count
    if len(value) != count:
        raise ValueError(f"{name} has {len(value)} values for {count} messages; give one for each, or one for all")
    return list(value)


def _anchor(value: object) -> Literal["created_at", "timestamp"]:
    try:
        return "timestamp" if TimeToLiveAnchor(str(value)) is TimeToLiveAnchor.TIMESTAMP else "created_at"
    except ValueError:
        known = ", ".join(repr(each.value) for each in TimeToLiveAnchor)
        raise ValueError(f"ttl_anchor is {value!r}; use one of {known}") from None


def _part(part: MessageContent) -> JsonObject:
    kept: dict[str, object] = {"type": part.type, "id": part.id}
    if part.timestamp is not None:
        kept["timestamp"] = part.timestamp
    if isinstance(part, TextContent):
        kept["text"] = part.text
    elif isinstance(part, ImageContent):
        kept |= {"mime_type": part.mime_type.value, "description": part.description}
    return kept


def _content(stored: StoredMessage, images: Mapping[str, StoredImage]) -> MessageBody:
    if stored.parts is None:
        return stored.content
    parts = [_read_part(part, images) for part in stored.parts]
    only = parts[0] if len(parts) == 1 else None
    return only.text if isinstance(only, TextContent) else parts


def _read_part(part: JsonObject, images: Mapping[str, StoredImage]) -> MessageContent:
    timestamp = _optional(part.get("timestamp"))
    if part.get("type") != "image":
        return TextContent(str(part.get("text") or ""), id=str(part.get("id")), timestamp=timestamp)
    image = images.get(str(part.get("id")))
    return ImageContent(
        None if image is None else image.data,
        ImageMimeType(str(part.get("mime_type"))),
        _optional(part.get("description")) if image is None else image.description or None,
        id=str(part.get("id")),
        timestamp=timestamp,
    )


def _optional(value: object) -> str | None:
    return value if isinstance(value, str) else None
