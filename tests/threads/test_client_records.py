"""Profiles, listings and deletions of a client."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.testing.integrity import check
from memoranda.threads import (
    AgentMemory,
    AgentProfileRecord,
    MemoryExtractionConfig,
    Message,
    ThreadRecord,
    UserProfileRecord,
)
from tests.threads.clients import Bench, bench, client, said

__all__ = ["bench", "client"]

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32


@pytest.fixture
def quiet(bench: Bench) -> AgentMemory:
    """A client that extracts nothing."""
    return bench.client(memory_extraction_config=MemoryExtractionConfig(extract_memories=False))


# --- profiles


def test_profiles_are_their_owners_own(client: AgentMemory) -> None:
    assert client.add_user("u", "Likes trains", {"k": 1}) == "u"
    assert client.add_agent("a", "Sells tickets") == "a"
    user, agent = client.get_user("u"), client.get_agent("a")
    assert (user.content, user.metadata, type(user)) == ("Likes trains", {"k": 1}, UserProfileRecord)
    assert (agent.content, agent.metadata, type(agent)) == ("Sells tickets", None, AgentProfileRecord)
    with pytest.raises(KeyError):
        client.get_user("a")


def test_a_profile_takes_the_place_of_the_one_before(client: AgentMemory) -> None:
    client.add_user("u", "Likes trains")
    client.add_user("u", "Likes boats")
    assert [each.content for each in client.list_users()] == ["Likes boats"]
    assert said(client.search("likes trains boats", user_id="u")) == {"Likes boats"}


@pytest.mark.parametrize("owner", ["", " ", 3, None])
def test_an_owner_has_a_name(owner: Any, client: AgentMemory) -> None:
    with pytest.raises(ValueError, match="user_id"):
        client.add_user(owner, "x")


def test_a_profile_is_found_by_its_owner_alone(client: AgentMemory) -> None:
    client.add_user("u", "likes trains")
    client.add_agent("a", "likes trains as well")
    assert said(client.search("trains", user_id="u")) == {"likes trains"}
    assert said(client.search("trains", user_id="v")) == set()
    assert said(client.search("trains", user_id=None, agent_id="a")) == {"likes trains as well"}
    assert said(client.search("trains", user_id="u", record_types=["agent_profile"])) == set()
    assert said(client.search("trains", user_id="u", record_types=["user_profile"])) == {"likes trains"}
    everyone = client.search("trains", user_id=None, record_types=["agent_profile"])
    assert said(everyone) == {"likes trains as well"}


# --- listing


def contents(records: Any) -> list[object]:
    return [each.content for each in records]


def test_memories_are_listed_oldest_first_by_owner(client: AgentMemory) -> None:
    for content, owners in (
        ("one", {"user_id": "u"}),
        ("two", {"user_id": "u", "agent_id": "a"}),
        ("three", {"thread_id": "t"}),
        ("four", {"user_id": "v", "agent_id": "a"}),
    ):
        client.add_memory(content, **owners)  # type: ignore[arg-type]  # ids of owners
    assert contents(client.list_memories()) == ["one", "two", "three", "four"]
    assert contents(client.list_memories("u")) == ["one", "two"]
    assert contents(client.list_memories(None)) == ["three"]
    assert contents(client.list_memories("u", None)) == ["one"]
    assert contents(client.list_memories(agent_id="a")) == ["two", "four"]
    assert contents(client.list_memories(thread_id="t")) == ["three"]
    assert contents(client.list_memories(thread_id=None)) == ["one", "two", "four"]
    with pytest.raises(ValueError, match="user_id"):
        client.list_memories("")


def test_a_limit_keeps_the_newest(client: AgentMemory) -> None:
    for content in ("one", "two", "three"):
        client.add_memory(content)
        client.add_user(content, content)
    for listed in (client.list_memories, client.list_users):
        assert contents(listed(limit=2)) == ["two", "three"]
        assert contents(listed(limit=None)) == ["one", "two", "three"]
        assert contents(listed(limit=9)) == ["one", "two", "three"]
        assert contents(listed(limit=0)) == []
        with pytest.raises(ValueError, match="limit"):
            listed(limit="2")  # type: ignore[arg-type]  # wrong on purpose


def test_no_filter_of_a_listing_means_without_metadata(client: AgentMemory) -> None:
    client.add_memory("with", metadata={"k": {"n": [1, 2]}})
    client.add_memory("without")
    client.add_user("with", "with", {"k": {"n": [1, 2]}})
    client.add_user("without", "without")
    for listed in (client.list_memories, client.list_users):
        assert contents(listed(metadata_filter=None)) == ["without"]
        assert contents(listed(metadata_filter={"k": {"n": {"$array_contains": 2}}})) == ["with"]
        assert contents(listed(metadata_filter={"k": {"n": {"$not": [1, 2]}}})) == ["without"]
        with pytest.raises(ValueError, match="unknown"):
            listed(metadata_filter={"k": {"$unknown": 1}})


def test_more_than_a_page_is_listed(client: AgentMemory, bench: Bench) -> None:
    for number in range(1_100):
        client.add_memory(str(number), user_id="u", memory_type="fact" if number % 2 else "memory")
    assert contents(client.list_memories("u")) == [str(number) for number in range(1_100)]
    assert contents(client.list_memories("u", limit=600)) == [str(number) for number in range(500, 1_100)]


def test_threads_are_listed_by_user(quiet: AgentMemory, bench: Bench) -> None:
    for thread_id, user, agent in (("t1", "u", "a"), ("t2", "u", "b"), ("t3", "v", "a")):
        quiet.create_thread(thread_id=thread_id, user_id=user, agent_id=agent, metadata={"n": thread_id})
        bench.clock.advance(seconds=1)

    def ids(*args: Any, **kwargs: Any) -> list[str]:
        return [each.id for each in quiet.list_threads(*args, **kwargs)]

    assert ids("u") == ["t1", "t2"]
    assert ids("u", "b") == ["t2"]
    assert ids("u", limit=1) == ["t2"]
    assert ids("u", metadata_filter={"n": "t1"}) == ["t1"]
    assert ids("u", metadata_filter=None) == []
    assert ids(None) == []
    record = quiet.list_threads("v")[0]
    assert isinstance(record, ThreadRecord)
    assert (record.thread_id, record.user_id, record.agent_id) == ("t3", "v", "a")
    assert record.runtime_config is not None
    with pytest.raises(TypeError):
        quiet.list_threads()  # type: ignore[call-arg]  # the user has to be said


def test_messages_are_listed_over_threads(quiet: AgentMemory) -> None:
    one = quiet.create_thread(thread_id="one", user_id="u", agent_id="a")
    two = quiet.create_thread(thread_id="two", user_id="u", agent_id="b")
    one.add_messages([Message("user", "first", metadata={"k": 1})])
    two.add_messages([Message("user", "second")])
    one.add_messages([Message("assistant", "third")])
    assert contents(quiet.list_messages("u")) == ["first", "second", "third"]
    assert contents(quiet.list_messages(thread_id="one")) == ["first", "third"]
    assert contents(quiet.list_messages(agent_id="b")) == ["second"]
    assert contents(quiet.list_messages("u", metadata_filter={"k": 1})) == ["first"]
    assert contents(quiet.list_messages("u", limit=1)) == ["third"]
    assert [each.seq_no for each in quiet.list_messages(thread_id="one")] == [1, 2]


# --- deletion


@pytest.fixture
def full(quiet: AgentMemory) -> AgentMemory:
    """Two users and two agents, each with everything there is."""
    for user, agent in (("u", "a"), ("v", "b")):
        quiet.add_user(user, f"trains {user}")
        quiet.add_agent(agent, f"trains {agent}")
        thread = quiet.create_thread(thread_id=f"t-{user}", user_id=user, agent_id=agent)
        thread.add_messages([{"role": "user", "content": f"trains message {user}"}])
        thread.add_memory(f"trains in thread {user}")
        thread.add_image(PNG, f"trains picture {user}", "image/png")
        quiet.add_memory(f"trains of user {user}", user_id=user)
        quiet.add_memory(f"trains of agent {agent}", agent_id=agent)
        quiet.add_image(PNG, f"trains image {user}", "image/png", user_id=user)
    return quiet


def everything(client: AgentMemory) -> set[object]:
    """Return what is there of the first user and agent, by every way to it."""
    listed = (
        client.list_memories(),
        client.list_messages(),
        client.list_users(),
        client.list_agents(),
        client.list_images(),
        [each.record for each in client.search("trains", user_id="u", max_results=99)],
        [each.record for each in client.search("trains", user_id=None, max_results=99)],
    )
    return {each.content for records in listed for each in records if str(each.content)[-1] in "ua"}


def other(client: AgentMemory) -> list[object]:
    """Return what is there of the second user and agent."""
    listed = (client.list_memories(), client.list_messages(), client.list_users(), client.list_agents())
    return [
        each.content for records in (*listed, client.list_images()) for each in records if str(each.content)[-1] in "vb"
    ]


def test_a_deleted_thread_leaves_what_is_not_its_own(full: AgentMemory) -> None:
    before = other(full)
    assert full.delete_thread("t-u") == 1
    assert full.delete_thread("t-u") == 0
    assert full.delete_thread("") == 0
    assert everything(full) == {
        "trains u",
        "trains a",
        "trains of user u",
        "trains of agent a",
        "trains image u",
    }
    assert full.list_threads("u") == []
    assert other(full) == before
    with pytest.raises(KeyError):
        full.get_thread("t-u")


def test_memories_of_a_thread_that_never_was_go_with_its_id(client: AgentMemory) -> None:
    client.add_memory("x", thread_id="t", user_id="u")
    assert client.delete_thread("t") == 0
    assert client.list_memories() == []


def test_a_deleted_user_leaves_nothing(full: AgentMemory) -> None:
    before = other(full)
    assert full.delete_user("u") == 1
    assert everything(full) == {"trains a", "trains of agent a"}
    assert full.list_threads("u") == []
    assert other(full) == before
    assert full.delete_user("u") == 0
    full.add_memory("trains again u", user_id="u")
    assert said(full.search("trains", user_id="u")) == {"trains again u"}


def test_a_user_without_a_profile_is_deleted_all_the_same(client: AgentMemory) -> None:
    client.add_memory("x", user_id="u")
    assert client.delete_user("u") == 0
    assert client.list_memories() == []


def test_a_deleted_agent_leaves_nothing(full: AgentMemory) -> None:
    before = other(full)
    assert full.delete_agent("a") == 1
    assert everything(full) == {"trains u", "trains of user u", "trains image u"}
    assert full.list_threads("u") == []
    assert other(full) == before
    assert full.delete_agent("a") == 0


def test_without_cascade_the_profile_goes_alone(full: AgentMemory) -> None:
    before = everything(full)
    assert full.delete_user("u", cascade=False) == 1
    assert full.delete_agent("a", cascade=False) == 1
    assert everything(full) == before - {"trains u", "trains a"}
    assert full.delete_user("u", cascade=False) == 0


def test_the_store_is_whole_after_deletions(full: AgentMemory, bench: Bench) -> None:
    full.delete_agent("a")
    full.delete_user("v")
    full.delete_thread("t-u")
    full.delete_memory(full.list_memories()[0].id)
    assert check(bench.path) == []
