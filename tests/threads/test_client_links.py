"""Links between memories: what they retire, how they are named, and what a search reaches over them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from memoranda.threads import AgentMemory, MemoryLink, MemoryRecord, Record, RecordRelation, RecordStatus
from tests.threads.clients import bench, client, said

__all__ = ["bench", "client"]


def fact(client: AgentMemory, content: str, **arguments: Any) -> str:
    return client.add_memory(content, memory_type="fact", **{"user_id": "u", **arguments})


def linked(client: AgentMemory, source: str, target: str, relation: str = "supports", **arguments: Any) -> str:
    return client.link_records(source, "fact", target, "fact", relation, **arguments)


def is_valid(client: AgentMemory, memory_id: str) -> bool:
    return client.get_memory(memory_id).status is RecordStatus.VALID


@pytest.mark.parametrize(
    ("relation", "opposite", "retires"),
    [
        ("supersedes", "is_superseded_by", True),
        ("refines", "is_refined_by", True),
        ("duplicates", "duplicates", True),
        ("supports", "is_supported_by", False),
        ("contradicts", "contradicts", False),
        ("mentions", "mentions", False),
    ],
)
def test_a_link_has_its_opposite_and_retires_its_target_until_it_is_deleted(
    relation: str, opposite: str, retires: bool, client: AgentMemory
) -> None:
    new, old = fact(client, "new"), fact(client, "old")
    link = client.get_record_link(linked(client, new, old, relation))
    assert (link.relation_type, link.opposite_relation_type) == (relation, opposite)
    assert isinstance(link, MemoryLink) == (relation != "mentions")
    assert (is_valid(client, new), is_valid(client, old)) == (True, not retires)
    assert client.delete_record_link(relation_id=link.id) == 1
    assert is_valid(client, old)
    assert client.delete_record_link(relation_id=link.id) == 0


def test_a_retired_memory_says_what_retired_it(client: AgentMemory) -> None:
    new, old = fact(client, "new"), fact(client, "old")
    linked(client, new, old, "supersedes")
    metadata = client.get_memory(old).metadata
    assert metadata == {"$agent_memory": {"invalidation_reason": f"superseded by {new}"}}


def test_a_target_is_valid_again_once_nothing_retires_it(client: AgentMemory) -> None:
    one, two, old = fact(client, "one"), fact(client, "two"), fact(client, "old")
    first, second = linked(client, one, old, "supersedes"), linked(client, two, old, "refines")
    client.delete_record_link(relation_id=first)
    assert not is_valid(client, old)
    client.update_record_link(second, "supports")
    assert is_valid(client, old)
    client.update_record_link(second, "duplicates")
    assert not is_valid(client, old)


def test_what_was_retired_by_hand_stays_so(client: AgentMemory) -> None:
    new, old = fact(client, "new"), fact(client, "old", status="invalid")
    link = linked(client, new, old, "supersedes")
    client.delete_record_link(relation_id=link)
    assert not is_valid(client, old)


def test_deleting_the_source_of_a_link_does_not_bring_its_target_back(client: AgentMemory) -> None:
    new, old = fact(client, "new"), fact(client, "old")
    linked(client, new, old, "supersedes")
    client.delete_memory(new)
    assert not is_valid(client, old)


def test_a_link_of_ones_own_has_a_label_for_each_direction(client: AgentMemory) -> None:
    one, two = fact(client, "one"), fact(client, "two")
    added = linked(
        client,
        one,
        two,
        "causes",
        opposite_relation_type="is_caused_by",
        relation_id="l",
        timestamp="2026-01-01T00:00:00+00:00",
        metadata={"n": 1},
    )
    assert added == "l"
    link = client.get_record_link("l")
    assert type(link) is RecordRelation
    assert (link.label_from(one), link.label_from(two)) == ("causes", "is_caused_by")
    assert (link.timestamp, link.metadata) == ("2026-01-01T00:00:00+00:00", {"n": 1})


def test_the_same_link_is_made_once(client: AgentMemory) -> None:
    one, two = fact(client, "one"), fact(client, "two")
    assert linked(client, one, two) == linked(client, one, two)
    assert len(client.list_record_links()) == 1


@pytest.mark.parametrize(
    ("error", "change"),
    [
        (ValueError, {"source_record_type": "message"}),
        (KeyError, {"source_record_id": "nobody"}),
        (KeyError, {"target_record_type": "memory"}),
        (ValueError, {"relation_type": " "}),
        (ValueError, {"opposite_relation_type": "supports"}),
        (ValueError, {"relation_id": ""}),
        (ValueError, {"timestamp": "yesterday"}),
        (ValueError, {"metadata": [1]}),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_link_that_cannot_be_is_refused(error: type[Exception], change: dict[str, Any], client: AgentMemory) -> None:
    arguments = {
        "source_record_id": fact(client, "one"),
        "source_record_type": "fact",
        "target_record_id": fact(client, "two"),
        "target_record_type": "fact",
        "relation_type": "supports",
    }
    with pytest.raises(error):
        client.link_records(**{**arguments, **change})
    assert client.list_record_links() == []


def test_links_that_retire_form_no_circle(client: AgentMemory) -> None:
    one, two = fact(client, "one"), fact(client, "two")
    linked(client, one, two, "supersedes")
    with pytest.raises(ValueError, match="already took the place"):
        linked(client, two, one, "refines")
    with pytest.raises(ValueError, match="itself"):
        linked(client, one, one)


def test_an_update_changes_what_is_given(client: AgentMemory) -> None:
    one, two = fact(client, "one"), fact(client, "two")
    link = linked(client, one, two, metadata={"n": 1})
    assert client.update_record_link(link, metadata=None, timestamp="2026-02-01T00:00:00+00:00") == 1
    changed = client.get_record_link(link)
    assert (changed.relation_type, changed.metadata) == ("supports", None)
    assert changed.timestamp == "2026-02-01T00:00:00+00:00"
    assert client.update_record_link("nobody", "supports") == 0
    with pytest.raises(ValueError, match="opposite"):
        client.update_record_link(link, opposite_relation_type="x")
    linked(client, one, two, "contradicts")
    with pytest.raises(ValueError, match="already"):
        client.update_record_link(link, "contradicts")


def test_a_link_is_chosen_by_its_id_or_by_everything_else(client: AgentMemory) -> None:
    one, two = fact(client, "one"), fact(client, "two")
    link = linked(client, one, two)
    for half in ({}, {"source_record_id": one}, {"relation_id": link, "source_record_id": one}):
        with pytest.raises(ValueError, match="relation_id"):
            client.delete_record_link(**half)
    assert client.delete_record_link(one, "memory", two, "fact", "supports") == 0
    assert client.delete_record_link(one, "fact", two, "fact", "refines") == 0
    assert client.delete_record_link(one, "fact", two, "fact", "supports") == 1
    with pytest.raises(KeyError):
        client.get_record_link(link)


def test_links_are_listed_by_end_and_label(client: AgentMemory) -> None:
    one, two, three = (fact(client, name) for name in ("one", "two", "three"))
    a, b, c = linked(client, one, two), linked(client, two, three), linked(client, one, three, "refines")

    def ids(**query: str) -> list[str]:
        return [link.id for link in client.list_record_links(**query)]

    assert ids() == [a, b, c]
    assert ids(record_id=two) == [a, b]
    assert ids(source_record_id=one) == [a, c]
    assert ids(target_record_id=three) == [b, c]
    assert ids(source_record_id=one, target_record_id=three) == [c]
    assert ids(relation_type="supports") == [a, b]


# --- reached over links


def tree(record: Record) -> dict[object, object]:
    """Return what was reached from a record, by content."""
    return {child.content: tree(child) for _, child in record.linked_results}


@pytest.fixture
def chain(client: AgentMemory) -> list[str]:
    """Four memories, each linked to the next; a search finds the first alone."""
    ids = [fact(client, name) for name in ("trains", "second", "third", "fourth")]
    for source, target in pairwise(ids):
        linked(client, source, target)
    return ids


def reached(client: AgentMemory, **arguments: Any) -> dict[object, object]:
    found = client.search("trains", user_id="u", **arguments)
    assert len(found) == 1
    return tree(found[0].record)


def test_links_are_followed_as_far_as_asked(chain: list[str], client: AgentMemory) -> None:
    assert reached(client) == {}
    assert reached(client, num_hops=1) == {"second": {}}
    assert reached(client, num_hops=5) == {"second": {"third": {"fourth": {}}}}


def test_links_are_followed_in_both_directions_and_told_from_where_one_comes(client: AgentMemory) -> None:
    target = fact(client, "trains")
    linked(client, fact(client, "source"), target)
    record = client.search("trains", user_id="u", num_hops=1)[0].record
    assert [(link.label_from(target), child.content) for link, child in record.linked_results] == [
        ("is_supported_by", "source")
    ]


def test_the_shortest_way_counts_and_nothing_comes_twice(chain: list[str], client: AgentMemory) -> None:
    linked(client, chain[0], chain[2], "contradicts")
    linked(client, chain[3], chain[0], "contradicts")
    assert reached(client, num_hops=3) == {"second": {}, "third": {}, "fourth": {}}


def test_no_more_is_reached_than_asked_for(chain: list[str], client: AgentMemory) -> None:
    assert reached(client, num_hops=5, max_linked_results=2) == {"second": {"third": {}}}


def test_what_is_reached_obeys_the_search(client: AgentMemory) -> None:
    root = fact(client, "trains", metadata={"ok": 1})
    others = {
        "other user": fact(client, "other user", user_id="v", metadata={"ok": 1}),
        "other metadata": fact(client, "other metadata", metadata={"ok": 2}),
        "expired": fact(
            client, "expired", metadata={"ok": 1}, timestamp="2020-01-01", ttl_days=1, ttl_anchor="timestamp"
        ),
        "fine": fact(client, "fine", metadata={"ok": 1}),
    }
    for name, other in others.items():
        if name != "expired":
            linked(client, root, other)
    assert reached(client, num_hops=1, metadata_filter={"ok": 1}) == {"fine": {}}
    assert reached(client, num_hops=1) == {"fine": {}, "other metadata": {}}
    linked(client, root, others["fine"], "supersedes")
    assert reached(client, num_hops=1, include_invalid_results=False) == {"other metadata": {}}
    typed = reached(client, num_hops=1, record_types=["fact"])
    assert typed == {"fine": {}, "other metadata": {}}


@pytest.mark.parametrize("arguments", [{"num_hops": 6}, {"num_hops": -1}, {"num_hops": "1"}, {"max_linked_results": 0}])
def test_a_reach_that_cannot_be_is_refused(arguments: dict[str, Any], client: AgentMemory) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        client.search("x", user_id="u", **arguments)


def test_only_memories_are_followed(client: AgentMemory) -> None:
    client.add_user("u", "likes trains")
    found = client.search("trains", user_id="u", num_hops=2)
    assert said(found) == {"likes trains"}
    assert not isinstance(found[0].record, MemoryRecord)
