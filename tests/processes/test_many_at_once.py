"""Many processes open one new file at once, then write and read it together."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.testing import integrity
from tests.processes import children

WRITERS, READERS, TURNS = 4, 4, 250
spawn = multiprocessing.get_context("spawn")


def _received(connection: Connection) -> object:
    assert connection.poll(100), "a process gave no answer"
    return connection.recv()


def _run_round(path: Path) -> None:
    start, stop = spawn.Barrier(WRITERS + READERS), spawn.Event()
    pipes = [spawn.Pipe(duplex=False) for _ in range(WRITERS + READERS)]
    processes = [
        spawn.Process(target=children.write, args=(path, f"writer-{number % 2}", TURNS, start, pipes[number][1]))
        for number in range(WRITERS)
    ]
    processes += [spawn.Process(target=children.read, args=(path, start, stop, pipe[1])) for pipe in pipes[WRITERS:]]
    for process in processes:
        process.start()
    try:
        written = [_received(pipe[0]) for pipe in pipes[:WRITERS]]
        stop.set()
        reads = [_received(pipe[0]) for pipe in pipes[WRITERS:]]
    finally:
        stop.set()
        for process in processes:
            process.join(20)
            process.kill()
    assert [answer for answer in [*written, *reads] if isinstance(answer, str)] == []
    assert all(isinstance(answer, int) and answer > 0 for answer in reads)
    _check(path, written)


def _check(path: Path, written: list[object]) -> None:
    numbers = Counter(place for answer in written if isinstance(answer, list) for place in answer)
    assert len(numbers) == WRITERS * TURNS, "a number was given twice"
    with Memory.open(path, embedder=None, worker=False) as memory:
        assert memory.status().turns == WRITERS * TURNS
        for session in ("session-0", "session-1"):
            turns = memory.list_turns(session, user_id="alice", limit=1000).items
            assert [turn.turn_seq for turn in turns] == list(range(1, 2 * TURNS + 1))
    assert integrity.check(path) == []


@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.drill)])
def test_processes_lose_and_double_nothing(tmp_path: Path, rounds: int) -> None:
    for number in range(rounds):
        _run_round(tmp_path / f"memory-{number}.db")
