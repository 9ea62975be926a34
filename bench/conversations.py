"""Long conversations with questions whose evidence is marked: read, and turned into chat files.

The file is a JSON list; each item has ``sample_id``, ``conversation`` (``speaker_a``, ``session_N`` with turns of
``speaker``, ``dia_id``, ``text``, ``blip_caption``, and ``session_N_date_time``) and ``qa`` (``question``,
``evidence``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_SESSION = re.compile(r"session_(\d+)")
# Evidence is written by hand: "D8:6; D9:17", "D9:1 D4:4", "D:11:26", "D30:05", and a bare "D" that names no turn.
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Line:
    """One turn as a chat file has it, and the mark that evidence names it by."""

    mark: str
    role: str
    content: str
    session_id: str
    timestamp: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the marks of the turns that answer it, at least one."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of several sessions."""

    name: str
    lines: tuple[Line, ...]
    questions: tuple[Question, ...]

    def write(self, folder: Path) -> Path:
        """Write the turns as JSON Lines and return the file."""
        path = folder / f"{self.name}.jsonl"
        with path.open("w", encoding="utf-8") as stream:
            for line in self.lines:
                turn = {
                    "role": line.role,
                    "content": line.content,
                    "session_id": line.session_id,
                    "timestamp": line.timestamp.isoformat(),
                }
                stream.write(json.dumps(turn, ensure_ascii=False) + "\n")
        return path


def read_conversations(path: Path) -> list[Conversation]:
    """Read all conversations of a file; questions without usable evidence are left out."""
    return [_conversation(sample) for sample in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    lines = tuple(_lines(sample["conversation"]))
    marks = {line.mark for line in lines}
    questions = (Question(item["question"], _evidence(item) & marks) for item in sample["qa"])
    return Conversation(sample["sample_id"], lines, tuple(question for question in questions if question.evidence))


def _lines(conversation: Mapping[str, Any]) -> Iterator[Line]:
    numbers = sorted(int(match[1]) for match in map(_SESSION.fullmatch, conversation) if match)
    for number in numbers:
        session = f"session_{number}"
        began = _time(conversation[f"{session}_date_time"])
        for turn in conversation[session]:
            role = "user" if turn["speaker"] == conversation["speaker_a"] else "assistant"
            shared = f" [shares a picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            yield Line(_mark(turn["dia_id"]), role, f"{turn['speaker']}: {turn['text']}{shared}", session, began)


def _time(text: str) -> datetime:
    """Read "1:56 pm on 8 May, 2023", local to nowhere."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _mark(text: str) -> str:
    found = _EVIDENCE.search(text)
    if found is None:
        raise ValueError(f"{text!r} does not mark a turn; expected something like 'D3:12'")
    return f"{int(found[1])}:{int(found[2])}"


def _evidence(item: Mapping[str, Any]) -> frozenset[str]:
    written = " ".join(str(part) for part in item.get("evidence") or ())
    return frozenset(f"{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(written))
