"""Running asynchronous agents under an identity: tasks, streams and cancellation. The rest is as for `AgentHost`."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from memoranda import (
    AsyncAgentHost,
    AsyncMemory,
    MemoryIdentityError,
    MemoryReplyNotRecordedError,
    MemoryRequestContext,
    MemoryServerError,
    WriteTurnResult,
)
from tests.sdk.recording import FullRuntime, over_async

ADA: dict[str, Any] = {"user_id": "ada", "session_id": "monday"}


class Keeping(FullRuntime):
    """Keeps turns, and fails to while told to."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[dict[str, Any]] = []
        self.failing: Exception | None = None

    def record_turn(self, **turn: Any) -> WriteTurnResult:
        if self.failing is not None and turn["role"] == "assistant":
            raise self.failing
        self.turns.append(turn)
        return WriteTurnResult(id="t", session_id=str(turn["session_id"]), turn_seq=1)

    @property
    def said(self) -> list[tuple[str, str]]:
        return [(turn["role"], turn["content"]) for turn in self.turns]


def hosted(**options: Any) -> tuple[AsyncAgentHost, Keeping]:
    runtime = Keeping()
    return AsyncAgentHost(over_async(runtime, runtime), **options), runtime


async def echo(question: str, memory: AsyncMemory) -> str:
    return f"you said {question}"


async def test_memory_needs_no_ids_within_a_run_and_is_refused_outside() -> None:
    host, runtime = hosted()
    async with host.run(**ADA, input="hello") as run:
        await run.memory.search_semantic("q")
        assert runtime.last["user_id"] == "ada"
        await run.reply("hi")
        await run.memory.close()
    assert runtime.said == [("user", "hello"), ("assistant", "hi")]
    assert runtime.closed == 0
    with pytest.raises(MemoryIdentityError, match="no run is present"):
        await host.memory.search_semantic("q")


async def test_a_call_is_recorded() -> None:
    host, runtime = hosted()
    assert await host.call(echo, "hello", **ADA) == "you said hello"
    assert await host.agent(echo)("again", **ADA) == "you said again"
    assert [text for _, text in runtime.said] == ["hello", "you said hello", "again", "you said again"]


async def test_concurrent_tasks_never_see_each_other() -> None:
    host, runtime = hosted()

    async def agent(question: str, memory: AsyncMemory) -> str:
        seen = set()
        for _ in range(20):
            await asyncio.sleep(0)
            await memory.save("tickets", question)
            seen.add(str(host.request_context() and host.request_context().user_id))  # type: ignore[union-attr]
        return ",".join(sorted(seen))

    calls = [host.call(agent, f"u{n}", user_id=f"u{n}", session_id="s") for n in range(20)]
    assert await asyncio.gather(*calls) == [f"u{n}" for n in range(20)]
    saved = [arguments for name, arguments in runtime.calls if name == "create_custom"]
    assert len(saved) == 400
    assert all(arguments["user_id"] == arguments["content"] for arguments in saved)


async def test_a_task_of_a_run_stays_in_it_when_the_run_has_ended() -> None:
    host, runtime = hosted()
    ended = asyncio.Event()

    async def later() -> None:
        await ended.wait()
        await host.memory.search_semantic("q")

    async with host.run(**ADA):
        task = asyncio.create_task(later())
    ended.set()
    await task
    assert runtime.last["user_id"] == "ada"


async def test_a_thread_of_a_run_is_in_it() -> None:
    host, _ = hosted()
    async with host.run(**ADA):
        assert await asyncio.to_thread(host.request_context) == MemoryRequestContext(**ADA)
        loop = asyncio.get_running_loop()
        assert await loop.run_in_executor(None, host.request_context) is None
        carried = host.carry(host.request_context)
        assert await loop.run_in_executor(None, carried) == MemoryRequestContext(**ADA)


async def test_interleaved_streams_keep_their_identities_and_the_consumer_has_none() -> None:
    host, runtime = hosted()

    async def agent(question: str, memory: AsyncMemory) -> AsyncIterator[str]:
        for _ in range(3):
            await memory.search_semantic("q")
            yield str(runtime.last["user_id"])

    streams = [host.stream(agent, "q", user_id=user, session_id="s") for user in ("ada", "bob")]
    seen = []
    for _ in range(3):
        for stream in streams:
            seen.append(await anext(stream))
            assert host.request_context() is None
    for stream in streams:
        assert [piece async for piece in stream] == []
    assert seen == ["ada", "bob"] * 3
    assert [text for role, text in runtime.said if role == "assistant"] == ["adaadaada", "bobbobbob"]


async def talking(question: str, memory: AsyncMemory) -> AsyncIterator[str]:
    while True:
        await asyncio.sleep(0)
        yield "word "


async def test_a_stream_that_is_given_up_leaves_what_was_said() -> None:
    host, runtime = hosted()
    async with aclosing(host.stream(talking, "hello", **ADA)) as pieces:
        async for _ in pieces:
            break
    assert runtime.said == [("user", "hello"), ("assistant", "word ")]
    assert runtime.turns[-1]["metadata"] == {"incomplete": "abandoned"}


async def test_a_stream_left_to_the_garbage_collector_is_recorded_all_the_same() -> None:
    host, runtime = hosted()

    async def read_one() -> None:
        async for _ in host.stream(talking, "hello", **ADA):
            break

    await read_one()
    gc.collect()
    await asyncio.sleep(0)  # the loop is told of the stream's end, and closes it in a task
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
    assert runtime.said[-1] == ("assistant", "word ")


async def test_a_cancelled_stream_leaves_what_was_said() -> None:
    host, runtime = hosted()
    waiting = asyncio.Event()

    async def stuck(question: str, memory: AsyncMemory) -> AsyncIterator[str]:
        yield "so far"
        waiting.set()
        await asyncio.Event().wait()

    async def read() -> None:
        async for _ in host.stream(stuck, "hello", **ADA):
            pass

    task = asyncio.create_task(read())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert runtime.said[-1] == ("assistant", "so far")
    assert runtime.turns[-1]["metadata"] == {"incomplete": "abandoned"}


async def test_a_stream_that_fails_leaves_what_was_said_and_its_mark() -> None:
    host, runtime = hosted()

    async def broken(question: str, memory: AsyncMemory) -> AsyncIterator[str]:
        yield "so far"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        [piece async for piece in host.streaming_agent(broken)("hello", **ADA)]
    assert runtime.turns[-1]["metadata"] == {"incomplete": "failed"}


async def test_a_reply_that_cannot_be_recorded_is_raised_with_the_reply_or_handed_over() -> None:
    host, runtime = hosted()
    runtime.failing = MemoryServerError("out of order")
    with pytest.raises(MemoryReplyNotRecordedError, match="out of order") as caught:
        await host.call(echo, "hello", **ADA)
    assert caught.value.reply == "you said hello"
    lost: list[MemoryReplyNotRecordedError] = []
    host, runtime = hosted(on_unrecorded=lost.append)
    runtime.failing = MemoryServerError("out of order")
    assert await host.call(echo, "hello", **ADA) == "you said hello"
    assert [error.reply for error in lost] == ["you said hello"]


def plain_pieces(question: str, memory: AsyncMemory) -> Any:
    yield ""


@pytest.mark.parametrize(
    ("method", "agent", "remedy"),
    [
        ("agent", talking, r"is an? asynchronous generator function; run it with AsyncAgentHost\.stream"),
        ("agent", plain_pieces, r"run it with AgentHost\.stream"),
        ("streaming_agent", echo, r"run it with AsyncAgentHost\.call"),
        ("streaming_agent", plain_pieces, r"run it with AgentHost\.stream"),
    ],
)
def test_an_agent_of_another_kind_is_refused(method: str, agent: Any, remedy: str) -> None:
    host, _ = hosted()
    with pytest.raises(TypeError, match=remedy):
        getattr(host, method)(agent)
