"""One connection used from many places: threads, forked children, event loops."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from memoranda import AsyncMemory, Memory
from tests.sdk.http.scripted_server import ScriptedServer


def test_threads_share_a_handle(server: ScriptedServer) -> None:
    with Memory(base_url=server.url) as memory, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: memory.search_semantic(str(number)), range(40)))
    assert sorted(int(seen.body["query"]) for seen in server.seen) == list(range(40))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_opens_a_connection_of_its_own(server: ScriptedServer) -> None:
    with Memory(base_url=server.url) as memory:
        memory.search_semantic("parent")
        child = os.fork()
        if child == 0:
            try:
                memory.search_semantic("child")
                memory.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        memory.search_semantic("parent")
    ports = {seen.port for seen in server.seen if seen.body["query"] == "parent"}
    assert [seen.body["query"] for seen in server.seen] == ["parent", "child", "parent"]
    assert len(ports) == 1
    assert server.seen[1].port not in ports


def test_event_loops_one_after_the_other_share_a_handle(server: ScriptedServer) -> None:
    memory = AsyncMemory(base_url=server.url)

    async def twice() -> None:
        await memory.search_semantic("q")
        await memory.search_semantic("q")

    asyncio.run(twice())
    asyncio.run(twice())
    asyncio.run(memory.close())
    first, second, third, fourth = (seen.port for seen in server.seen)
    assert (first, third) == (second, fourth)
    assert first != third


def test_event_loops_at_the_same_time_share_a_handle(server: ScriptedServer) -> None:
    memory = AsyncMemory(base_url=server.url)
    others, may_end = threading.Barrier(3), threading.Event()

    async def elsewhere() -> None:
        await memory.search_semantic("q")
        others.wait()
        await asyncio.to_thread(may_end.wait)

    threads = [threading.Thread(target=asyncio.run, args=(elsewhere(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    others.wait()

    async def here() -> None:
        await memory.search_semantic("q")
        await memory.close()

    asyncio.run(here())
    may_end.set()
    for thread in threads:
        thread.join()
    assert len({seen.port for seen in server.seen}) == 3


def test_many_tasks_share_a_handle_without_threads(server: ScriptedServer) -> None:
    before = set(threading.enumerate())

    async def main() -> set[str]:
        async with AsyncMemory(base_url=server.url) as memory:
            await asyncio.gather(*(memory.search_semantic(str(number)) for number in range(20)))
            new = set(threading.enumerate()) - before
            return {thread.name for thread in new if thread.name.startswith("memoranda")}

    assert asyncio.run(main()) == set()
    assert len(server.seen) == 20


def test_a_closed_handle_says_so_in_every_loop(server: ScriptedServer) -> None:
    memory = AsyncMemory(base_url=server.url)
    asyncio.run(memory.close())
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(memory.search_semantic("q"))
