"""Providers that ``Memory.open`` is given by name or by configuration, against a scripted server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda import Memory, MemoryConfigError, MemoryConnectionError, MemoryRequestContext
from memoranda.providers.openai_compatible import OpenAIChatModel, OpenAIEmbedder
from memoranda.testing import scripted_answers as answers
from memoranda.testing.scripted_answers import CHAT, EMBEDDINGS
from memoranda.testing.scripted_provider import ScriptedProvider

KEY = "sk-scripted-0123456789abcdef"
FACT = {
    "text": "Ann moved to Lisbon.",
    "record_type": "fact",
    "label": "home",
    "turns": [1],
    "event_time": None,
    **{verdict: [] for verdict in ("supersedes", "refines", "repeats", "contradicts")},
}
REPLY = {"summary": "Ann moved.", "semantic": [FACT], "episodic": [], "procedural": [], "taxonomic": []}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        provider.always(CHAT, answers.reply_json(REPLY))
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.delenv("LLM_API_KEY", raising=False)
        monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
        yield provider


def ann(memory: Memory) -> Memory:
    return memory.bind(MemoryRequestContext(user_id="ann", session_id="s"))


def test_named_models_extract_and_embed(tmp_path: Path, server: ScriptedProvider) -> None:
    with Memory.open(tmp_path / "memory.db", llm="openai/chat", embedder="openai/embed", worker=False) as memory:
        ann(memory).record_turn(role="user", content="I moved to Lisbon.")
        memory.wait_until_idle()

        [entry] = memory.list_memories().items
        assert (entry.content, entry.user_id) == ("Ann moved to Lisbon.", "ann")
        assert memory.status().embedder == "embed"
        assert (server.calls(CHAT), memory.status().spent_today["calls"]) == (1, 1)
        assert memory.status().failures == {}


def test_the_configured_model_is_asked_also_after_reopening(tmp_path: Path, server: ScriptedProvider) -> None:
    config = {"extraction_llm": {"provider": "openai", "model": "configured", "base_url": server.url}}
    path = tmp_path / "memory.db"
    Memory.open(path, config=config, embedder=None, worker=False).close()

    with Memory.open(path, embedder=None, worker=False) as memory:
        ann(memory).record_turn(role="user", content="I moved to Lisbon.")
        memory.wait_until_idle()

    assert [request.body["model"] for request in server.requests] == ["configured"]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_what_is_passed_goes_before_what_is_configured(tmp_path: Path, server: ScriptedProvider) -> None:
    config = {"extraction_llm": {"model": "configured", "base_url": server.url}, "voyage": {"model": "voyage-4"}}

    with Memory.open(tmp_path / "memory.db", config=config, llm="local", embedder="local", worker=False) as memory:
        ann(memory).record_turn(role="user", content="I moved to Lisbon.")
        memory.wait_until_idle()
        assert memory.status().embedder == "use-multi-v3/0.2.1"

    assert server.calls() == 0


def test_a_configured_embedder_without_its_key_opens_no_store(tmp_path: Path, server: ScriptedProvider) -> None:
    with pytest.raises(MemoryConfigError, match="VOYAGE_API_KEY"):
        Memory.open(tmp_path / "memory.db", config={"voyage": {"model": "voyage-4"}})
    assert not (tmp_path / "memory.db").exists()


def test_the_configured_embedder_stays_that_of_the_project(
    tmp_path: Path, server: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    path = tmp_path / "memory.db"
    Memory.open(path, config={"voyage": {"model": "voyage-4", "dimension": 256}}, worker=False).close()

    with Memory.open(path, worker=False) as memory:
        assert memory.status().embedder == "voyage-4"
    assert server.calls() == 0


@pytest.mark.parametrize("name", ["gpt-5", "openai/"])
def test_a_name_without_a_provider_is_refused(tmp_path: Path, name: str) -> None:
    for argument in ({"llm": name}, {"embedder": name}, {"reranker": name}):
        with pytest.raises(MemoryConfigError, match="openai/<model>"):
            Memory.open(tmp_path / "memory.db", **argument)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_an_embedder_that_cannot_be_asked_is_an_error_of_opening(tmp_path: Path, server: ScriptedProvider) -> None:
    server.script(EMBEDDINGS, answers.outage(), answers.unauthorised())

    with pytest.raises(MemoryConnectionError, match="out of order"):
        Memory.open(tmp_path / "memory.db", embedder="openai/embed")
    with pytest.raises(MemoryConfigError, match="refuses the credentials"):
        Memory.open(tmp_path / "memory.db", embedder="openai/embed")


def test_objects_of_ours_are_providers_too(tmp_path: Path, server: ScriptedProvider) -> None:
    model = OpenAIChatModel("chat", base_url=server.url)
    embedder = OpenAIEmbedder("embed", base_url=server.url)

    with Memory.open(tmp_path / "memory.db", llm=model, embedder=embedder, worker=False) as memory:
        ann(memory).record_turn(role="user", content="I moved to Lisbon.")
        memory.wait_until_idle()
        assert len(memory.list_memories().items) == 1


def test_an_outage_puts_extraction_off_and_loses_nothing(tmp_path: Path, server: ScriptedProvider) -> None:
    server.always(CHAT, answers.outage())
    with Memory.open(tmp_path / "memory.db", llm="openai/chat", embedder=None, worker=False) as memory:
        ann(memory).record_turn(role="user", content="I moved to Lisbon.")
        memory.wait_until_idle()

        status = memory.status()
        assert (status.turns, status.queue["extract"], status.failures) == (1, {"pending": 1}, {})


def test_a_refusal_is_kept_as_a_failure_with_what_was_said(tmp_path: Path, server: ScriptedProvider) -> None:
    server.script(CHAT, answers.refusal("I would rather not."))
    with Memory.open(tmp_path / "memory.db", llm="openai/chat", embedder=None, worker=False) as memory:
        ann(memory).record_turn(role="user", content="I moved to Lisbon.")
        memory.wait_until_idle()

        [failure] = memory.list_failures().items
        assert failure.failure_class == "content"
        assert "I would rather not." in failure.reason
        assert "I would rather not." in json.dumps(failure.raw_reply)
        assert (memory.retry_failures(), memory.status().turns) == (1, 1)
        memory.wait_until_idle()
        assert len(memory.list_memories().items) == 1
