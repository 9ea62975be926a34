"""An agent inside a host application has the whole of its memory: nothing is held back from a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoranda import AgentHost, Memory

ADA: dict[str, Any] = {"user_id": "ada", "session_id": "monday"}


@pytest.fixture
def host(tmp_path: Path) -> Iterator[AgentHost]:
    config = {"memory": {"custom_memory_types": [{"name": "tickets", "collection": "tickets", "tags": []}]}}
    with Memory.open(tmp_path / "memory.db", config=config, embedder=None, worker=False) as memory:
        yield AgentHost(memory, record_turns=False)


def test_tool_turns_of_any_role_are_recorded_with_real_ids_and_numbers(host: AgentHost) -> None:
    def agent(_: str, memory: Memory) -> str:
        calls = [{"id": "c1", "name": "weather", "args": {}}]
        first = memory.record_turn(role="critic", content="hm", tool_calls=calls, model_name="m")
        second = memory.record_turn(
            role="tool", content="rain", tool_call_id="c1", tool_name="weather", is_error=True, metadata={"k": 1}
        )
        assert first.id
        assert (first.turn_seq, second.turn_seq) == (1, 2)
        told = memory.get_turn(second.id)
        assert told is not None
        assert (told.role, told.tool_call_id, told.tool_name, told.is_error) == ("tool", "c1", "weather", True)
        return "done"

    assert host.call(agent, "", **ADA) == "done"


def test_contexts_come_in_every_format_with_their_memories(host: AgentHost) -> None:
    def agent(_: str, memory: Memory) -> str:
        memory.save_semantic(text="Likes rain.", label="rain")
        messages = memory.build_context("rain", format_style="openai", include_memories=True)
        assert isinstance(messages.formatted_context, list)
        assert [chunk.content for chunk in messages.selected_memories or []] == ["Likes rain."]
        text = memory.build_context("rain", format_style="claude").formatted_context
        assert isinstance(text, str)
        return "done"

    assert host.call(agent, "", **ADA) == "done"


def test_typed_calls_have_no_gaps(host: AgentHost) -> None:
    def agent(_: str, memory: Memory) -> str:
        memory.save_taxonomic(domain="d", term="t", definition="x")
        memory.save_procedure(procedure="p", description="d", content="one")
        memory.save_procedure(procedure="p", description="d", content="two", update_existing=True)
        term, procedure = memory.get_taxonomic_term("d", "t"), memory.get_procedure("p")
        assert term is not None
        assert procedure is not None
        assert (term["definition"], procedure["content"]) == ("x", "two")
        assert memory.save("tickets", "printer on fire").id == memory.retrieve("tickets", "printer").results[0].id
        return "done"

    assert host.call(agent, "", **ADA) == "done"
