"""Agents run by a host over HTTP: the identity of a run reaches the server, and what is said is kept there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memoranda import AgentHost, AsyncAgentHost, AsyncMemory, Memory, MemoryConflictError, MemoryReplyNotRecordedError
from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from tests.server.live import TICKETS, open_host, serving

ADA: dict[str, Any] = {"user_id": "ada", "session_id": "monday"}


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with (
        closing(open_host(tmp_path)) as host,
        serving(create_app(host, OpenGatekeeper(), ServerSettings())) as address,
    ):
        yield address


@pytest.fixture(params=[None, "team a/b"], ids=["direct", "hosted"])
def memory(request: pytest.FixtureRequest, url: str) -> Iterator[Memory]:
    with Memory(base_url=url, project_id=request.param) as connected:
        yield connected


def recall(question: str, memory: Memory) -> str:
    return str(memory.build_context(question, enabled_sources={"stm"}, format_style="jinja2").formatted_context)


def test_an_agent_recalls_what_its_user_said_and_nothing_of_others(memory: Memory) -> None:
    host = AgentHost(memory)
    for user, thing in (("ada", "penicillin"), ("bob", "peanuts")):
        with host.run(user_id=user, session_id="monday", input=f"I am allergic to {thing}.") as run:
            result = run.reply("Noted.", model_name="m")
        assert result is not None
        assert result.turn_seq == 2
    answer = host.call(recall, "allergic", **ADA, agent_id="helper")
    assert "penicillin" in answer
    assert "peanuts" not in answer
    turns = memory.list_turns(**ADA).items
    assert [(turn.role, turn.user_id, turn.agent_id) for turn in turns] == [
        ("user", "ada", None),
        ("assistant", "ada", None),
        ("user", "ada", "helper"),
        ("assistant", "ada", "helper"),
    ]


def test_custom_types_are_stamped_with_the_run_and_not_read_by_others(memory: Memory) -> None:
    host = AgentHost(memory, record_turns=False)
    with host.run(user_id="ada", agent_id="helper") as run:
        run.memory.save(TICKETS, "The printer is on fire.", tags={"queue": "it"})
        (found,) = run.memory.retrieve(TICKETS, "printer").results
        assert (found.user_id, found.agent_id) == ("ada", "helper")
    with host.run(user_id="bob") as run:
        assert run.memory.retrieve(TICKETS, "printer").count == 0


def test_a_retried_run_doubles_no_turn(memory: Memory) -> None:
    host = AgentHost(memory)
    for reply in ("one", "two"):
        with host.run(**ADA, run_id="r1", input="hello") as run:
            run.reply(reply)
    assert [turn.content for turn in memory.list_turns(**ADA).items] == ["hello", "one"]
    with pytest.raises(MemoryConflictError):
        host.run(**ADA, run_id="r1", input="another question").__enter__()


def test_runs_in_threads_record_for_their_own_users(memory: Memory) -> None:
    host = AgentHost(memory)
    users = [f"u{number}" for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        runs = [pool.submit(host.call, recall, f"I am {user}", user_id=user, session_id="s") for user in users]
        for user, run in zip(users, runs, strict=True):
            others = set(users) - {user}
            assert not any(f"I am {other}." in run.result(60) + "." for other in others)
    for user in users:
        assert {turn.user_id for turn in memory.list_turns(user_id=user).items} == {user}


def test_a_reply_that_cannot_reach_the_server_is_not_lost(tmp_path: Path) -> None:
    with closing(open_host(tmp_path)) as host:
        app = create_app(host, OpenGatekeeper(), ServerSettings())
        with serving(app) as url, Memory(base_url=url) as memory:
            small = AgentHost(memory, text_of=lambda reply: "x" * 5 * 1024 * 1024)
            with pytest.raises(MemoryReplyNotRecordedError, match="bytes") as caught:
                small.call(recall, "hello", **ADA)
    assert isinstance(caught.value.reply, str)


def test_asynchronous_runs_record_for_their_own_users(url: str) -> None:
    async def agent(question: str, memory: AsyncMemory) -> AsyncIterator[str]:
        for word in question.split():
            await memory.search_semantic(word)
            yield word + " "

    async def main() -> None:
        async with AsyncMemory(base_url=url) as memory:
            host = AsyncAgentHost(memory)

            async def read(user: str) -> str:
                stream = host.stream(agent, f"hello from {user}", user_id=user, session_id="s")
                return "".join([piece async for piece in stream])

            users = [f"u{number}" for number in range(8)]
            assert await asyncio.gather(*map(read, users)) == [f"hello from {user} " for user in users]
            for user in users:
                turns = (await memory.list_turns(user_id=user)).items
                assert [turn.content for turn in turns] == [f"hello from {user}", f"hello from {user} "]

    asyncio.run(main())
