"""Memories, their slots, their history and their saves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memoranda.engine.ports import MemoryQuery, Store
from memoranda.engine.records import EPISODIC, ORG, TAXONOMIC, MemoryRecord, MemoryStatus
from memoranda.engine.scope import Scope
from memoranda.testing.samples import NOW, PROJECT, Scribe, later
from memoranda.testing.store_suite.base import StoreRules

CURRENT, SUPERSEDED = MemoryStatus.CURRENT, MemoryStatus.SUPERSEDED


def _ids(store: Store, query: MemoryQuery) -> list[str]:
    with store.read(PROJECT) as tx:
        return [record.id for record in tx.memories.query(query)]


class MemoryRules(StoreRules):
    """``MemoryRows``: records, listings, deletion, saves."""

    def test_a_memory_comes_back_as_it_was_written(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory(
            "日本語 'quoted' \"twice\" % _",
            body={"steps": [{"n": 1}], "tags": ["x"]},
            metadata={"user_id": "bob", "deep": {"a": [None, True, 1.5]}},
            agent_id="agent",
            session_id="s1",
            name="label",
            record_type="fact",
            occurrences=3,
            version=2,
            valid_to=later(days=3),
            expires_at=later(days=9),
            origin="extracted",
            provenance={"extractor": "local"},
        )
        with store.read(PROJECT) as tx:
            assert tx.memories.get([record.id]) == [record]

    def test_get_is_in_key_order_and_keeps_what_has_expired(self, store: Store, scribe: Scribe) -> None:
        first, second = scribe.memory("a", expires_at=later(days=-1)), scribe.memory("b")
        with store.read(PROJECT) as tx:
            assert tx.memories.get([second.id, "nobody", first.id]) == [first, second]

    def test_update_writes_every_field(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("before")
        changed = replace(
            record,
            content="after",
            visibility=ORG,
            status=SUPERSEDED,
            version=2,
            valid_to=NOW,
            metadata={"k": 1},
            updated_at=later(days=1),
        )
        with store.write(PROJECT) as tx:
            tx.memories.update(changed)
        with store.read(PROJECT) as tx:
            assert tx.memories.get([record.id]) == [changed]

    def test_updating_a_memory_that_is_gone_is_an_error(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("x")
        with store.write(PROJECT) as tx:
            tx.memories.delete([record.id])
            with pytest.raises(LookupError, match=record.id):
                tx.memories.update(record)

    def test_a_listing_keeps_to_its_scope(self, store: Store, scribe: Scribe) -> None:
        mine = scribe.memory("x", "alice", agent_id="one", session_id="s1")
        others: list[tuple[str, dict[str, Any]]] = [
            ("Alice", {"agent_id": "one", "session_id": "s1"}),
            ("alice", {"agent_id": "two", "session_id": "s1"}),
            ("alice", {"agent_id": "one", "session_id": "S1"}),
            ("alice", {"agent_id": "one", "session_id": "s1", "visibility": ORG}),
        ]
        for user, fields in others:
            scribe.memory("x", user, **fields)
        assert _ids(store, MemoryQuery(Scope("alice", "one", "s1", "private"), NOW)) == [mine.id]

    def test_a_listing_is_of_a_kind_a_status_and_what_has_not_expired(self, store: Store, scribe: Scribe) -> None:
        episode = scribe.memory("x", kind=EPISODIC)
        old = scribe.memory("x", kind=EPISODIC, status=SUPERSEDED)
        ending = scribe.memory("x", kind=EPISODIC, expires_at=later(days=1))
        scribe.memory("x")
        asked = MemoryQuery(Scope(), NOW, kind=EPISODIC)
        assert _ids(store, asked) == [episode.id, ending.id]
        assert _ids(store, replace(asked, now=later(days=1))) == [episode.id]
        assert _ids(store, replace(asked, statuses=(SUPERSEDED,))) == [old.id]
        assert _ids(store, replace(asked, statuses=(CURRENT, SUPERSEDED))) == [episode.id, old.id, ending.id]

    def test_names_and_domains_are_compared_byte_for_byte(self, store: Store, scribe: Scribe) -> None:
        names = ("term", "Term", "term ", "t%", "te_m", "é", "e\u0301")
        made = {name: scribe.memory("x", kind=TAXONOMIC, domain=name, name=name) for name in names}
        for name, record in made.items():
            assert _ids(store, MemoryQuery(Scope(), NOW, kind=TAXONOMIC, domain=name, name=name)) == [record.id], name

    def test_below_a_domain_compares_whole_segments(self, store: Store, scribe: Scribe) -> None:
        domains = ("acme", "acme/sub", "acme/sub/more", "acme-corp", "acmesub", "Acme", "acme%")
        made = {domain: scribe.memory("x", kind="note", domain=domain, name="n").id for domain in domains}
        found = _ids(store, MemoryQuery(Scope(), NOW, kind="note", below="acme"))
        assert found == [made["acme"], made["acme/sub"], made["acme/sub/more"]]
        assert _ids(store, MemoryQuery(Scope(), NOW, kind="note", below="%")) == []

    @pytest.mark.parametrize("newest_first", [False, True])
    def test_pages_give_every_memory_once(self, store: Store, scribe: Scribe, newest_first: bool) -> None:
        keys = [scribe.memory("x").key for _ in range(7)]
        seen: list[int] = []
        with store.read(PROJECT) as tx:
            while page := tx.memories.query(
                MemoryQuery(Scope(), NOW, after_key=seen[-1] if seen else 0, limit=3, newest_first=newest_first)
            ):
                seen += [record.key for record in page]
        assert seen == (keys[::-1] if newest_first else keys)

    def test_domains_are_distinct_sorted_and_current(self, store: Store, scribe: Scribe) -> None:
        domains: list[tuple[str, dict[str, Any]]] = [
            ("b", {}),
            ("a", {}),
            ("a", {}),
            ("old", {"status": SUPERSEDED}),
            ("ended", {"expires_at": NOW}),
        ]
        for domain, fields in domains:
            scribe.memory("x", kind=TAXONOMIC, domain=domain, **fields)
        scribe.memory("x", domain="not taxonomic")
        with store.read(PROJECT) as tx:
            assert tx.memories.domains(Scope(), NOW) == ["a", "b"]
            assert tx.memories.domains(Scope(visibility=ORG), NOW) == []

    def test_delete_takes_history_and_saves_along(self, store: Store, scribe: Scribe) -> None:
        gone, kept = scribe.memory("x"), scribe.memory("y")
        with store.write(PROJECT) as tx:
            for record in (gone, kept):
                tx.memories.add_history(record, NOW)
                tx.memories.remember_save("alice", record.id, record.id, "digest", NOW)
            assert tx.memories.delete([gone.id, "nobody"]) == 1
        with store.read(PROJECT) as tx:
            assert tx.memories.get([gone.id, kept.id]) == [kept]
            assert tx.memories.history(gone.id) == []
            assert tx.memories.saved("alice", gone.id) is None
            assert tx.memories.saved("alice", kept.id) == (kept.id, "digest")

    def test_a_save_is_remembered_for_its_user(self, store: Store, scribe: Scribe) -> None:
        with store.write(PROJECT) as tx:
            tx.memories.remember_save("alice", "key", "memory", "digest", NOW)
        with store.read(PROJECT) as tx:
            assert tx.memories.saved("alice", "key") == ("memory", "digest")
            assert tx.memories.saved("bob", "key") is None
            assert tx.memories.saved("alice", "KEY") is None

    def test_memories_do_not_cross_projects(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        theirs = stranger.memory("x", name="label")
        with store.write(PROJECT) as tx:
            assert tx.memories.get([theirs.id]) == []
            assert tx.memories.in_slot(theirs.kind, theirs.user_id, theirs.slot) is None
            assert tx.memories.delete([theirs.id]) == 0
        assert _ids(store, MemoryQuery(Scope(), NOW)) == []


class SlotRules(StoreRules):
    """One current record in a slot of (kind, owner)."""

    def _in_slot(self, store: Store, record: MemoryRecord) -> MemoryRecord | None:
        with store.read(PROJECT) as tx:
            return tx.memories.in_slot(record.kind, record.user_id, record.slot)

    def test_the_current_record_of_a_name_is_found(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("x", name="label")
        assert self._in_slot(store, record) == record

    def test_kind_and_owner_are_part_of_the_slot(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("x", name="label")
        assert self._in_slot(store, replace(record, user_id="bob")) is None
        assert self._in_slot(store, replace(record, kind=EPISODIC)) is None
        other = scribe.memory("x", "bob", name="label")
        assert self._in_slot(store, other) == other

    def test_a_superseded_record_frees_its_slot(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("x", name="label")
        with store.write(PROJECT) as tx:
            tx.memories.update(replace(record, status=SUPERSEDED))
        assert self._in_slot(store, record) is None
        follower = scribe.memory("y", name="label")
        assert self._in_slot(store, record) == follower

    def test_an_expired_record_still_holds_its_slot(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("x", name="label", expires_at=later(days=-1))
        assert self._in_slot(store, record) == record

    def test_two_current_records_in_one_slot_are_refused(self, store: Store, scribe: Scribe) -> None:
        scribe.memory("x", name="label")
        with pytest.raises(Exception, match=r"(?i)unique"):
            scribe.memory("y", name="label")
        assert len(_ids(store, MemoryQuery(Scope(), NOW))) == 1


class HistoryRules(StoreRules):
    """The earlier states of a memory."""

    def test_states_come_oldest_first_and_whole(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("one", metadata={"k": "v"}, body={"tags": ["t"]})
        states = [replace(record, version=number, content=f"state {number}") for number in (1, 2, 3)]
        with store.write(PROJECT) as tx:
            for state in reversed(states):
                tx.memories.add_history(state, later(days=state.version))
        with store.read(PROJECT) as tx:
            assert tx.memories.history(record.id) == states

    def test_a_state_of_the_same_version_is_replaced(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("one")
        with store.write(PROJECT) as tx:
            tx.memories.add_history(record, NOW)
            tx.memories.add_history(replace(record, valid_to=later(days=1)), NOW)
        with store.read(PROJECT) as tx:
            assert tx.memories.history(record.id) == [replace(record, valid_to=later(days=1))]

    def test_history_belongs_to_its_memory(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("one")
        with store.write(PROJECT) as tx:
            tx.memories.add_history(record, NOW)
        with store.read(PROJECT) as tx:
            assert tx.memories.history("nobody") == []
