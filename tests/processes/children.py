"""What other processes do in the tests of this folder; a module of its own, so that a spawned process can import it."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path

from memoranda import Memory, MemoryRequestContext
from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.providers.openai_compatible import OpenAIChatModel
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.extractors import ScriptedExtractor

CONFIG = {"memory": {"background_extraction": {"snapshot": {"max_messages": 5}}}}


def echo(turns: Sequence[SourceTurn]) -> list[ExtractedItem]:
    """Take every turn for a fact; slow enough to be killed in the middle."""
    time.sleep(0.003)
    return [
        ExtractedItem(
            "semantic", turn.content, record_type="fact", turn_ids=(turn.turn_id,), event_time=turn.event_time
        )
        for turn in turns
    ]


@dataclass(frozen=True, slots=True)
class LaterClock:
    """The clock of the machine, put forward: the leases of a process that died have run out by then."""

    minutes: int

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(minutes=self.minutes)


def open_echoing(path: Path, *, worker: bool = True, minutes: int = 0) -> Memory:
    """Open a store whose extractor takes every turn for a fact, some minutes from now."""
    return Memory.open(
        path,
        config=CONFIG,
        embedder=HashedEmbedder(dimension=16),
        llm=ScriptedExtractor(echo, name="echo"),
        worker=worker,
        clock=LaterClock(minutes),
    )


def handle(memory: Memory, user: str, session: str = "s") -> Memory:
    return memory.bind(MemoryRequestContext(user_id=user, session_id=session))


def write(path: Path, name: str, count: int, start: Barrier, results: Connection) -> None:
    """Open the store together with all others and record turns; send the (session, number) of each."""
    start.wait(60)
    try:
        with Memory.open(path, embedder=None) as memory:
            session = f"session-{name[-1]}"
            mine = handle(memory, "alice", session)
            recorded = [mine.record_turn(role="user", content=f"{name} says {number}") for number in range(count)]
        results.send([(session, turn.turn_seq) for turn in recorded])
    except Exception as error:  # noqa: BLE001 - told to the test
        results.send(repr(error))


def read(path: Path, start: Barrier, stop: Event, results: Connection) -> None:
    """Open the store together with all others and read until told to stop; send how often, or what went wrong."""
    start.wait(60)
    try:
        with Memory.open(path, embedder=None, worker=False) as memory:
            mine = handle(memory, "alice", "session-0")
            rounds = 0
            while not stop.is_set() or not rounds:
                rounds += 1
                turns = mine.list_turns(limit=1000).items
                numbers = [turn.turn_seq for turn in turns]
                if numbers != list(range(1, len(numbers) + 1)):
                    raise ValueError(f"turns out of order: {numbers}")
                mine.build_context("says", enabled_sources={"stm"})
                memory.status()
        results.send(rounds)
    except Exception as error:  # noqa: BLE001 - told to the test
        results.send(repr(error))


def record_from(path: Path, first: int, minutes: int, acknowledged: Connection) -> None:
    """Record turns without end, from the one with this number on; send each number when it is acknowledged."""
    memory = handle(open_echoing(path, minutes=minutes), "alice")
    for number in itertools.count(first):
        memory.record_turn(role="user", content=said(number), idempotency_key=f"turn-{number}")
        acknowledged.send(number)


def said(number: int) -> str:
    """Return what the turn with this number says; every fact is stated again after a while."""
    return f"Fact number {number % 40} is that box {number % 40} holds {number % 40 * 7} green marbles"


def write_and_extract(path: Path, user: str, results: Connection) -> None:
    """Open the store, record turns and have them extracted here; send how many facts there are then."""
    with open_echoing(path) as memory:
        use(memory, user, results)


def use(memory: Memory, user: str, results: Connection) -> None:
    """Record turns over an open handle and have them extracted; send how many facts there are then."""
    try:
        mine = handle(memory, user)
        for number in range(7):
            mine.record_turn(role="user", content=said(number))
        mine.wait_until_idle(30)
        results.send(len(mine.list_memories(user_id=user, kind="semantic").items))
    except Exception as error:  # noqa: BLE001 - told to the test
        results.send(repr(error))


def open_asking(path: Path, url: str, *, worker: bool = True, minutes: int = 0) -> Memory:
    """Open a store whose extractor asks a model at this address, some minutes from now."""
    return Memory.open(
        path,
        config=CONFIG,
        embedder=HashedEmbedder(dimension=16),
        llm=OpenAIChatModel("scripted", base_url=url),
        worker=worker,
        clock=LaterClock(minutes),
    )


def extract_until_killed(path: Path, url: str, minutes: int) -> None:
    """Extract what waits, for as long as this process lives."""
    with open_asking(path, url, minutes=minutes):
        threading.Event().wait()
