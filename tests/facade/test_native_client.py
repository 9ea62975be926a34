"""The client of the native routes against our own server: written, read, changed and deleted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memoranda import Memory, MemoryRequestContext
from memoranda.sdk._client import MemoryClient
from memoranda.sdk._native_runtime import DIRECT_PREFIX, PROXIED_PREFIX
from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from tests.server.live import TICKETS, open_host, serving


@pytest.fixture(params=[DIRECT_PREFIX, PROXIED_PREFIX])
def client(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[MemoryClient]:
    with (
        closing(open_host(tmp_path)) as host,
        serving(create_app(host, OpenGatekeeper(), ServerSettings())) as url,
        closing(MemoryClient(url, org_id="o", project_id="p", prefix=request.param, agent_id="app")) as client,
    ):
        yield client


def test_a_procedure_lives_and_ends(client: MemoryClient) -> None:
    made = client.create_procedural(procedure="brew", description="tea", content="boil", user_id="u", tags=["t"])
    client.update_procedural(made.id, user_id="u", content="boil water", visibility="org")
    entry = client.get_procedural_by_id(made.id, user_id="u")
    assert entry is not None
    assert (entry["content"], entry["description"], entry["visibility"]) == ("boil water", "tea", "org")
    assert [found["id"] for found in client.discover_procedures(query="tea", user_id="u")] == [made.id]
    assert client.delete_procedural(made.id, user_id="u").deleted_count == 1
    assert client.get_procedural(procedure="brew", user_id="u") is None
    assert client.get_procedural(procedure="brew", user_id="u", include_deleted=True) is not None


def test_a_fact_is_changed_by_its_id(client: MemoryClient) -> None:
    made = client.create_semantic(label="home", text="Oslo", user_id="u")
    client.update_semantic(made.id, user_id="u", text="Bergen")
    entry = client.get_semantic(label="home", user_id="u")
    assert entry is not None
    assert entry == client.get_semantic_by_id(made.id, user_id="u")
    assert [chunk.content for chunk in client.search_semantic(query="Bergen", user_id="u")] == ["Bergen"]
    assert client.get_semantic_by_id("nobody", user_id="u") is None


def test_the_facade_stands_on_it(client: MemoryClient) -> None:
    memory = Memory(runtime=client, client=client).bind(MemoryRequestContext(user_id="u", session_id="s"))
    assert memory.record_turn(role="user", content="tea").turn_seq == 1
    memory.save_episode(title="T", content="tea at noon", summary="tea")
    memory.save_taxonomic(domain="D", term="T", definition="X")
    memory.save(TICKETS, "the printer burns", tags={"queue": "it"})
    assert memory.list_domains() == ["D"]
    assert [entry["title"] for entry in memory.list_episodes()] == ["T"]
    assert memory.retrieve(TICKETS, "printer").count == 1
    context = memory.build_context("tea", enabled_sources={"stm", "episodic"}, include_memories=True)
    assert len(context.selected_memories or []) == 2
