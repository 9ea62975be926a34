"""Describes images by a model: those that are added alone, and those that are parts of messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from memoranda.threads.apis import ILlm
from memoranda.threads.content import ImageContent, ImageMimeType, Message, TextContent
from memoranda.threads.image_checks import images_in
from memoranda.threads.llms import generated

CAPTION_INSTRUCTION: Final = (
    "Describe this image in at most three sentences, so that it is found by what it shows. Name people only by what is "
    "written in it. Give the text that it holds word for word. Answer with the description alone."
)


def caption(llm: ILlm | None, data: bytes, mime_type: ImageMimeType) -> str:
    """Return a description of an image by a model; raises ``ValueError`` without one, and what the model raises."""
    if llm is None:
        raise ValueError("an image without a description needs an llm to describe it; give a description, '' for none")
    parts = (TextContent(CAPTION_INSTRUCTION), ImageContent(data, mime_type))
    return generated(llm, [Message("user", parts)]).strip()


def captioned(messages: Sequence[Message], llm: ILlm | None) -> list[Message]:
    """Return messages whose images all have a description: the one given, or one by the model."""
    return [_captioned(message, llm) for message in messages]


def uncaptioned(messages: Sequence[Message]) -> bool:
    """Whether an image of these messages has no description."""
    return any(part.description is None for part in images_in(messages))


def _captioned(message: Message, llm: ILlm | None) -> Message:
    if isinstance(message.content, str):
        return message
    parts = [_described(part, llm) if isinstance(part, ImageContent) else part for part in message.content]
    return replace(message, content=tuple(parts))


def _described(part: ImageContent, llm: ILlm | None) -> ImageContent:
    if part.description is not None or part.bytes is None:
        return part
    return replace(part, description=caption(llm, part.bytes, part.mime_type))
