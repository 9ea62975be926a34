"""Facts of real conversations, replayed as a model's replies: each is stored once, with its turns, and found again.

The conversations are not part of this repository: ``MEMORANDA_LOCOMO`` names the file. Without it the test is skipped,
and says so.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memory, MemoryRequestContext, TurnInput
from memoranda.engine.text import normal_statement
from tests.engine.extraction.model_world import Asked, ScriptedModel, fact, reply

DATA = os.environ.get("MEMORANDA_LOCOMO", "")
_DATED = "%I:%M %p on %d %B, %Y"


@dataclass
class Conversation:
    """One conversation: its turns by session, and what was observed in which turns."""

    name: str
    sessions: dict[str, tuple[datetime, list[tuple[str, str, str]]]]
    observed: list[tuple[str, tuple[str, ...]]]

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Conversation:
        talk = raw["conversation"]
        sessions = {}
        for key, turns in talk.items():
            if re.fullmatch(r"session_\d+", key):
                moment = datetime.strptime(f"{talk[f'{key}_date_time']} +0000", f"{_DATED} %z")
                sessions[key] = (moment, [(turn["dia_id"], turn["speaker"], turn["text"]) for turn in turns])
        known = {dia for _, turns in sessions.values() for dia, _, _ in turns}
        observed = []
        for by_speaker in raw["observation"].values():
            for text, source in (pair for pairs in by_speaker.values() for pair in pairs):
                ids = re.findall(r"D\d+:\d+", str(source))
                observed.append((text, tuple(dia for dia in ids if dia in known)))
        return cls(str(raw["sample_id"]), sessions, [pair for pair in observed if pair[1]])


def conversations() -> list[Conversation]:
    return [Conversation.read(raw) for raw in json.loads(Path(DATA).read_text(encoding="utf-8"))] if DATA else []


class Replayer:
    """Answers each request with what was observed in the turns that it shows."""

    def __init__(self, told: Conversation) -> None:
        self.by_text: dict[str, list[str]] = {}
        for _, turns in told.sessions.values():
            for dia, _, text in turns:
                self.by_text.setdefault(text.strip(), []).append(dia)
        self.told = told

    def __call__(self, asked: Asked) -> object:
        numbers = {dia: number for number, text in asked.turns.items() for dia in self.by_text[text]}
        found = [
            fact(text, *(numbers[dia] for dia in source if dia in numbers))
            for text, source in self.told.observed
            if source[0] in numbers
        ]
        return reply(semantic=found)


@pytest.mark.skipif(not DATA, reason="MEMORANDA_LOCOMO names no file of conversations: the replay is not run")
@pytest.mark.parametrize("told", conversations(), ids=lambda told: told.name)
def test_every_observed_fact_is_stored_once_with_its_turns_and_found_again(told: Conversation, tmp_path: Path) -> None:
    model = ScriptedModel(Replayer(told))
    ids: dict[str, str] = {}
    with Memory.open(tmp_path / "replay.db", llm=model, embedder=None, worker=False) as opened:
        memory = opened.bind(MemoryRequestContext(user_id=told.name))
        for session, (moment, turns) in told.sessions.items():
            recorded = memory.record_turns(
                [
                    TurnInput(
                        role="user", content=text, session_id=session, timestamp=moment, metadata={"speaker": who}
                    )
                    for _, who, text in turns
                ]
            )
            ids |= {dia: each.id for (dia, _, _), each in zip(turns, recorded, strict=True)}
        snapshots = memory.promote()
        memory.wait_until_idle()
        assert memory.status().failures == {}
        assert len(model.calls) == len(snapshots)

        expected = Counter(normal_statement(text) for text, _ in told.observed)
        stored = list(everything(memory))
        entries = {normal_statement(entry.content): entry for entry in stored}
        assert set(entries) == set(expected)
        assert len(stored) == len(expected)
        for text, source in told.observed:
            entry = memory.get_memory(entries[normal_statement(text)].id)
            assert entry is not None
            assert entry.provenance is not None
            assert {ids[dia] for dia in source[:1]} <= set(entry.provenance["turn_ids"])
            found = memory.search_semantic(text, top_k=3)
            assert normal_statement(text) in [normal_statement(chunk.content) for chunk in found]


def everything(memory: Memory) -> Iterator[Any]:
    cursor = None
    while True:
        page = memory.list_memories(limit=200, cursor=cursor)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return
