"""A language model that answers by a script, and remembers what it was asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memoranda.threads.apis import ILlm, LlmPrompt, LlmResponse

EXTRACTION = "memory_extraction"
LINKS = "memory_links"
SUMMARY = "context_card_metadata"
PLAIN = "plain"

Answer = Callable[[str], str]


def contents(user: str, section: str = "newest_messages") -> list[str]:
    """Return what the messages of a section of a prompt say."""
    found = re.search(rf"<{section}>(.*?)</{section}>", user, re.DOTALL)
    return re.findall(r"<content>(.*?)</content>", found[1], re.DOTALL) if found else []


def facts(*texts: str, **fields: object) -> str:
    """Return an answer with one fact a text."""
    return json.dumps(
        {"thoughts": None, "memories": [{"text": each, "record_type": "fact", **fields} for each in texts]}
    )


def fact_per_message(user: str) -> str:
    return facts(*contents(user))


def summary_of_all(user: str) -> str:
    before = re.search(r"<earlier_summary>\n(.*?)\n</earlier_summary>", user, re.DOTALL)
    told = [before[1]] if before else []
    return json.dumps({"summary": " | ".join([*told, *contents(user, "newer_messages")]), "topics": ["Lyon ", "lyon"]})


class ScriptedLlm(ILlm):
    """Answers each kind of question by its script; ``asked`` has (kind, system, user) in order."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.schemas: list[Mapping[str, object] | None] = []
        self.script: dict[str, Answer] = {
            EXTRACTION: fact_per_message,
            LINKS: lambda user: json.dumps({"source_resolutions": {}}),
            SUMMARY: summary_of_all,
            PLAIN: lambda user: "short",
        }

    def generate(
        self, prompt: LlmPrompt, *, response_json_schema: Mapping[str, object] | None = None, **kwargs: Any
    ) -> LlmResponse:
        assert not isinstance(prompt, str)
        system, user = (str(message.content) for message in _messages(prompt))
        kind = str(response_json_schema["title"]) if response_json_schema else PLAIN
        self.asked.append((kind, system, user))
        self.schemas.append(response_json_schema)
        return LlmResponse(self.script[kind](user))

    async def generate_async(
        self, prompt: LlmPrompt, *, response_json_schema: Mapping[str, object] | None = None, **kwargs: Any
    ) -> LlmResponse:
        return self.generate(prompt, response_json_schema=response_json_schema)

    def questions(self, kind: str) -> list[str]:
        """Return what was asked of a kind."""
        return [user for each, _, user in self.asked if each == kind]

    def raises(self, kind: str, error: Exception) -> None:
        def answer(user: str) -> str:
            raise error

        self.script[kind] = answer


def _messages(prompt: Sequence[Any]) -> Sequence[Any]:
    return prompt
