"""Recording a turn, durably, beside the bare database transaction that does the least of it."""

from __future__ import annotations

import itertools
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from bench.figures import Figure, Judged
from bench.options import Options
from bench.texts import Texts
from bench.timing import Times, alternately
from memoranda import Memory, MemoryRequestContext

WORDS = 25
_WARM_UP = 50
_SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE turns (
    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, session_id TEXT NOT NULL, turn_seq INTEGER NOT NULL, role TEXT NOT NULL,
    content TEXT, created_at INTEGER NOT NULL, UNIQUE (user_id, session_id, turn_seq)
);
CREATE VIRTUAL TABLE turns_text USING fts5(content, tokenize = 'porter unicode61');
"""


class BareTurns:
    """The floor: one durable transaction of a row and its full-text entry, in SQLite from Python."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, cached_statements=128)
        self._connection.executescript(_SCHEMA)
        self._connection.execute("PRAGMA synchronous = FULL")
        self._numbers = itertools.count(1)

    def record(self, text: str) -> None:
        number, run = next(self._numbers), self._connection.execute
        run("BEGIN IMMEDIATE")
        run(
            "INSERT INTO turns VALUES (?, 'ann', 'one', ?, 'user', ?, ?)",
            (str(uuid.uuid4()), number, text, number),
        )
        run("INSERT INTO turns_text (rowid, content) VALUES (?, ?)", (number, text))
        run("COMMIT")

    def close(self) -> None:
        self._connection.close()


def measure(options: Options) -> Iterator[Figure]:
    """Yield what a turn costs with and without background work, and what it takes on disk."""
    for name, target, worker in (("record_turn", 3.0, False), ("record_turn, worker on", None, True)):
        bare_path, path = (options.folder / f"{name}-{part}.db" for part in ("floor", "ours"))
        with closing(BareTurns(bare_path)) as bare, Memory.open(path, worker=worker) as memory:
            ours, floor = _times(memory, bare, options.times(3000))
        yield Figure(
            name, ours.p50, floor=floor.p50, target=target, judged=Judged.RATIO, note=f"{ours.tail}; floor {floor.tail}"
        )
    yield _tail(ours, floor)
    yield from _sizes(options)


def _tail(ours: Times, floor: Times) -> Figure:
    return Figure("record_turn, worker on, p99", ours.at(0.99), floor=floor.at(0.99))


def _times(memory: Memory, bare: BareTurns, repetitions: int) -> list[Times]:
    texts = Texts(1).sentences(repetitions + _WARM_UP, WORDS)
    handle = memory.bind(MemoryRequestContext(user_id="ann", session_id="one"))

    def record(text: str) -> object:
        return handle.record_turn(role="user", content=text)

    return alternately(
        [_over(texts, record), _over(texts, bare.record)],
        repetitions,
        warm_up=_WARM_UP,
    )


def _over(texts: list[str], call: Callable[[str], object]) -> Callable[[], object]:
    """Return a call that takes the next text each time."""
    left = iter(texts)
    return lambda: call(next(left))


def _sizes(options: Options) -> Iterator[Figure]:
    texts = Texts(2).sentences(options.times(5000), WORDS)
    bare_path, path = options.folder / "size-floor.db", options.folder / "size-ours.db"
    with closing(BareTurns(bare_path)) as bare:
        for text in texts:
            bare.record(text)
    with Memory.open(path, embedder=None, worker=False) as memory:
        handle = memory.bind(MemoryRequestContext(user_id="ann", session_id="one"))
        for start in range(0, len(texts), 500):
            handle.record_turns([{"role": "user", "content": text} for text in texts[start : start + 500]])
    content = sum(len(text.encode()) for text in texts) / len(texts)
    yield Figure(
        "size of a turn on disk",
        path.stat().st_size / len(texts),
        "bytes",
        floor=bare_path.stat().st_size / len(texts),
        note=f"without its vector; the text is {content:.0f} bytes",
    )
