"""Who closes what, and what happens afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda import Memory, MemoryRequestContext
from memoranda.sdk._connection import Connection
from tests.sdk.recording import CoreRuntime, FullRuntime, over


def owned() -> tuple[Memory, FullRuntime]:
    runtime: Any = FullRuntime()
    return Memory._over(Connection(runtime, runtime, owned=runtime), None), runtime


def test_closing_a_bound_handle_closes_the_shared_connection() -> None:
    memory, runtime = owned()
    memory.bind(MemoryRequestContext(user_id="u")).close()
    assert runtime.closed == 1
    with pytest.raises(RuntimeError, match="closed"):
        memory.search_semantic("q")


def test_close_is_idempotent() -> None:
    memory, runtime = owned()
    memory.close()
    memory.close()
    assert runtime.closed == 1


def test_leaving_the_block_closes() -> None:
    memory, runtime = owned()
    with memory as entered:
        assert entered is memory
        memory.search_semantic("q")
    assert runtime.closed == 1
    for use in (memory.status, lambda: memory.record_turn(role="user"), lambda: memory.list_domains()):
        with pytest.raises(RuntimeError, match="closed"):
            use()


def test_injected_runtime_outlives_the_handle() -> None:
    runtime = CoreRuntime()
    memory = over(runtime)
    memory.close()
    memory.search_semantic("q")
    assert (runtime.closed, runtime.names) == (0, ["search_semantic"])


def test_use_of_a_closed_http_handle_is_a_runtime_error() -> None:
    with Memory(base_url="http://127.0.0.1:1") as memory:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        memory.search_semantic("q")


def test_bind_leaves_the_original_as_it_was() -> None:
    runtime = CoreRuntime()
    memory = over(runtime)
    bound = memory.bind(MemoryRequestContext(user_id="u"))
    memory.search_semantic("q")
    bound.search_semantic("q")
    assert [arguments["user_id"] for _, arguments in runtime.calls] == [None, "u"]


def test_bind_keeps_the_class_of_the_handle() -> None:
    class Ours(Memory):
        pass

    runtime: Any = CoreRuntime()
    assert type(Ours(runtime=runtime).bind(MemoryRequestContext())) is Ours
