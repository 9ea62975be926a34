"""Draining snapshots: what each costs beside the model and the embedder, in an empty store and among many memories."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from bench.figures import Figure
from bench.options import Options
from bench.population import DIMENSION, populated, user
from bench.texts import Texts
from bench.timing import alternately
from bench.turns import BareTurns
from memoranda import Memory, MemoryRequestContext
from memoranda.engine.ports import ChatReply
from memoranda.providers.local_embedder import LocalEmbedder

_TURNS = 10
_WORDS = 25
_USERS = 100
_FACTS = 3
_VERDICTS = ("supersedes", "refines", "repeats", "contradicts")


class InstantModel:
    """A chat model in this process that states three new facts and an episode of every snapshot; ``spent`` seconds."""

    model_id = "instant"

    def __init__(self) -> None:
        self.spent = 0.0
        self.calls = 0
        self._texts = itertools.cycle(Texts(5).sentences(5000, 12))

    def complete(self, system: str, user: str, *, schema: dict[str, object] | None = None) -> ChatReply:
        started = time.perf_counter()
        self.calls += 1
        facts = [{"text": self._text(), "record_type": "fact", "label": None, **_SHARED} for _ in range(_FACTS)]
        episode = {"title": "An episode", "text": self._text(), "participants": [], **_SHARED}
        reply = {"summary": self._text(), "semantic": facts, "episodic": [episode], "procedural": [], "taxonomic": []}
        answer = ChatReply(json.dumps(reply), 1000, 200)
        self.spent += time.perf_counter() - started
        return answer

    def _text(self) -> str:
        return f"{next(self._texts)} ({self.calls})"


_SHARED = {"turns": [1, 2], "event_time": None, **{verdict: [] for verdict in _VERDICTS}}


class InstantEmbedder:
    """Passes for the local embedder, with made-up vectors; ``spent`` seconds."""

    dimension = DIMENSION

    def __init__(self) -> None:
        local = LocalEmbedder()
        self.model_id, self.fingerprint = local.model_id, local.fingerprint
        self.max_input_tokens = local.max_input_tokens
        self.spent = 0.0

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        started = time.perf_counter()
        vectors = [[byte - 127.5 for byte in _digest(text)] for text in texts]
        self.spent += time.perf_counter() - started
        return vectors


def _digest(text: str) -> bytes:
    return hashlib.shake_128(text.encode()).digest(DIMENSION)


def measure(options: Options) -> Iterator[Figure]:
    """Yield snapshots a second in a store of their own, and the overhead of one among many memories."""
    count = options.times(1000)
    drained = _Drain(options.folder / "drain.db", count)
    yield Figure(
        f"draining {count:,} snapshots", count / drained.took, "/s", target=60, at_least=True, note=drained.note
    )
    path = options.folder / "drain-populated.db"
    shutil.copy(populated(options), path)
    drained = _Drain(path, options.times(500))
    yield Figure(f"overhead a snapshot among {options.memories:,}", drained.overhead, target=15, note=drained.note)
    path.unlink()


class _Drain:
    """One run: turns are recorded, embedded and cut first; what is timed is their extraction until nothing waits."""

    def __init__(self, path: Path, snapshots: int) -> None:
        model, embedder = InstantModel(), InstantEmbedder()
        with Memory.open(path, llm=model, embedder=embedder, worker=False) as memory:
            _record(memory, snapshots)
            memory.wait_until_idle(promote=False)
            cut = len(memory.promote())
            before = embedder.spent
            started, computed = time.perf_counter(), time.process_time()
            memory.wait_until_idle(promote=False)
            self.took = time.perf_counter() - started
            computed = time.process_time() - computed
            failures = memory.status().failures
        if failures or (cut, model.calls) != (snapshots, snapshots):
            raise RuntimeError(f"{cut} snapshots, {model.calls} calls, failures {failures}; expected {snapshots}")
        providers = model.spent + embedder.spent - before
        self.overhead = 1000 * (self.took - providers) / snapshots
        self.note = (
            f"{self.overhead:.2f} ms each, of which {1000 * (computed - providers) / snapshots:.2f} ms computing; "
            f"the providers {1000 * providers / snapshots:.2f} ms beside; "
            f"a bare durable transaction {_bare(path.with_suffix('.floor.db')):.2f} ms; "
            f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        )


def _bare(path: Path) -> float:
    """Return what the least durable transaction takes here and now, in milliseconds: a drain waits for one or two."""
    with closing(BareTurns(path)) as bare:
        (times,) = alternately([lambda: bare.record("a few words")], 200)
    return times.p50


def _record(memory: Memory, snapshots: int) -> None:
    texts = iter(Texts(6).sentences(snapshots * _TURNS, _WORDS))
    for number in range(snapshots):
        handle = memory.bind(MemoryRequestContext(user_id=user(number % _USERS), session_id=f"drain-{number}"))
        handle.record_turns([{"role": ("user", "assistant")[n % 2], "content": next(texts)} for n in range(_TURNS)])
