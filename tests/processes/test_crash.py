"""A process that is killed at a random moment loses nothing that it acknowledged, and its work is finished later."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.testing import integrity
from tests.processes import children

spawn = multiprocessing.get_context("spawn")


def _run_until_killed(path: Path, first: int, minutes: int, patience: float) -> list[int]:
    """Have a process record turns from ``first`` on, kill it, and return what it acknowledged."""
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=children.record_from, args=(path, first, minutes, sender))
    process.start()
    sender.close()
    try:
        assert receiver.poll(60), "the process recorded nothing"
        time.sleep(patience)
    finally:
        process.kill()
        process.join(30)
    return _received(receiver)


def _received(receiver: Connection) -> list[int]:
    numbers: list[int] = []
    while receiver.poll(0):
        try:
            numbers.append(receiver.recv())
        except (EOFError, OSError):  # the message that was being written when the process died
            break
    return numbers


def _turns(memory: Memory) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = memory.list_turns("s", user_id="alice", limit=1000, cursor=cursor)
        found += [turn.content or "" for turn in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.drill)])
def test_a_killed_process_loses_nothing_it_acknowledged(tmp_path: Path, kills: int) -> None:
    path, chance, following = tmp_path / "memory.db", random.Random(4), 0
    for kill in range(kills):
        acknowledged = _run_until_killed(path, following, kill, chance.uniform(0, 0.25))
        following = max([following, *(number + 1 for number in acknowledged)])
        assert integrity.check(path) == []
        with children.open_echoing(path, worker=False) as memory:
            stored = _turns(memory)
        # One turn more may be durable than was acknowledged.
        assert stored in [[children.said(number) for number in range(end)] for end in (following, following + 1)]
    _check_that_all_was_extracted_once(path, kills)


def _check_that_all_was_extracted_once(path: Path, minutes: int) -> None:
    with children.open_echoing(path, minutes=minutes) as memory:
        memory.wait_until_idle(200)
        stored = Counter(_turns(memory))
        facts = memory.list_memories(user_id="alice", kind="semantic", limit=1000).items
        status = memory.status()
    assert Counter({fact.content: fact.occurrences for fact in facts}) == stored
    assert (status.failures, status.jobs.get("running", 0)) == ({}, 0)
    assert integrity.check(path) == []
