"""Memories of a client: adding, linking, changing, deleting."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memoranda.testing.embedders import HashedEmbedder
from memoranda.threads import AgentMemory, FactRecord, MemoryRecord, RecordStatus
from tests.threads.clients import Bench, bench, client, said
from tests.threads.scripted import LINKS, ScriptedLlm

__all__ = ["bench", "client"]


def test_a_memory_has_what_it_was_given(client: AgentMemory) -> None:
    given = client.add_memory(
        "Lives in Lyon",
        memory_type="fact",
        user_id="u",
        agent_id="a",
        thread_id="t",
        memory_id="mem-1",
        metadata={"k": [1, {"x": None}]},
        timestamp="2026-01-01",
    )
    assert given == "mem-1"
    assert client.get_memory("mem-1") == FactRecord(
        "mem-1", "Lives in Lyon", "2026-01-01", {"k": [1, {"x": None}]}, thread_id="t", user_id="u", agent_id="a"
    )


def test_what_is_omitted_is_nobodys_plain_memory(client: AgentMemory) -> None:
    record = client.get_memory(client.add_memory("x"))
    assert type(record) is MemoryRecord
    assert (record.user_id, record.agent_id, record.thread_id, record.metadata) == (None, None, None, None)
    assert record.timestamp == "2026-01-05T09:00:00+00:00"


def test_words_that_are_no_time_are_kept_as_they_are(client: AgentMemory) -> None:
    assert client.get_memory(client.add_memory("x", timestamp="last spring")).timestamp == "last spring"


def test_an_empty_content_is_a_memory_and_none_is_taken_from_the_metadata(client: AgentMemory) -> None:
    assert client.get_memory(client.add_memory("", user_id="u")).content == ""
    assert client.get_memory(client.add_memory(None, metadata={"content": "y"})).content == "y"


WRONG: dict[str, tuple[type[Exception], dict[str, Any]]] = {
    "type": (ValueError, {"memory_type": "episode"}),
    "none": (ValueError, {"content": None}),
    "number": (TypeError, {"content": 3}),
    "owner": (ValueError, {"user_id": ""}),
    "id": (ValueError, {"memory_id": ""}),
    "metadata": (ValueError, {"metadata": [1]}),
    "our metadata": (ValueError, {"metadata": {"$agent_memory": {}}}),
    "status": (ValueError, {"status": "gone"}),
    "lifetime": (ValueError, {"ttl_days": 0}),
    "anchor": (ValueError, {"ttl_days": 1, "ttl_anchor": "now"}),
    "half a link": (ValueError, {"memory_id_to_link": "m"}),
    "other half": (ValueError, {"link_type": "supports"}),
    "link details": (ValueError, {"link_id": "l"}),
    "link type": (ValueError, {"memory_id_to_link": "m", "link_type": "likes"}),
    "link target": (KeyError, {"memory_id_to_link": "nobody", "link_type": "supports"}),
    "keyword": (TypeError, {"colour": "red"}),
    "texts": (ValueError, {"index_texts": []}),
    "vectors": (ValueError, {"embeddings": 3}),
    "vectors without embedder": (ValueError, {"embeddings": [1.0]}),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_a_memory_is_refused_and_not_stored(name: str, client: AgentMemory) -> None:
    error, arguments = WRONG[name]
    with pytest.raises(error):
        client.add_memory(**{"content": "x", **arguments})
    assert client.list_memories() == []


def test_an_id_is_one_memorys(client: AgentMemory) -> None:
    client.add_memory("x", memory_id="m")
    with pytest.raises(ValueError, match="'m'"):
        client.add_memory("y", memory_id="m")
    assert client.get_memory("m").content == "x"


def test_the_old_name_of_the_timestamp_works(client: AgentMemory) -> None:
    with pytest.warns(DeprecationWarning, match="timestamp"):
        added = client.add_memory("x", timestamps="2026-01-01")
    assert client.get_memory(added).timestamp == "2026-01-01"


def test_texts_of_ones_own_are_searched_in_place_of_the_content(client: AgentMemory) -> None:
    added = client.add_memory("4711", user_id="u", index_texts=["the code of the door", "access"])
    assert said(client.search("door code", user_id="u")) == {"4711"}
    assert client.search("4711", user_id="u") == []
    client.update_memory(added, index_texts="gate")
    assert client.search("door code", user_id="u") == []
    client.update_memory(added, content="0815")
    assert client.search("gate", user_id="u") == []
    assert said(client.search("0815", user_id="u")) == {"0815"}


def test_vectors_of_ones_own_are_searched(bench: Bench) -> None:
    client = bench.client(HashedEmbedder(dimension=4))
    client.add_memory("x", user_id="u", index_texts=["p", "q"], embeddings=[[1, 0, 0, 0], [0, 1, 0, 0]])
    with pytest.raises(ValueError, match="index_texts"):
        client.add_memory("y", user_id="u", index_texts=["p", "q"], embeddings=[[1, 0, 0, 0]])
    with pytest.raises(ValueError, match="embedding"):
        client.add_memory("y", user_id="u", embeddings=[[1, 0]])
    assert said(client.search("anything", user_id="u")) == {"x"}


# --- changing


def test_an_update_changes_what_is_given(client: AgentMemory) -> None:
    added = client.add_memory("x", memory_type="fact", user_id="u", metadata={"a": 1}, timestamp="2026-01-01")
    assert client.update_memory(added, metadata={"b": 2}) == added
    assert client.update_memory(added, content="") == added
    record = client.get_memory(added)
    assert (record.content, record.metadata, record.timestamp, record.record_type) == (
        "",
        {"b": 2},
        "2026-01-01",
        "fact",
    )
    client.update_memory(added, timestamp=None, metadata=None)
    assert client.get_memory(added).timestamp == "2026-01-05T09:00:00+00:00"
    assert client.get_memory(added).metadata is None


def test_an_update_that_cannot_be_is_refused(client: AgentMemory) -> None:
    added = client.add_memory("x")
    with pytest.raises(KeyError):
        client.update_memory("nobody", "y")
    with pytest.raises(ValueError, match="content"):
        client.update_memory(added, content=None)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(TypeError):
        client.update_memory(added, user_id="u")  # type: ignore[call-arg]  # wrong on purpose
    assert client.update_memory("nobody") == "nobody"
    assert client.get_memory(added).content == "x"


def test_a_status_is_set_by_hand(client: AgentMemory) -> None:
    added = client.add_memory("trains", user_id="u", status="invalid")
    assert client.get_memory(added).status is RecordStatus.INVALID
    assert client.search("trains", user_id="u", include_invalid_results=False) == []
    client.update_memory(added, status=RecordStatus.VALID)
    assert client.get_memory(added).status is RecordStatus.VALID
    client.update_memory(added, content="boats", status="invalid")
    assert said(client.search("boats", user_id="u")) == {"boats"}
    assert client.search("boats", user_id="u", include_invalid_results=False) == []


def test_what_is_deleted_is_gone(client: AgentMemory) -> None:
    added = client.add_memory("trains", user_id="u", memory_id_to_link=client.add_memory("y"), link_type="supports")
    assert client.delete_memory(added) == 1
    assert client.delete_memory(added) == 0
    assert client.search("trains", user_id="u") == []
    assert client.list_record_links() == []
    with pytest.raises(KeyError):
        client.get_memory(added)


# --- links of new memories


def test_a_linked_memory_has_the_owners_of_its_target_unless_it_is_given_its_own(client: AgentMemory) -> None:
    target = client.add_memory("x", user_id="u", agent_id="a", thread_id="t")
    for given, expected in (
        ({}, ("u", "a", "t")),
        ({"agent_id": None}, ("u", None, "t")),
        ({"user_id": "v", "thread_id": "s"}, ("v", "a", "s")),
    ):
        record = client.get_memory(client.add_memory("y", memory_id_to_link=target, link_type="supports", **given))
        assert (record.user_id, record.agent_id, record.thread_id) == expected


def test_the_details_of_a_link_are_kept(client: AgentMemory) -> None:
    target = client.add_memory("x")
    source = client.add_memory(
        "y",
        memory_id_to_link=target,
        link_type="supersedes",
        link_id="l",
        link_timestamp="2026-01-01T00:00:00+00:00",
        link_metadata={"why": "told"},
    )
    link = client.get_record_link("l")
    assert (link.source_record_id, link.target_record_id, link.relation_type) == (source, target, "supersedes")
    assert (link.timestamp, link.metadata) == ("2026-01-01T00:00:00+00:00", {"why": "told"})
    assert client.get_memory(target).status is RecordStatus.INVALID


def test_a_model_links_a_new_memory_to_known_ones_of_the_same_owners(bench: Bench) -> None:
    llm = ScriptedLlm()
    client = bench.client(llm=llm)
    old = client.add_memory("The user lives in Lyon", user_id="u")
    client.add_memory("The user lives in Rome", user_id="v")
    assert llm.asked == []

    llm.script[LINKS] = lambda user: json.dumps(
        {
            "source_resolutions": {
                "m1": {
                    "updated_source_memory_text": None,
                    "links": [{"target_memory_id": old, "link_type": "supersedes"}],
                }
            }
        }
    )
    new = client.add_memory("The user lives in Paris", user_id="u")

    assert [(each.source_record_id, each.target_record_id) for each in client.list_record_links()] == [(new, old)]
    assert client.get_memory(old).status is RecordStatus.INVALID
    assert len(llm.asked) == 1
    client.add_memory("The user lives in Nice", user_id="u", autonomous_linking=False)
    assert len(llm.asked) == 1


def test_a_memory_whose_links_fail_is_stored(bench: Bench) -> None:
    llm = ScriptedLlm()
    llm.raises(LINKS, RuntimeError("no model today"))
    client = bench.client(llm=llm)
    client.add_memory("lives in Lyon", user_id="u")
    client.add_memory("lives in Paris", user_id="u")
    assert len(llm.asked) == 1
    assert len(client.list_memories("u")) == 2
