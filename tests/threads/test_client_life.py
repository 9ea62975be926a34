"""A client from opening to closing: waiting, work that is left over, its asynchronous form, its errors."""

from __future__ import annotations

import asyncio

import pytest

from memoranda.sdk.errors import (
    MemoryAPIError,
    MemoryAuthError,
    MemoryBadRequestError,
    MemoryConflictError,
    MemoryConnectionError,
    MemoryEmbedderMismatchError,
    MemoryNotFoundError,
    MemoryServerError,
    MemoryStoreError,
)
from memoranda.threads import AgentMemory, IAgentMemory, IThread, Message
from memoranda.threads.asynchrony import methods_without_twin
from memoranda.threads.faults import builtin_fault, builtin_faults
from memoranda.threads.observability import Event, GenericEventListener, register_event_listeners
from tests.threads.clients import Bench, ClientOpener, bench, client, opened
from tests.threads.scripted import EXTRACTION, ScriptedLlm

__all__ = ["bench", "client", "opened"]


def test_work_that_was_accepted_is_done_before_the_client_closes(opened: ClientOpener) -> None:
    client = opened(llm=ScriptedLlm())
    thread = client.create_thread(user_id="u")
    for content in ("one", "two", "three"):
        thread.add_messages([Message("user", content)])
    client.close()
    assert [each.content for each in client.list_memories("u")] == ["one", "two", "three"]


def test_work_that_is_left_over_goes_on_in_another_client(bench: Bench) -> None:
    first = bench.client(llm=ScriptedLlm())
    thread = first.create_thread(thread_id="t", user_id="u")
    thread.add_messages([Message("user", "one")])
    first.close(timeout=0)
    assert first.list_memories("u") == []
    second = bench.client(llm=ScriptedLlm())
    second.wait_for_memory_extraction()
    assert [each.content for each in second.list_memories("u")] == ["one"]


def test_a_closed_client_closes_its_threads_and_still_reads_records(client: AgentMemory) -> None:
    thread = client.create_thread(thread_id="t", user_id="u", llm="local")
    client.add_memory("x", user_id="u")
    client.close()
    client.close()
    for call in (
        lambda: client.create_thread(user_id="u", llm="local"),
        lambda: client.get_thread("t"),
        lambda: client.update_thread("t"),
        thread.get_messages,
        lambda: thread.search("x"),
    ):
        with pytest.raises(RuntimeError, match="closed"):
            call()
    client.add_memory("y", user_id="u")
    assert len(client.list_memories("u")) == 2
    assert client.delete_thread("t") == 1
    assert client.delete_user("u") == 0


def test_a_client_is_a_context(bench: Bench) -> None:
    with bench.client() as client:
        client.add_memory("x")
    with pytest.raises(RuntimeError, match="closed"):
        client.get_thread("t")


def test_waiting_has_an_end(client: AgentMemory, bench: Bench) -> None:
    client.wait_for_memory_extraction()
    client.wait_for_memory_extraction(None)
    for timeout in (0, -1.0):
        with pytest.raises(ValueError, match="timeout"):
            client.wait_for_memory_extraction(timeout)
    engine = client._opened.backend.engine
    engine.background.leave_to_others(lambda: None)
    thread = client.create_thread(thread_id="t", user_id="u", llm="local")
    quiet = client.create_thread(thread_id="quiet", user_id="u", llm="local")
    thread.add_messages([Message("user", "My name is Anna.")])
    with pytest.raises(TimeoutError):
        client.wait_for_memory_extraction(0.01)
    with pytest.raises(TimeoutError):
        thread.wait_for_memory_extraction(0.01)
    quiet.wait_for_memory_extraction(0.01)


def test_a_failure_of_extraction_can_be_read(bench: Bench) -> None:
    llm = ScriptedLlm()
    llm.script[EXTRACTION] = lambda user: "this is not JSON"
    client = bench.client(llm=llm)
    thread = client.create_thread(thread_id="t", user_id="u")
    thread.add_messages([Message("user", "one")])
    client.wait_for_memory_extraction()
    failures = client.extraction_failures()
    assert [(each.thread_id, each.user_id, each.kind) for each in failures] == [("t", "u", "extract")]
    assert failures[0].reason


def test_every_method_has_an_asynchronous_twin() -> None:
    assert methods_without_twin(AgentMemory) == []
    assert issubclass(AgentMemory, IAgentMemory)


def test_the_asynchronous_form_does_the_same(bench: Bench) -> None:
    async def use() -> list[str]:
        async with bench.client() as client:
            await client.add_user_async("u", "likes trains")
            memory = await client.add_memory_async("trains", user_id="u")
            await client.update_memory_async(memory, "trains to Lyon")
            thread = await client.create_thread_async(user_id="u", llm="local")
            assert isinstance(thread, IThread)
            await thread.add_messages_async([Message("user", "which trains?")])
            await client.wait_for_memory_extraction_async()
            found = await client.search_async("trains", user_id="u", record_types=["memory", "message"])
            return sorted(str(each.content) for each in found)

    assert asyncio.run(use()) == ["trains to Lyon", "which trains?"]


def test_calls_tell_of_themselves(client: AgentMemory) -> None:
    told: list[str] = []
    with register_event_listeners([GenericEventListener(Event, lambda event: told.append(event.event_name))]):
        client.add_memory("x")
    assert "agent_memory.add_memory.started" in told
    assert "memory_store.add_memory.completed" in told
    assert told[-1] == "agent_memory.add_memory.completed"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryNotFoundError("x"), KeyError),
        (MemoryConflictError("x", code="C"), ValueError),
        (MemoryEmbedderMismatchError("x"), ValueError),
        (MemoryBadRequestError("x", status=400), ValueError),
        (MemoryAuthError("x"), PermissionError),
        (MemoryStoreError("x"), RuntimeError),
        (MemoryServerError("x"), RuntimeError),
        (MemoryConnectionError("x"), RuntimeError),
        (MemoryAPIError("x"), RuntimeError),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else type(value).__name__,
)
def test_errors_of_the_engine_are_builtin_exceptions_and_stay_what_they_were(
    error: MemoryAPIError, kind: type[Exception]
) -> None:
    fault = builtin_fault(error)
    assert isinstance(fault, kind)
    assert (fault.message, fault.code, fault.status, str(fault)) == (
        error.message,
        error.code,
        error.status,
        str(error),
    )
    assert builtin_fault(fault) is fault
    with pytest.raises(kind), builtin_faults():
        raise error
