"""What ties records together: sources, links, profiles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.engine.ports import Store
from memoranda.engine.records import Link, Profile
from memoranda.testing.samples import NOW, PROJECT, Scribe, later
from memoranda.testing.store_suite.base import StoreRules


class SourceRules(StoreRules):
    """``SourceRows``: an extracted memory goes when its last source goes."""

    def test_sources_are_kept_on_both_sides(self, store: Store, scribe: Scribe) -> None:
        one, two = scribe.memory("x"), scribe.memory("y")
        with store.write(PROJECT) as tx:
            tx.sources.add(one.id, ["t1", "t2"], "snapshot")
            tx.sources.add(two.id, ["t2"], "snapshot")
            tx.sources.add(two.id, ["t2"], "snapshot")
        with store.read(PROJECT) as tx:
            assert tx.sources.turns_of(one.id) == ["t1", "t2"]
            assert tx.sources.snapshots_of(two.id) == ["snapshot"]
            assert tx.sources.memories_of_turns(["t2"]) == sorted([one.id, two.id])
            assert tx.sources.memories_of_turns(["T2"]) == []

    def test_a_memory_is_orphaned_with_its_last_turn(self, store: Store, scribe: Scribe) -> None:
        memory = scribe.memory("x", origin="extracted")
        with store.write(PROJECT) as tx:
            tx.sources.add(memory.id, ["t1", "t2"], "snapshot")
            assert tx.sources.remove_turns(["t1"]) == []
            assert tx.sources.remove_turns(["t2"]) == [memory.id]

    def test_a_memory_written_directly_is_never_an_orphan(self, store: Store, scribe: Scribe) -> None:
        memory = scribe.memory("x", origin="direct")
        with store.write(PROJECT) as tx:
            tx.sources.add(memory.id, ["t1"], "")
            assert tx.sources.remove_turns(["t1"]) == []

    def test_a_snapshot_orphans_what_has_no_living_turn(self, store: Store, scribe: Scribe) -> None:
        turn = scribe.turn("x")
        fed, starved = scribe.memory("x", origin="extracted"), scribe.memory("y", origin="extracted")
        with store.write(PROJECT) as tx:
            tx.sources.add(fed.id, [turn.id], "snapshot")
            tx.sources.add(starved.id, ["dropped turn"], "snapshot")
            assert tx.sources.remove_snapshots(["snapshot"]) == [starved.id]

    def test_a_second_snapshot_keeps_a_memory(self, store: Store, scribe: Scribe) -> None:
        memory = scribe.memory("x", origin="extracted")
        with store.write(PROJECT) as tx:
            tx.sources.add(memory.id, [], "one")
            tx.sources.add(memory.id, [], "two")
            assert tx.sources.remove_snapshots(["one"]) == []
            assert tx.sources.remove_snapshots(["two"]) == [memory.id]

    def test_removing_a_memory_forgets_its_sources(self, store: Store, scribe: Scribe) -> None:
        memory = scribe.memory("x", origin="extracted")
        with store.write(PROJECT) as tx:
            tx.sources.add(memory.id, ["t1"], "snapshot")
            tx.sources.remove_memories([memory.id])
            assert (tx.sources.turns_of(memory.id), tx.sources.snapshots_of(memory.id)) == ([], [])
            assert tx.sources.memories_of_turns(["t1"]) == []


class LinkRules(StoreRules):
    """``LinkRows``."""

    def _link(self, link_id: str, source: str, target: str, hours: float = 0) -> Link:
        return Link(link_id, source, target, "supersedes", "superseded_by", later(hours=hours), NOW, {"why": "x"})

    def test_a_link_comes_back_from_either_end_in_order(self, store: Store, scribe: Scribe) -> None:
        links = [self._link("b", "m2", "m1"), self._link("a", "m3", "m2", 1), self._link("c", "m9", "m8")]
        with store.write(PROJECT) as tx:
            for link in reversed(links):
                tx.links.insert(link)
        with store.read(PROJECT) as tx:
            assert tx.links.get("a") == links[1]
            assert tx.links.get("z") is None
            assert tx.links.of(["m1"]) == links[:1]
            assert tx.links.of(["m2"]) == links[:2]
            assert tx.links.of(["m1", "m2", "m3"]) == links[:2]
            assert tx.links.of([]) == []

    def test_an_update_keeps_the_ends(self, store: Store, scribe: Scribe) -> None:
        link = self._link("a", "m2", "m1")
        changed = replace(link, relation="supports", inverse="is_supported_by", event_time=None, metadata=None)
        with store.write(PROJECT) as tx:
            tx.links.insert(link)
            tx.links.update(replace(changed, source_id="m9", target_id="m8"))
            assert tx.links.get("a") == changed
            with pytest.raises(LookupError):
                tx.links.update(replace(link, id="z"))

    def test_delete_removes_exactly_those_named(self, store: Store, scribe: Scribe) -> None:
        with store.write(PROJECT) as tx:
            for link in (self._link("a", "m2", "m1"), self._link("b", "m3", "m1")):
                tx.links.insert(link)
            assert tx.links.delete(["a", "z"]) == 1
            assert [link.id for link in tx.links.of(["m1"])] == ["b"]

    def test_links_do_not_cross_projects(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        with store.write(stranger.project_id) as tx:
            tx.links.insert(self._link("a", "m2", "m1"))
        with store.write(PROJECT) as tx:
            assert tx.links.get("a") is None
            assert tx.links.of(["m1"]) == []
            assert tx.links.delete(["a"]) == 0


class ProfileRules(StoreRules):
    """``ProfileRows``."""

    @pytest.fixture
    def profile(self, store: Store, scribe: Scribe) -> Profile:
        with store.write(PROJECT) as tx:
            profile = Profile("user", "alice", tx.projects.allocate_keys(1), "a baker", NOW, NOW, {"k": [1]})
            tx.profiles.put(profile)
        return profile

    def test_a_profile_is_of_a_subject(self, store: Store, profile: Profile) -> None:
        with store.read(PROJECT) as tx:
            assert tx.profiles.get("user", "alice") == profile
            assert tx.profiles.get("agent", "alice") is None
            assert tx.profiles.get("user", "Alice") is None

    def test_put_replaces(self, store: Store, profile: Profile) -> None:
        changed = replace(profile, information="a baker in Oslo", updated_at=later(days=1), metadata=None)
        with store.write(PROJECT) as tx:
            tx.profiles.put(changed)
            assert tx.profiles.page("user", "", 9) == [changed]

    def test_pages_are_in_order_of_id(self, store: Store, profile: Profile) -> None:
        with store.write(PROJECT) as tx:
            for name in ("carol", "bob"):
                tx.profiles.put(replace(profile, id=name, key=tx.projects.allocate_keys(1)))
            tx.profiles.put(replace(profile, subject="agent", id="a", key=tx.projects.allocate_keys(1)))
            assert [each.id for each in tx.profiles.page("user", "", 2)] == ["alice", "bob"]
            assert [each.id for each in tx.profiles.page("user", "bob", 2)] == ["carol"]

    def test_delete_removes_one(self, store: Store, profile: Profile) -> None:
        with store.write(PROJECT) as tx:
            assert tx.profiles.delete("agent", "alice") == 0
            assert tx.profiles.delete("user", "alice") == 1
            assert tx.profiles.get("user", "alice") is None
