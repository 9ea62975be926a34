"""`AsyncMemory` over the embedded engine: nothing lost, nothing half done, and the loop goes on."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memoranda import AsyncMemory, Memory, MemoryRequestContext
from memoranda.sdk.aio._threads import CALL_THREADS
from tests.sdk.recording import FullRuntime, over_async

ADA = MemoryRequestContext(user_id="ada", session_id="monday")


class GatedEmbedder:
    """Embeds while its gate is open; says when a call has begun."""

    model_id = "gated"
    fingerprint = "gated-1"
    dimension = 4
    max_input_tokens = 100

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Semaphore(0)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.begun.release()
        assert self.gate.wait(60), "nobody opened the gate: the loop was blocked"
        return [[1.0, 0.0, 0.0, 0.0] for _ in texts]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - the condition belongs to a thread
        await asyncio.sleep(0.001)


async def begun(embedder: GatedEmbedder, number: int = 1) -> None:
    for _ in range(number):
        await until(lambda: embedder.begun.acquire(blocking=False))


async def test_turns_of_many_tasks_are_all_stored_and_numbered(path: Path) -> None:
    async with AsyncMemory.open(path, embedder=None) as memory:
        chat = memory.bind(ADA)
        written = await asyncio.gather(*(chat.record_turn(role="user", content=f"turn {i}") for i in range(50)))
        page = await chat.list_turns()
    assert sorted(turn.turn_seq for turn in written) == list(range(1, 51))
    assert [turn.turn_seq for turn in page.items] == list(range(1, 51))
    assert {turn.content for turn in page.items} == {f"turn {i}" for i in range(50)}


async def test_what_is_recorded_is_found(path: Path) -> None:
    memory = await AsyncMemory.open(path)
    async with memory:
        chat = memory.bind(ADA)
        await chat.record_turn(role="user", content="I moved to Lisbon in May.")
        await memory.wait_until_idle()
        assert "Lisbon" in str((await chat.build_context("Where does Ada live?")).formatted_context)
        assert "Lisbon" in (await chat.search("Lisbon"))[0].content


async def test_the_loop_goes_on_while_a_task_waits(path: Path) -> None:
    embedder = GatedEmbedder()
    async with AsyncMemory.open(path, embedder=embedder) as memory:
        embedder.gate.clear()
        await memory.bind(ADA).record_turn(role="user", content="hello")
        waiting = [asyncio.create_task(memory.wait_until_idle(promote=False)) for _ in range(2 * CALL_THREADS)]
        await begun(embedder)
        for _ in range(100):
            await asyncio.sleep(0)
        # Waits that outnumber the threads of other calls keep none of them from theirs.
        assert (await memory.status()).project_id == "default"
        assert not any(task.done() for task in waiting)
        embedder.gate.set()
        await asyncio.gather(*waiting)


async def test_waiting_ends_with_its_timeout(path: Path) -> None:
    embedder = GatedEmbedder()
    async with AsyncMemory.open(path, embedder=embedder) as memory:
        embedder.gate.clear()
        await memory.bind(ADA).record_turn(role="user", content="hello")
        with pytest.raises(TimeoutError, match="still due or running after 0 s"):
            await memory.wait_until_idle(0, promote=False)
        embedder.gate.set()


async def test_a_cancelled_write_that_has_begun_is_whole(path: Path) -> None:
    embedder = GatedEmbedder()
    async with AsyncMemory.open(path, embedder=embedder, worker=False) as memory:
        embedder.gate.clear()
        save = asyncio.create_task(memory.bind(ADA).save_semantic(text="Ada lives in Lisbon", label="home"))
        await begun(embedder)
        save.cancel()
        with pytest.raises(asyncio.CancelledError):
            await save
        embedder.gate.set()
    async with AsyncMemory.open(path, embedder=embedder, worker=False) as memory:
        assert (await memory.bind(ADA).get_semantic("home")) is not None


async def test_a_write_cancelled_in_the_queue_is_never_made(path: Path) -> None:
    embedder = GatedEmbedder()
    async with AsyncMemory.open(path, embedder=embedder, worker=False) as memory:
        ada = memory.bind(ADA)
        embedder.gate.clear()
        saves = [asyncio.create_task(ada.save_semantic(text="t", label=f"l{i}")) for i in range(CALL_THREADS)]
        await begun(embedder, CALL_THREADS)
        late = asyncio.create_task(ada.save_semantic(text="t", label="late"))
        await asyncio.sleep(0)
        late.cancel()
        embedder.gate.set()
        await asyncio.gather(*saves)
        with pytest.raises(asyncio.CancelledError):
            await late
        assert len((await ada.list_memories()).items) == CALL_THREADS
        assert await ada.get_semantic("late") is None


async def test_closing_lets_calls_that_were_made_end(path: Path) -> None:
    memory = await AsyncMemory.open(path, embedder=None)
    chat = memory.bind(ADA)
    turns = [asyncio.create_task(chat.record_turn(role="user", content=str(i))) for i in range(3 * CALL_THREADS)]
    await asyncio.sleep(0)
    await memory.close()
    assert len({(await turn).id for turn in turns}) == 3 * CALL_THREADS


async def test_a_handle_that_is_closed_says_so(path: Path) -> None:
    async with contextlib.aclosing(await AsyncMemory.open(path, embedder=None)) as memory:
        bound = memory.bind(ADA)
        await bound.status()
    await memory.close()
    for handle in (memory, bound):
        with pytest.raises(RuntimeError, match="this AsyncMemory has been closed"):
            await handle.status()


# What the engine refuses, and what the facade refuses before it.
FAILURES: dict[str, Callable[[Any], Any]] = {
    "no identity": lambda m: m.bind(MemoryRequestContext()).save_semantic(text="t", label="l"),
    "bad time": lambda m: m.record_turn(role="user", timestamp="soon"),
    "bad turn": lambda m: m.record_turns([{"role": "user", "ttl_days": 0}]),
    "no such memory": lambda m: m.delete_memory("none"),
    "no such turn": lambda m: m.delete_turn("none"),
    "unknown visibility": lambda m: m.search_semantic("q", visibility="everyone"),
    "unknown custom type": lambda m: m.save("tickets", "c"),
    "unknown filter": lambda m: m.build_context("q", metadata_filter={"metadata.none": 1}),
    "foreign cursor": lambda m: m.list_memories(cursor="x"),
    "used key": lambda m: m.record_turn(role="user", content="other", idempotency_key="k"),
}


@pytest.mark.parametrize("call", FAILURES.values(), ids=FAILURES)
async def test_failures_are_those_of_the_other_colour(path: Path, call: Callable[[Any], Any]) -> None:
    embedder = GatedEmbedder()
    with Memory.open(path, embedder=embedder, worker=False) as memory:
        memory.bind(ADA).record_turn(role="user", content="one", idempotency_key="k")
        with pytest.raises(Exception) as expected:  # noqa: PT011 - which one is what the other has to match
            call(memory.bind(ADA))
        async with AsyncMemory.open(path, embedder=embedder, worker=False) as other:
            with pytest.raises(expected.type) as raised:
                await call(other.bind(ADA))
    assert (raised.type, str(raised.value)) == (expected.type, str(expected.value))


def test_one_handle_serves_one_loop_after_another(path: Path) -> None:
    async def opened() -> AsyncMemory:
        return await AsyncMemory.open(path, embedder=None)

    async def record(memory: AsyncMemory) -> int:
        return (await memory.bind(ADA).record_turn(role="user", content="x")).turn_seq

    memory = asyncio.run(opened())
    assert [asyncio.run(record(memory)) for _ in range(2)] == [1, 2]
    asyncio.run(memory.close())


async def test_an_opening_that_is_cancelled_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime, begins, gate = FullRuntime(), threading.Event(), threading.Event()

    def open_runtime(path_or_url: object, **_: object) -> FullRuntime:
        begins.set()
        assert gate.wait(60)
        return runtime

    module = ModuleType("memoranda.runtime")
    module.open_runtime = open_runtime  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "memoranda.runtime", module)

    async def opened() -> AsyncMemory:
        return await AsyncMemory.open("x.db")

    opening = asyncio.create_task(opened())
    await until(begins.is_set)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    gate.set()
    await until(lambda: runtime.closed == 1)


REQUEST: ContextVar[str] = ContextVar("REQUEST")


async def test_context_variables_reach_the_runtime() -> None:
    class Reading(FullRuntime):
        def search_semantic(self, **_: object) -> list[str]:
            return [REQUEST.get(), threading.current_thread().name]

    memory = over_async(Reading())

    async def ask(name: str) -> list[Any]:
        REQUEST.set(name)
        return list(await memory.search_semantic("q"))

    answers = await asyncio.gather(*(ask(name) for name in ("a", "b", "c")))
    assert [name for name, _ in answers] == ["a", "b", "c"]
    assert all(thread.startswith("memoranda-call") for _, thread in answers)
    await memory.close()


async def test_a_failure_nobody_waits_for_any_more_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    begins, gate = threading.Event(), threading.Event()

    class Failing(FullRuntime):
        def status(self) -> None:
            begins.set()
            assert gate.wait(60)
            raise ConnectionError("down")

    memory = over_async(Failing())
    status = asyncio.create_task(memory.status())
    await until(begins.is_set)
    status.cancel()
    with pytest.raises(asyncio.CancelledError):
        await status
    gate.set()
    with caplog.at_level(logging.WARNING, "memoranda"):
        await memory.close()
    assert [(r.getMessage(), vars(r)["error_class"]) for r in caplog.records] == [
        ("aio.cancelled_call_failed", "ConnectionError")
    ]


FORKED = """
import asyncio, os, sys
from memoranda import AsyncMemory, MemoryRequestContext
async def record(memory):
    who = MemoryRequestContext(user_id="ada", session_id="s")
    return (await memory.bind(who).record_turn(role="user", content="x")).turn_seq
async def opened():
    return await AsyncMemory.open(sys.argv[1], embedder=None, worker=False)
memory = asyncio.run(opened())
print(asyncio.run(record(memory)), flush=True)
child = os.fork()
if child == 0:
    print(asyncio.run(record(memory)), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(asyncio.run(record(memory)), flush=True)
asyncio.run(memory.close())
"""


def test_a_forked_child_has_threads_of_its_own(path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["1", "2", "3"]
