"""How often the turns that answer a question are found: real conversations, alone and among strangers' memories."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from bench.conversations import Conversation, read_conversations
from bench.figures import Figure
from bench.options import Options
from bench.population import populated
from bench.timing import Times, seconds
from memoranda import Memory

TOP = 10
_PAGE = 1000


def measure(options: Options) -> Iterator[Figure]:
    """Yield ingest time, recall and reading time; says so and yields nothing without a file of conversations."""
    if options.conversations is None or not options.conversations.is_file():
        place = options.conversations or "none given: pass --conversations FILE or set MEMORANDA_LOCOMO"
        print(f"recall is not measured: no file of conversations ({place})", file=sys.stderr)
        return
    conversations = read_conversations(options.conversations)
    conversations = conversations[:2] if options.quick else conversations
    alone = options.folder / "alone.db"
    yield from _ingest(options, conversations, alone)
    recall, times = _recall(alone, conversations)
    yield Figure("turn recall at 10", recall, "", target=0.68, at_least=True, note=f"build_context p50 {times.p50:.1f}")
    crowded = options.folder / "crowded.db"
    shutil.copyfile(populated(options), crowded)
    for conversation in conversations:
        _ingest_one(options, conversation, crowded)
    among, times = _recall(crowded, conversations)
    yield Figure(
        f"  with {options.memories:,} memories of others",
        among,
        "",
        target=round(recall - 0.01, 4),
        at_least=True,
        note=f"build_context p50 {times.p50:.1f}",
    )


def _ingest(options: Options, conversations: Sequence[Conversation], store: Path) -> Iterator[Figure]:
    taken = [seconds(partial(_ingest_one, options, each, store)) for each in conversations]
    turns = sum(len(conversation.lines) for conversation in conversations) / len(conversations)
    times = Times.of(taken)
    yield Figure(
        "memoranda ingest, longest conversation",
        times.at(1.0) / 1000,
        "s",
        target=20.0,
        note=f"p50 {times.p50 / 1000:.1f} s, {turns:.0f} turns on average, extraction included",
    )


def _ingest_one(options: Options, conversation: Conversation, store: Path) -> None:
    file = conversation.write(options.folder)
    command = ["-m", "memoranda", "--store", str(store), "ingest", str(file), "--user", conversation.name]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ingest of {conversation.name} ended with {done.returncode}:\n{done.stderr.strip()}")


def _recall(store: Path, conversations: Sequence[Conversation]) -> tuple[float, Times]:
    """Return the mean share of a question's evidence in the first ten turns of its context."""
    found: list[float] = []
    taken: list[float] = []
    with Memory.open(store) as memory:
        memory.wait_until_idle()
        for conversation in conversations:
            marks = _marks(memory, conversation)
            for question in conversation.questions:
                started = time.perf_counter()
                context = memory.build_context(
                    question.text, user_id=conversation.name, enabled_sources={"stm"}, include_memories=True
                )
                taken.append(time.perf_counter() - started)
                shown = {marks[chunk.id] for chunk in (context.selected_memories or ())[:TOP]}
                found.append(len(shown & question.evidence) / len(question.evidence))
    return sum(found) / len(found), Times.of(taken)


def _marks(memory: Memory, conversation: Conversation) -> dict[str, str]:
    """Return which mark each stored turn has: sessions keep the order in which they were said."""
    left: dict[str, list[str]] = {}
    for line in conversation.lines:
        left.setdefault(line.session_id, []).append(line.mark)
    marks: dict[str, str] = {}
    cursor: str | None = None
    while True:
        page = memory.list_turns(user_id=conversation.name, limit=_PAGE, cursor=cursor)
        for turn in page.items:
            marks[turn.id] = left[turn.session_id or ""].pop(0)
        cursor = page.next_cursor
        if cursor is None:
            return marks
