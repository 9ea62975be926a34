"""The asynchronous twins of methods."""

from __future__ import annotations

import asyncio
import inspect
import threading
from contextvars import ContextVar

import pytest

from memoranda.threads.asynchrony import methods_without_twin, twin

REQUEST: ContextVar[str] = ContextVar("request", default="none")


class Service:
    def __init__(self) -> None:
        self.gate = threading.Event()

    def add(self, name: str, *, times: int = 1) -> str:
        """Add."""
        return name * times

    add_async = twin(add)

    def where(self) -> tuple[str, int]:
        return REQUEST.get(), threading.get_ident()

    where_async = twin(where)

    def wait(self) -> bool:
        return self.gate.wait(timeout=20)

    wait_async = twin(wait, waits=True)

    def open(self) -> None:
        self.gate.set()

    open_async = twin(open)

    def fail(self) -> None:
        raise KeyError("gone")

    fail_async = twin(fail)


class Louder(Service):
    def add(self, name: str, *, times: int = 1) -> str:
        return super().add(name, times=times).upper()


def test_a_twin_takes_the_same_arguments_and_gives_the_same() -> None:
    assert asyncio.run(Service().add_async("a", times=3)) == "aaa"
    assert inspect.iscoroutinefunction(Service.add_async)
    assert inspect.signature(Service.add_async) == inspect.signature(Service.add)
    assert (Service.add_async.__name__, Service.add_async.__qualname__) == ("add_async", "Service.add_async")


def test_a_twin_calls_what_a_subclass_overrides() -> None:
    assert asyncio.run(Louder().add_async("a")) == "A"


def test_a_twin_runs_in_another_thread_with_the_callers_context() -> None:
    async def ask() -> tuple[str, int]:
        REQUEST.set("mine")
        return await Service().where_async()

    seen, thread = asyncio.run(ask())
    assert seen == "mine"
    assert thread != threading.get_ident()


def test_an_error_arrives_as_it_is() -> None:
    with pytest.raises(KeyError, match="gone"):
        asyncio.run(Service().fail_async())


def test_calls_that_wait_keep_no_thread_from_those_they_wait_for() -> None:
    async def many() -> list[bool]:
        service = Service()
        waiting = [asyncio.create_task(service.wait_async()) for _ in range(20)]
        await asyncio.sleep(0)
        await service.open_async()
        return list(await asyncio.gather(*waiting))

    assert asyncio.run(many()) == [True] * 20


def test_a_synchronous_call_works_inside_a_running_loop() -> None:
    async def ask() -> str:
        return Service().add("x")

    assert asyncio.run(ask()) == "x"


def test_a_method_without_twin_is_named() -> None:
    class Half(Service):
        def read(self) -> None: ...

        @property
        def size(self) -> int:
            return 0

    assert methods_without_twin(Service) == []
    assert methods_without_twin(Half) == ["read"]
