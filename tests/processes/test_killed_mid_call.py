"""A worker that is killed in the middle of a model's call leaves a snapshot that the next one extracts, once."""

from __future__ import annotations

import json
import multiprocessing
import random
import re
import time
from collections import Counter
from pathlib import Path

import pytest

from memoranda.testing import integrity
from memoranda.testing import scripted_answers as answers
from memoranda.testing.scripted_answers import CHAT, ProviderRequest
from memoranda.testing.scripted_provider import ScriptedProvider
from tests.processes import children

spawn = multiprocessing.get_context("spawn")

USERS = ("ann", "bob", "cem")
LATENCY = 0.1
_TURN = re.compile(r"^\[turn (\d+)\].*:\n\| (.*)$", re.MULTILINE)
_VERDICTS = ("supersedes", "refines", "repeats", "contradicts")


def facts_of_turns(request: ProviderRequest) -> str:
    """Take every turn for a fact."""
    facts = [
        {
            "text": text,
            "record_type": "fact",
            "label": None,
            "turns": [int(number)],
            "event_time": None,
            **{verdict: [] for verdict in _VERDICTS},
        }
        for number, text in _TURN.findall(request.user)
    ]
    return json.dumps({"summary": "", "semantic": facts, "episodic": [], "procedural": [], "taxonomic": []})


def _record(path: Path, url: str, snapshots: int) -> list[str]:
    """Record sessions, each of which becomes one snapshot; return what their turns say."""
    said = []
    with children.open_asking(path, url, worker=False) as memory:
        for number in range(snapshots):
            texts = [f"Box {number} holds {number * 7 + part} marbles of glass" for part in range(2)]
            handle = children.handle(memory, USERS[number % len(USERS)], f"session-{number}")
            handle.record_turns([{"role": "user", "content": text} for text in texts])
            said += texts
        assert len(memory.promote()) == snapshots
    return said


def _kill_in_a_call(path: Path, provider: ScriptedProvider, minutes: int, patience: float) -> None:
    """Have a process extract, and kill it some time after the model was asked."""
    before = provider.calls(CHAT)
    process = spawn.Process(target=children.extract_until_killed, args=(path, provider.url, minutes))
    process.start()
    try:
        while provider.calls(CHAT) == before:
            assert process.is_alive(), "the process ended by itself"
            time.sleep(0.002)
        time.sleep(patience)
    finally:
        process.kill()
        process.join(30)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [5, pytest.param(50, marks=pytest.mark.drill)])
def test_every_snapshot_is_extracted_once_however_often_workers_die(tmp_path: Path, kills: int) -> None:
    path, chance = tmp_path / "memory.db", random.Random(7)
    with ScriptedProvider() as provider:
        good = answers.reply(facts_of_turns)
        provider.always(CHAT, answers.slow(LATENCY, good))
        snapshots = 3 * kills + 3
        said = _record(path, provider.url, snapshots)
        for kill in range(1, kills + 1):
            _kill_in_a_call(path, provider, kill, chance.uniform(0, 2 * LATENCY))
            assert integrity.check(path) == []
        provider.always(CHAT, good)
        with children.open_asking(path, provider.url, worker=False, minutes=kills + 1) as memory:
            memory.wait_until_idle()
            status = memory.status()
            facts = [
                fact for user in USERS for fact in memory.list_memories(user_id=user, kind="semantic", limit=1000).items
            ]
        calls = provider.calls(CHAT)
    assert Counter({fact.content: fact.occurrences for fact in facts}) == Counter(said)
    assert (status.failures, status.queue.get("extract"), status.breakers) == ({}, None, [])
    # No snapshot was asked for again but those whose call was cut off.
    assert snapshots <= calls <= snapshots + kills
    assert integrity.check(path) == []
