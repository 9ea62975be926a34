"""One engine behind both APIs: what one writes the other reads."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoranda.engine.links import LinkDraft
from memoranda.runtime import EngineRuntime
from memoranda.sdk.memory import Memory
from memoranda.sdk.protocol import MemoryRequestContext
from memoranda.threads import AgentMemory, Message, RecordStatus
from tests.threads.clients import Bench, bench, said

__all__ = ["bench"]


class Doors:
    """A client and facades over one engine."""

    def __init__(self, bench: Bench) -> None:
        self.engine = bench.engine()
        self.client = AgentMemory(store=self.engine)
        runtime = EngineRuntime(self.engine, shares_store=True)
        self.facade = Memory(runtime=runtime, client=runtime)

    def bound(self, user_id: str, session_id: str = "s", agent_id: str | None = "a") -> Memory:
        return self.facade.bind(MemoryRequestContext(user_id=user_id, agent_id=agent_id, session_id=session_id))

    def contents(self, user_id: str) -> list[str]:
        """Return what the facade lists of a user, latest first."""
        return [str(entry.content) for entry in self.facade.list_memories(user_id=user_id).items]


@pytest.fixture
def doors(bench: Bench) -> Doors:
    return Doors(bench)


def test_a_message_is_a_turn(doors: Doors) -> None:
    thread = doors.client.create_thread(thread_id="t", user_id="u", agent_id="a", llm="local")
    ids = thread.add_messages([Message("user", "trains?", "2026-01-01T00:00:00+00:00", {"k": 1}, "m1")])
    turns = doors.facade.list_turns("t", user_id="u").items
    assert [(each.id, each.role, each.content, each.metadata) for each in turns] == [
        ("m1", "user", "trains?", {"k": 1})
    ]
    assert turns[0].event_time.isoformat() == "2026-01-01T00:00:00+00:00"
    assert ids == ["m1"]
    assert doors.bound("u").get_turn("m1") == turns[0]
    context = doors.facade.build_context("trains", user_id="u", enabled_sources={"stm"})
    assert "trains?" in str(context.formatted_context)


def test_a_turn_is_a_message_and_its_session_a_thread(doors: Doors) -> None:
    memory = doors.bound("u")
    memory.record_turn(role="user", content="trains?", metadata={"k": 1})
    memory.record_turn(role="assistant", content="At noon.", timestamp="2026-01-02T00:00:00Z")
    thread = doors.client.get_thread("s", llm="local")
    assert (thread.user_id, thread.agent_id) == ("u", "a")
    messages = thread.get_messages()
    assert [(each.role, each.content, each.metadata) for each in messages] == [
        ("user", "trains?", {"k": 1}),
        ("assistant", "At noon.", None),
    ]
    assert messages[1].timestamp == "2026-01-02T00:00:00+00:00"
    assert doors.client.search("trains", user_id="u")[0].content == "trains?"
    assert [each.id for each in doors.client.list_threads("u")] == ["s"]
    thread.add_messages([Message("user", "Thanks.")])
    assert len(memory.list_turns().items) == 3


def test_a_session_of_two_users_is_no_thread(doors: Doors) -> None:
    for user in ("u", "v"):
        doors.bound(user).record_turn(role="user", content="x")
    for call in (lambda: doors.client.get_thread("s", llm="local"), lambda: doors.client.delete_thread("s")):
        with pytest.raises(ValueError, match="delete_session"):
            call()
    doors.facade.delete_session("s", user_id="v")
    assert doors.client.get_thread("s", llm="local").user_id == "u"


def test_a_memory_of_the_client_is_a_semantic_memory(doors: Doors) -> None:
    added = doors.client.add_memory("Likes trains", memory_type="preference", user_id="u", metadata={"k": 1})
    entry = doors.bound("u").get_memory(added)
    assert entry is not None
    assert (entry.id, entry.kind, entry.content, entry.metadata) == (added, "semantic", "Likes trains", {"k": 1})
    assert doors.bound("v").get_memory(added) is None
    shared = doors.client.add_memory("The office is in Lyon")
    assert doors.bound("v").get_memory(shared) is not None
    assert [chunk.content for chunk in doors.facade.search("trains", user_id="u")] == ["Likes trains"]


def test_memories_of_every_kind_are_found_as_memories(doors: Doors) -> None:
    memory = doors.bound("u")
    memory.save_semantic(text="trains are late", label="delays")
    memory.save_episode(title="a journey", content="took two trains")
    memory.save_procedure(procedure="tickets", description="how to", content="buy a ticket for trains")
    memory.save_taxonomic(domain="rail", term="TGV", definition="fast trains", user_id="u")
    found = doors.client.search("trains", user_id="u")
    assert {each.record.record_type for each in found} == {"memory"}
    assert said(found) == {"trains are late", "took two trains", "buy a ticket for trains", "rail/TGV: fast trains"}
    assert len(doors.client.list_memories("u")) == 4
    assert doors.client.search("trains", user_id="u", record_types=["fact"]) == []


def test_links_of_either_are_links_of_both(doors: Doors) -> None:
    client, links = doors.client, doors.engine.links
    one, two, three = (client.add_memory(name, user_id="u") for name in ("one", "two", "three"))
    links.add(LinkDraft(one, two, "supersedes"))
    client.link_records(two, "memory", three, "memory", "refines")
    assert client.get_memory(two).status is RecordStatus.INVALID
    link = client.list_record_links(record_id=one)[0]
    assert (link.relation_type, link.opposite_relation_type) == ("supersedes", "is_superseded_by")
    assert [each.relation for each in links.list(three)] == ["refines"]
    assert doors.contents("u") == ["one"]


def test_a_status_set_by_hand_holds_for_both(doors: Doors) -> None:
    added = doors.client.add_memory("one", user_id="u", status="invalid")
    assert doors.contents("u") == []
    doors.client.update_memory(added, status="valid")
    assert doors.contents("u") == ["one"]


def test_lifetimes_end_for_both(doors: Doors, bench: Bench) -> None:
    doors.client.add_memory("of the client", user_id="u", ttl_days=1)
    doors.bound("u").save_semantic(text="of the facade", label="x", ttl_days=1)
    assert len(doors.client.list_memories("u")) == len(doors.contents("u")) == 2
    bench.clock.advance(timedelta(days=1))
    assert doors.client.list_memories("u") == []
    assert doors.contents("u") == []


def test_deletions_reach_what_the_other_wrote(doors: Doors) -> None:
    doors.bound("u").save_semantic(text="of the facade", label="x")
    doors.bound("u").record_turn(role="user", content="x")
    doors.client.add_memory("of the client", user_id="v")
    doors.client.create_thread(thread_id="t", user_id="v", llm="local")
    doors.client.delete_user("u")
    doors.facade.delete_user("v")
    assert doors.client.list_memories() == []
    assert doors.client.list_threads("v") == []
    assert doors.facade.list_turns(user_id="u").items == []


def test_an_extracted_memory_is_in_both(doors: Doors) -> None:
    thread = doors.client.create_thread(thread_id="t", user_id="u", agent_id="a", llm="local")
    thread.add_messages([Message("user", "My name is Anna.")])
    thread.wait_for_memory_extraction()
    listed = doors.client.list_memories("u", "a", "t")
    assert [each.content for each in listed] == doors.contents("u")
    assert len(listed) == 1
    doors.client.delete_thread("t")
    assert doors.contents("u") == []
