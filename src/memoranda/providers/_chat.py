"""What the chat models of every interface do alike: JSON by schema while the server has it, by instruction after."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from memoranda.engine.ports import ChatReply
from memoranda.providers._connection import sendable
from memoranda.providers._schema import ChatMessage, instructed_messages

FORMAT_WORDS: Final = ("response_format", "response format", "json_schema", "structured output", "guided_json")
"""What a refusal names that is about the schema."""
NOTHING: Final[Mapping[str, object]] = MappingProxyType({})


class UnsupportedParameterError(Exception):
    """The server refuses a parameter by name; the request is made again without it."""


class ChatInterface(ABC):
    """A ``ChatModel`` but for how one request is made. ``structured=False`` says that the server has no schemas."""

    def __init__(self, *, structured: bool = True) -> None:
        self._structured = structured

    @abstractmethod
    def _ask(
        self, messages: Sequence[ChatMessage], options: Mapping[str, object], schema: Mapping[str, object] | None
    ) -> ChatReply:
        """Make one request; ``UnsupportedParameterError`` where the server refuses the schema by name."""

    def complete(self, system: str, user: str, *, schema: dict[str, object] | None = None) -> ChatReply:
        """Answer one request; with ``schema`` by JSON schema where the server has it, by instruction where not."""
        return self.converse(chat_messages(system, user), schema=schema)

    def converse(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, object] | None = None,
        options: Mapping[str, object] = NOTHING,
    ) -> ChatReply:
        """Answer messages as chat completions have them, images too; ``options`` are further parameters."""
        if schema is None:
            return self._ask(messages, options, None)
        if self._structured:
            try:
                return self._ask(messages, options, schema)
            except UnsupportedParameterError:
                self._structured = False
        return self._ask(instructed_messages(messages, schema), options, None)


def chat_messages(system: str, user: str) -> list[ChatMessage]:
    """Return the messages of a request; a blank system text is left out."""
    texts = [("system", system), ("user", user)] if system.strip() else [("user", user)]
    return [{"role": role, "content": sendable(text)} for role, text in texts]
