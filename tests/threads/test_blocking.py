"""Calling coroutines from code that is not asynchronous."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from memoranda.threads.blocking import result_of

_WHO: ContextVar[str] = ContextVar("who", default="nobody")


async def _who() -> str:
    await asyncio.sleep(0)
    return _WHO.get()


async def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_a_coroutine_sees_the_callers_context() -> None:
    token = _WHO.set("alice")
    try:
        assert result_of(_who()) == "alice"
    finally:
        _WHO.reset(token)
    assert result_of(_who()) == "nobody"


def test_all_calls_share_one_loop_so_that_clients_outlive_a_call() -> None:
    loops = []
    threads = [threading.Thread(target=lambda: loops.append(result_of(_loop()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {id(loop) for loop in loops} == {id(result_of(_loop()))}


def test_a_coroutine_may_itself_wait_for_another() -> None:
    async def nested() -> str:
        _WHO.set("within")
        return result_of(_who())

    assert result_of(nested()) == "within"


def test_a_running_loop_can_wait() -> None:
    async def main() -> str:
        return result_of(_who())

    assert asyncio.run(main()) == "nobody"


def test_an_error_comes_out() -> None:
    async def fail() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        result_of(fail())
