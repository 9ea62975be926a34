"""What models are shown of a thread: messages, memories and headings, with estimates of what that costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoranda.engine.context.escape import for_xml
from memoranda.threads.apis import CHARACTERS_PER_TOKEN, ILlm
from memoranda.threads.content import Message
from memoranda.threads.llms import generated

_OMITTED: Final = "\n[... part of this message is left out ...]\n"


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message as a prompt shows it. ``source_id`` is the message that it is, or is a part, of."""

    role: str
    text: str
    timestamp: str = "-"
    source_id: str = ""
    seq_no: int = 0

    def rendered(self) -> str:
        return (
            f"<message><timestamp>{for_xml(self.timestamp)}</timestamp><role>{for_xml(self.role)}</role>"
            f"<content>{for_xml(self.text)}</content></message>"
        )

    @property
    def tokens(self) -> int:
        return estimated_tokens(self.rendered()) + 1


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text costs: one for 3.5 characters, rounded up."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def characters(tokens: int) -> int:
    """Return how many characters a number of tokens has."""
    return int(tokens * CHARACTERS_PER_TOKEN)


def rendered_messages(messages: Iterable[ShownMessage]) -> str:
    return "\n".join(message.rendered() for message in messages)


def section(name: str, text: str) -> str:
    """Return a named part of a prompt; nothing for an empty text."""
    return f"<{name}>\n{text}\n</{name}>" if text else ""


def joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def ask(llm: ILlm, system: str, user: str, schema: Mapping[str, object] | None = None) -> str:
    """Ask a model and return the text of its answer; raises what the model raises."""
    prompt = [Message("system", system), Message("user", user)]
    return generated(llm, prompt, schema)


def head_and_tail(text: str, tokens: int) -> str:
    """Return a text in at most so many tokens: its beginning and its end, with a mark between."""
    most = max(characters(tokens), 2 * len(_OMITTED))
    if len(text) <= most:
        return text
    half = (most - len(_OMITTED)) // 2
    return f"{text[:half]}{_OMITTED}{text[len(text) - half :]}"


def in_passes(messages: Sequence[ShownMessage], tokens: int) -> list[list[ShownMessage]]:
    """Split messages into runs of at most so many tokens each, in order and without losing any.

    A message that alone is longer is split into parts.
    """
    passes: list[list[ShownMessage]] = []
    room = 0
    for part in (part for message in messages for part in _parts(message, tokens)):
        if not passes or part.tokens > room:
            passes.append([])
            room = tokens
        passes[-1].append(part)
        room -= part.tokens
    return passes


def trimmed_context(messages: Sequence[ShownMessage], tokens: int) -> list[ShownMessage]:
    """Return the latest of some messages that fit into so many tokens."""
    kept: list[ShownMessage] = []
    for message in reversed(messages):
        tokens -= message.tokens
        if tokens < 0:
            break
        kept.append(message)
    return kept[::-1]


def _parts(message: ShownMessage, tokens: int) -> list[ShownMessage]:
    if message.tokens <= tokens:
        return [message]
    if len(message.text) < 2:
        return [message]  # Nothing left to split.
    middle = _break_near(message.text, len(message.text) // 2)
    halves = (replace(message, text=message.text[:middle]), replace(message, text=message.text[middle:]))
    return [part for half in halves for part in _parts(half, tokens)]


def _break_near(text: str, middle: int) -> int:
    """Return the end of a line or a word near a place; the place itself where there is none."""
    reach = max(1, middle // 2)
    for mark in ("\n", " "):
        found = text.rfind(mark, middle - reach, middle + reach)
        if found > 0:
            return found
    return middle
