"""Threads that write, delete and read one store at once, beside its worker, leave it sound."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.sdk.errors import MemoryConflictError, MemoryNotFoundError
from memoranda.testing import integrity
from tests.processes import children

USERS = ("one", "two", "three")


def _record(memory: Memory, chance: random.Random) -> None:
    mine = children.handle(memory, chance.choice(USERS), f"s{chance.randrange(2)}")
    mine.record_turn(role="user", content=children.said(chance.randrange(100)), ttl_days=chance.choice([None, 0.00001]))


def _save(memory: Memory, chance: random.Random) -> None:
    mine = children.handle(memory, chance.choice(USERS))
    mine.save_semantic(text=f"fact {chance.randrange(5)}", label=f"label {chance.randrange(3)}")


def _procedure(memory: Memory, chance: random.Random) -> None:
    mine = children.handle(memory, chance.choice(USERS))
    mine.save_procedure(procedure=f"p{chance.randrange(2)}", description="d", content=str(chance.random()))


def _change(memory: Memory, chance: random.Random) -> None:
    mine = children.handle(memory, chance.choice(USERS))
    for item in mine.list_memories(limit=2).items:
        if chance.random() < 0.5:
            mine.update_memory(item.id, content=f"changed {chance.random()}")
        else:
            mine.delete_memory(item.id)


def _delete_turn(memory: Memory, chance: random.Random) -> None:
    mine = children.handle(memory, chance.choice(USERS))
    for turn in mine.list_turns(limit=2).items:
        mine.delete_turn(turn.id)


def _delete_much(memory: Memory, chance: random.Random) -> None:
    if chance.random() < 0.3:
        memory.delete_user(chance.choice(USERS))
    else:
        memory.delete_session(f"s{chance.randrange(2)}", user_id=chance.choice([None, *USERS]))


def _read(memory: Memory, chance: random.Random) -> None:
    mine = children.handle(memory, chance.choice(USERS))
    context = mine.build_context("green marbles fact", enabled_sources={"stm", "semantic"}, include_memories=True)
    assert all((chunk.metadata or {}).get("user_id") in USERS for chunk in context.selected_memories or [])
    memory.status()


DEEDS: tuple[Callable[[Memory, random.Random], None], ...] = (
    _record,
    _record,
    _record,
    _save,
    _procedure,
    _change,
    _delete_turn,
    _delete_much,
    _read,
)


def _act(memory: Memory, seed: int, deeds: int) -> int:
    chance, met = random.Random(seed), 0
    for _ in range(deeds):
        try:
            chance.choice(DEEDS)(memory, chance)
        except (MemoryNotFoundError, MemoryConflictError):  # another thread was there first
            met += 1
    return met


@pytest.mark.parametrize("deeds", [60, pytest.param(2000, marks=pytest.mark.drill)])
def test_threads_that_do_everything_at_once_leave_a_sound_store(tmp_path: Path, deeds: int) -> None:
    path = tmp_path / "memory.db"
    with children.open_echoing(path) as memory:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda seed: _act(memory, seed, deeds), range(4)))
        memory.wait_until_idle(120)
        assert integrity.check(path) == []
        assert memory.status().failures == {}
        for user in USERS:
            memory.delete_user(user)
        status = memory.status()
        assert (status.turns, status.sessions, status.memories) == (0, 0, {})
    assert integrity.check(path) == []
