"""Context cards and summaries: text for a prompt, made of what a thread knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memoranda.engine.context.escape import for_xml
from memoranda.threads.content import Message
from memoranda.threads.record_text import element, indented
from memoranda.threads.results import SearchResult

MESSAGE_FORMAT: Final = """\
<message>
  <timestamp>{timestamp}</timestamp>
  <role>{role}</role>
  <content>{content}</content>
</message>"""
"""How a recent message is written; ``{timestamp}``, ``{role}`` and ``{content}`` are filled in, escaped."""

_FIELD: Final = re.compile(r"\{(timestamp|role|content)\}")
_NO_TIME: Final = "-"


class Summary:
    """The summary of a thread; ``str()`` of it is its text."""

    __slots__ = ("content",)

    def __init__(self, content: str) -> None:
        self.content = content

    @property
    def formatted_content(self) -> str:
        """The same text."""
        return self.content

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        return f"Summary({self.content!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)


class ContextCard:
    """What a model should know of a conversation, as XML: topics, summary, relevant records and recent messages.

    ``recent_messages`` stay out of the text where none are given; a card without anything is the empty text. What the
    records and messages say is escaped, and is data: it can still say anything.
    """

    __slots__ = ("content", "message_format", "recent_messages", "relevant_results", "summary", "topics")

    def __init__(
        self,
        summary: str,
        topics: Sequence[str] | None = None,
        relevant_results: Sequence[SearchResult] | None = None,
        recent_messages: Sequence[Message] | None = None,
        message_format: str = MESSAGE_FORMAT,
    ) -> None:
        self.summary = summary
        self.topics = list(topics or ())
        self.relevant_results = list(relevant_results or ())
        self.recent_messages = list(recent_messages or ())
        self.message_format = message_format
        empty = not (summary or self.topics or self.relevant_results or self.recent_messages)
        self.content = "" if empty else "\n".join(self._lines())

    @property
    def formatted_content(self) -> str:
        """The same text as ``content``."""
        return self.content

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        return f"ContextCard({self.content!r})"

    def _lines(self) -> Iterator[str]:
        yield "<context_card>"
        yield from _section("topics", indented([element("topic", topic) for topic in self.topics], 2))
        yield from _section("summary", indented([for_xml(self.summary)], 2) if self.summary else [])
        yield from _section(
            "relevant_information", [line for result in self.relevant_results for line in result.lines(level=2)]
        )
        if self.recent_messages:
            messages = (message_text(message, self.message_format) for message in self.recent_messages)
            yield from _section("recent_messages", [line for lines in messages for line in indented(lines, 2)])
        yield "</context_card>"


def message_text(message: Message, message_format: str = MESSAGE_FORMAT) -> list[str]:
    """Return a message in its format, one line of the format an item; images of it are left out."""
    values = {"timestamp": message.timestamp or _NO_TIME, "role": message.role, "content": message.text}
    return [_FIELD.sub(lambda field: for_xml(values[field[1]]), line) for line in message_format.split("\n")]


def _section(name: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return [f"  <{name}></{name}>"]
    return [f"  <{name}>", *lines, f"  </{name}>"]
