"""A handle that was opened before a fork goes on in both processes; a spawned process opens its own."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.testing import integrity
from tests.processes import children

# A fork beside running threads is what these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def _answer(process: multiprocessing.process.BaseProcess, connection: multiprocessing.connection.Connection) -> object:
    try:
        assert connection.poll(60), "the process gave no answer"
        return connection.recv()
    finally:
        process.join(20)
        process.kill()


def _facts(memory: Memory, user: str) -> int:
    return len(memory.list_memories(user_id=user, kind="semantic").items)


def test_forked_child_and_parent_both_write_and_extract(path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    with children.open_echoing(path) as memory:
        children.handle(memory, "before").record_turn(role="user", content="before the fork")
        child = fork.Process(target=children.use, args=(memory, "child", sender))
        child.start()
        for number in range(7):
            children.handle(memory, "parent").record_turn(role="user", content=children.said(number))
        assert _answer(child, receiver) == 7
        memory.wait_until_idle(30)
        assert (_facts(memory, "parent"), _facts(memory, "child"), _facts(memory, "before")) == (7, 7, 1)
    assert integrity.check(path) == []


def test_forked_child_extracts_when_its_parent_has_gone(path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    memory = children.open_echoing(path)
    children.handle(memory, "before").record_turn(role="user", content="before the fork")
    child = fork.Process(target=_use_when_told, args=(memory, fork.Event(), sender))
    event = child._args[1]  # type: ignore[attr-defined]  # the event was made in this process
    child.start()
    memory.close()
    event.set()
    assert _answer(child, receiver) == 7
    assert integrity.check(path) == []


def _use_when_told(
    memory: Memory, told: multiprocessing.synchronize.Event, sender: multiprocessing.connection.Connection
) -> None:
    told.wait(30)
    children.use(memory, "child", sender)


def test_fork_in_the_middle_of_writes_harms_neither(path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    with children.open_echoing(path) as memory, ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(_record_many, memory, user) for user in ("one", "two")]
        pipes = [fork.Pipe(duplex=False) for _ in range(3)]
        forked = [fork.Process(target=children.use, args=(memory, f"child-{n}", pipes[n][1])) for n in range(3)]
        for process in forked:
            process.start()
        assert [_answer(process, pipe[0]) for process, pipe in zip(forked, pipes, strict=True)] == [7, 7, 7]
        assert [writer.result(60) for writer in writers] == [60, 60]
    assert integrity.check(path) == []


def _record_many(memory: Memory, user: str) -> int:
    mine = children.handle(memory, user)
    return max(mine.record_turn(role="user", content=children.said(number)).turn_seq for number in range(60))


def test_spawned_process_shares_the_store(path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    with children.open_echoing(path) as memory:
        child = spawn.Process(target=children.write_and_extract, args=(path, "child", sender))
        child.start()
        for number in range(7):
            children.handle(memory, "parent").record_turn(role="user", content=children.said(number))
        assert _answer(child, receiver) == 7
        memory.wait_until_idle(30)
        assert (_facts(memory, "parent"), _facts(memory, "child")) == (7, 7)
    assert integrity.check(path) == []


def test_threads_share_a_handle(path: Path) -> None:
    with children.open_echoing(path) as memory:
        with ThreadPoolExecutor(6) as pool:
            last = list(pool.map(lambda user: _record_many(memory, user), ["one", "two", "three"] * 2))
        assert max(last) == 120
        memory.wait_until_idle(60)
        for user in ("one", "two", "three"):
            turns = memory.list_turns("s", user_id=user, limit=1000).items
            assert [turn.turn_seq for turn in turns] == list(range(1, 121))
            assert _facts(memory, user) == 40
    assert integrity.check(path) == []
