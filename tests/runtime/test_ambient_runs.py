"""Agents run by a host over the embedded engine: what they are asked and say is remembered, for whom it was said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memoranda import AgentHost, AsyncAgentHost, AsyncMemory, Memory, MemoryConflictError, MemoryRequestContext

ADA: dict[str, Any] = {"user_id": "ada", "session_id": "monday"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as opened:
        yield opened


def said(memory: Memory, **who: Any) -> list[tuple[str, str | None, str | None]]:
    return [(turn.role, turn.content, turn.user_id) for turn in memory.list_turns(**(who or ADA)).items]


def remembers(question: str, memory: Memory) -> str:
    """Answer with what the user said, in their words."""
    return str(memory.build_context(question, enabled_sources={"stm"}, format_style="jinja2").formatted_context)


def test_an_agent_recalls_what_its_user_said_and_nothing_of_others(memory: Memory) -> None:
    host = AgentHost(memory)
    with host.run(**ADA, input="I am allergic to penicillin.") as run:
        run.reply("Noted.")
    with host.run(user_id="bob", session_id="monday", input="I am allergic to peanuts.") as run:
        run.reply("Noted.")
    answer = host.call(remembers, "allergic", **ADA, agent_id="helper")
    assert "penicillin" in answer
    assert "peanuts" not in answer
    assert [turn[0] for turn in said(memory)] == ["user", "assistant", "user", "assistant"]
    assert {turn[2] for turn in said(memory)} == {"ada"}


def test_turns_of_an_agent_are_whole(memory: Memory) -> None:
    host = AgentHost(memory)
    with host.run(**ADA, agent_id="helper", input="What is the time?") as run:
        calls = [{"id": "c1", "function": {"name": "clock", "arguments": "{}"}}]
        asked = run.memory.record_turn(role="assistant", tool_calls=calls, model_name="m")
        told = run.memory.record_turn(role="tool", content="12:00", tool_call_id="c1", tool_name="clock")
        noon = run.reply("It is noon.", metadata={"tone": "dry"})
    assert (asked.turn_seq, told.turn_seq) == (2, 3), "an in-process run gives real sequence numbers"
    assert noon is not None
    kept = memory.get_turn(noon.id)
    assert kept is not None
    assert (kept.turn_seq, kept.agent_id, kept.metadata) == (4, "helper", {"tone": "dry"})


def test_lists_and_updates_work_within_a_run(memory: Memory) -> None:
    host = AgentHost(memory, record_turns=False)
    with host.run(**ADA) as run:
        saved = run.memory.save_semantic(text="Prefers window seats.", label="seat")
        run.memory.save_procedure(procedure="greet", description="d", content="one")
        run.memory.save_procedure(procedure="greet", description="d", content="two", update_existing=True)
        run.memory.save_taxonomic(domain="travel", term="PNR", definition="a booking")
        assert [entry.id for entry in run.memory.list_memories(kind="semantic").items] == [saved.id]
        assert run.memory.list_domains() == ["travel"]
    with host.run(user_id="bob") as run:
        assert run.memory.get_memory(saved.id) is None
        assert run.memory.list_memories(kind="semantic").items == []


def test_a_retried_run_doubles_no_turn_and_a_cut_off_stream_may_be_retried(memory: Memory) -> None:
    host = AgentHost(memory)
    broken = True

    def agent(question: str, memory: Memory) -> Iterator[str]:
        yield "so "
        if broken:
            raise ZeroDivisionError
        yield "far"

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            list(host.stream(agent, "hello", **ADA, run_id="r1"))
    broken = False
    for _ in range(2):
        assert "".join(host.stream(agent, "hello", **ADA, run_id="r1")) == "so far"
    assert [turn[1] for turn in said(memory)] == ["hello", "so ", "so far"]
    assert [turn.metadata for turn in memory.list_turns(**ADA).items] == [None, {"incomplete": "failed"}, None]


def test_the_first_reply_of_a_retried_run_stands(memory: Memory) -> None:
    host = AgentHost(memory)
    replies = iter(["one", "two"])
    for reply in ("one", "two"):
        assert host.call(lambda question, memory: next(replies), "hello", **ADA, run_id="r1") == reply
    assert [turn[1] for turn in said(memory)] == ["hello", "one"]
    with pytest.raises(MemoryConflictError):
        host.run(**ADA, run_id="r1", input="another question").__enter__()


def test_runs_in_threads_record_for_their_own_users(memory: Memory) -> None:
    host = AgentHost(memory)
    users = [f"u{number}" for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        runs = [
            pool.submit(host.call, lambda question, memory: question.upper(), user, user_id=user, session_id="s")
            for user in users
        ]
        assert [run.result(60) for run in runs] == [user.upper() for user in users]
    for user in users:
        assert said(memory, user_id=user) == [("user", user, user), ("assistant", user.upper(), user)]


def test_what_was_said_in_a_run_is_distilled(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=None) as memory:
        AgentHost(memory).call(lambda question, memory: "Noted.", "I am allergic to peanuts.", **ADA)
        memory.wait_until_idle(timeout=60)
        with AgentHost(memory).run(user_id="ada", record_turns=False) as run:
            assert any("peanuts" in chunk.content for chunk in run.memory.search_semantic("peanuts"))


def test_asynchronous_runs_record_for_their_own_users(tmp_path: Path) -> None:
    async def agent(question: str, memory: AsyncMemory) -> AsyncIterator[str]:
        for word in question.split():
            await memory.search_semantic(word)
            yield word + " "

    async def main() -> None:
        async with AsyncMemory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
            host = AsyncAgentHost(memory.bind(MemoryRequestContext(agent_id="helper")))

            async def read(user: str) -> str:
                stream = host.stream(agent, f"hello from {user}", user_id=user, session_id="s")
                return "".join([piece async for piece in stream])

            users = [f"u{number}" for number in range(12)]
            assert await asyncio.gather(*map(read, users)) == [f"hello from {user} " for user in users]
            for user in users:
                turns = (await memory.list_turns(user_id=user)).items
                assert [turn.content for turn in turns] == [f"hello from {user}", f"hello from {user} "]
                assert {turn.agent_id for turn in turns} == {"helper"}

    asyncio.run(main())
