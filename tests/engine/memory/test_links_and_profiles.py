"""Links and what they do to validity; profiles and where they are found."""

from __future__ import annotations

import pytest

from memoranda.engine.links import LinkDraft
from memoranda.engine.memory_reads import MemoryListing
from memoranda.engine.records import MemoryStatus
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryNotFoundError
from tests.engine.memory.world import MemoryWorld, day


@pytest.mark.parametrize("relation", ["supersedes", "refines", "duplicates"])
def test_a_retiring_link_ends_its_target_and_deleting_it_restores(world: MemoryWorld, relation: str) -> None:
    old = world.fact("lives in Rome", "home", event_time=day(2)).record
    new = world.fact("lives in Oslo", event_time=day(5)).record
    link = world.links.add(LinkDraft(new.id, old.id, relation))
    assert world.texts() == ["lives in Oslo"]
    assert world.found("Rome") == set()
    view = world.memories.get(old.id)
    assert view is not None
    assert (view.record.valid_to, view.superseded_by) == (day(5), new.id)
    world.links.delete(link.id)
    assert world.texts() == ["lives in Rome", "lives in Oslo"]
    assert world.found("Rome") == {old.key}
    restored = world.memories.get(old.id)
    assert restored is not None
    assert restored.record.valid_to is None


@pytest.mark.parametrize(("relation", "inverse"), [("contradicts", "contradicted_by"), ("supports", "supported_by")])
def test_other_links_leave_both_ends(world: MemoryWorld, relation: str, inverse: str) -> None:
    one, two = world.fact("tea is good").record, world.fact("tea is bad").record
    link = world.links.add(LinkDraft(one.id, two.id, relation, metadata={"why": "said so"}))
    assert (link.inverse, link.metadata) == (inverse, {"why": "said so"})
    assert world.links.add(LinkDraft(one.id, two.id, relation)) == link
    assert world.links.list(two.id) == [link] == world.links.list(one.id)
    assert world.texts() == ["tea is good", "tea is bad"]


def test_a_target_that_another_link_ended_stays_so(world: MemoryWorld) -> None:
    old, one, two = (world.fact(text).record for text in ("old", "one", "two"))
    link = world.links.add(LinkDraft(one.id, old.id, "supersedes"))
    world.links.add(LinkDraft(two.id, old.id, "refines"))
    world.links.delete(link.id)
    assert world.texts() == ["one", "two"]


def test_a_restored_record_stands_beside_the_one_that_took_its_name(world: MemoryWorld) -> None:
    old = world.fact("lives in Rome", "home").record
    new = world.fact("lives in Oslo").record
    link = world.links.add(LinkDraft(new.id, old.id, "supersedes"))
    taken = world.fact("lives in Kyiv", "home").record
    world.links.delete(link.id)
    assert world.texts() == ["lives in Rome", "lives in Oslo", "lives in Kyiv"]
    assert world.fact("lives in Bonn", "home").record.id == taken.id


def test_links_that_cannot_be_are_refused(world: MemoryWorld) -> None:
    one, two, three = (world.fact(text).record for text in ("one", "two", "three"))
    world.links.add(LinkDraft(two.id, one.id, "supersedes"))
    world.links.add(LinkDraft(three.id, two.id, "refines"))
    with pytest.raises(MemoryConflictError, match="already took the place"):
        world.links.add(LinkDraft(one.id, three.id, "supersedes"))
    with pytest.raises(MemoryBadRequestError, match="relation 'likes'"):
        world.links.add(LinkDraft(one.id, two.id, "likes"))
    with pytest.raises(MemoryBadRequestError, match="itself"):
        world.links.add(LinkDraft(one.id, one.id, "supports"))
    with pytest.raises(MemoryNotFoundError):
        world.links.add(LinkDraft(one.id, two.id, "supports"), user_id="bob")
    with pytest.raises(MemoryNotFoundError):
        world.links.delete("nothing")


def test_deleting_a_memory_removes_its_links_and_leaves_what_it_superseded_ended(world: MemoryWorld) -> None:
    old, new = world.fact("old").record, world.fact("new").record
    world.links.add(LinkDraft(new.id, old.id, "supersedes"))
    assert world.memories.delete(new.id).links == 1
    view = world.memories.get(old.id)
    assert view is not None
    assert (view.record.status, view.superseded_by) == (MemoryStatus.SUPERSEDED, None)
    assert world.texts(MemoryListing()) == []


def test_a_profile_is_replaced_found_by_its_words_and_removed(world: MemoryWorld) -> None:
    first = world.profiles.put("user", "ann", "plays chess")
    second = world.profiles.put("user", "ann", "plays go", metadata={"n": 1})
    assert (second.key, second.created_at) == (first.key, first.created_at)
    assert world.found("chess", source="profile") == set()
    assert world.found("go", source="profile") == {second.key}
    assert world.found("go", source="profile", user="bob") == set()
    assert world.profiles.get("user", "ann") == second
    agent = world.profiles.put("agent", "helper", "speaks of go")
    assert world.profiles.page("agent") == [agent]
    assert world.found("go", source="profile", user=None) == {second.key, agent.key}
    assert world.profiles.delete("user", "ann")
    assert not world.profiles.delete("user", "ann")
    assert world.found("go", source="profile") == set()


def test_a_profile_has_its_vector(embedding_world: MemoryWorld) -> None:
    embedding_world.profiles.put("user", "ann", "plays chess")
    embedding_world.profiles.put("user", "ann", "plays go")
    assert len(embedding_world.rows("vectors")["vectors"]) == 1


def test_a_profile_of_nobody_or_of_something_else_is_refused(world: MemoryWorld) -> None:
    with pytest.raises(MemoryBadRequestError, match="not of 'team'"):
        world.profiles.put("team", "x", "y")
    with pytest.raises(MemoryBadRequestError, match="id of the user"):
        world.profiles.put("user", " ", "y")
