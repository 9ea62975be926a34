"""A store of 100,000 memories of 100 users, a tenth of them for the whole organisation; built through the facade."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from bench.options import Options
from bench.texts import Texts, unit_vectors
from memoranda import Memory, MemoryRequestContext

WORDS = 20
DIMENSION = 512
RICH_USERS = 3
"""How many users also have as many episodes, and as many turns in one session."""

_BATCH = 1000
SESSION = "long"


def user(number: int) -> str:
    return f"user-{number:03}"


@cache
def populated(options: Options) -> Path:
    """Build the store, once a run, and return its file."""
    path = options.folder / "population.db"
    with Memory.open(path, worker=False) as memory:
        for number in range(options.users):
            _save(memory, _facts(options, number))
        for number in range(RICH_USERS):
            _save(memory, _episodes(options, number))
            _record(memory, options, number)
    with Memory.open(path) as memory:
        memory.wait_until_idle(promote=False)
    return path


def _save(memory: Memory, items: list[dict[str, object]]) -> None:
    for start in range(0, len(items), _BATCH):
        memory.save_many(items[start : start + _BATCH])


def _texts(options: Options, number: int, words: int) -> Iterator[tuple[str, list[float]]]:
    count = options.memories_a_user
    vectors = unit_vectors(count, DIMENSION, 10_000 * words + number)
    return zip(Texts(10_000 * words + number).sentences(count, words), vectors.tolist(), strict=True)


def _facts(options: Options, number: int) -> list[dict[str, object]]:
    owner = user(number)
    return [
        {
            "kind": "semantic",
            "label": f"fact {position}",
            "text": text,
            "user_id": owner,
            "visibility": "org" if position % 10 == 0 else "private",
            "embedding": vector,
        }
        for position, (text, vector) in enumerate(_texts(options, number, WORDS))
    ]


def _episodes(options: Options, number: int) -> list[dict[str, object]]:
    return [
        {
            "kind": "episodic",
            "title": f"Episode {position}",
            "content": text,
            "user_id": user(number),
            "session_id": f"session-{position // 50}",
            "embedding": vector,
        }
        for position, (text, vector) in enumerate(_texts(options, number, 2 * WORDS))
    ]


def _record(memory: Memory, options: Options, number: int) -> None:
    texts = Texts(number).sentences(options.memories_a_user, WORDS)
    handle = memory.bind(MemoryRequestContext(user_id=user(number), session_id=SESSION))
    handle.record_turns([{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)])
