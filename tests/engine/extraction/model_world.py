"""A world whose extractor asks a chat model in this process, which answers as a test tells it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.extraction.model_extractor import ModelExtractor
from memoranda.engine.ports import ChatReply
from memoranda.stores.sqlite.store import SqliteStore
from memoranda.testing.clock import ManualClock
from tests.engine.background_world import ScriptedEmbedder, World

KINDS = ("semantic", "episodic", "procedural", "taxonomic")
_HEAD = re.compile(r"\[turn (\d+)\] (\d{4}-\d\d-\d\d \d\d:\d\d) UTC, (\w+), (.*):")
_MEMORY = re.compile(r"\[memory (\d+)\] (\w+)(?:, (\".*?\"))?, since (\d{4}-\d\d-\d\d): (.*)")


@dataclass(frozen=True)
class Asked:
    """One request as the model got it, with what it shows."""

    system: str
    user: str
    schema: dict[str, object] | None

    @property
    def turns(self) -> dict[int, str]:
        """The texts of the turns by number."""
        found: dict[int, list[str]] = {}
        for line in self.user.split("\n"):
            head = _HEAD.fullmatch(line)
            if head:
                found[int(head[1])] = []
            elif found and line.startswith("| "):
                found[max(found)].append(line.removeprefix("| "))
            elif found:
                break
        return {number: "\n".join(lines) for number, lines in found.items()}

    @property
    def memories(self) -> dict[int, str]:
        """The known memories by number."""
        return {int(found[1]): found[5] for line in self.user.split("\n") if (found := _MEMORY.fullmatch(line))}

    def memory(self, text: str) -> int:
        """Return the number of the known memory with this text."""
        return next(number for number, shown in self.memories.items() if shown == text)


Script = Callable[[Asked], object]


@dataclass
class ScriptedModel:
    """Answers each request with what ``script`` makes of it: text as it is, an exception raised, anything else JSON."""

    script: Script = lambda asked: reply()
    model_id: str = "scripted-model"
    calls: list[Asked] = field(default_factory=list)

    def complete(self, system: str, user: str, *, schema: dict[str, object] | None = None) -> ChatReply:
        asked = Asked(system, user, schema)
        self.calls.append(asked)
        answer = self.script(asked)
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) or answer is None else json.dumps(answer, ensure_ascii=False)
        return ChatReply(cast(str, text), input_tokens=100, output_tokens=10)

    def answer(self, *answers: object) -> None:
        """Let the next requests be answered by these, and all later ones by the last."""
        left = list(answers)
        self.script = lambda asked: left.pop(0) if len(left) > 1 else left[0]


def reply(**lists: object) -> dict[str, object]:
    """Return a reply of all kinds; those that are not given are empty."""
    return {"summary": "what was said", **{kind: [] for kind in KINDS}, **lists}


def fact(text: str, *turns: int, **fields: object) -> dict[str, object]:
    """Return a semantic item."""
    blank: dict[str, object] = {
        "supersedes": [],
        "refines": [],
        "repeats": [],
        "contradicts": [],
        "event_time": None,
        "label": None,
    }
    return {"text": text, "record_type": "fact", "turns": list(turns), **blank, **fields}


def facts_of_turns(asked: Asked) -> object:
    """Take every turn for a fact."""
    return reply(semantic=[fact(text, number) for number, text in asked.turns.items()])


@contextmanager
def open_model_world(
    path: Path, model: ScriptedModel, *, config: ProjectConfig | None = None, embeds: bool = False
) -> Iterator[World]:
    store = SqliteStore.open(path)
    try:
        yield World(
            path=path,
            store=store,
            clock=ManualClock(),
            config=config or ProjectConfig(),
            extractor=cast(Any, ModelExtractor(model)),
            embedder=ScriptedEmbedder() if embeds else None,
        )
    finally:
        store.close()


def contents(world: World, user: str = "ann") -> Sequence[str]:
    """Return what a user's current memories say, sorted."""
    return sorted(record.content for record in world.current(user=user))
