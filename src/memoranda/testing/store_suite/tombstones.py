"""Tombstones: one row hides what a deletion covers from every read, until a job has purged it."""

from __future__ import annotations

import numpy as np
import pytest

from memoranda.engine.ports import LegQuery, MemoryQuery, Store
from memoranda.engine.records import (
    SEMANTIC,
    STM,
    TAXONOMIC,
    IndexState,
    Profile,
    RecordVectors,
    Tombstone,
    VectorPiece,
)
from memoranda.engine.scope import Scope
from memoranda.testing.samples import NOW, PROJECT, Scribe
from memoranda.testing.store_suite.base import StoreRules
from memoranda.testing.text_model import TextModel, as_rows

CURRENT = (IndexState.CURRENT,)


class TombstoneRules(StoreRules):
    """``ProjectRows.add_tombstone`` and what every other read makes of it; a session's hides its turns alone."""

    @pytest.fixture
    def model(self, store: Store, scribe: Scribe) -> TextModel:
        """Two users with the same words in the same sessions; alice's first session is deleted, then she writes on."""
        entries = []
        for user in ("alice", "Alice"):
            for session in ("s1", "s2"):
                entries.append(scribe.entry_of_turn(scribe.turn("tea", user, session)))
                entries.append(scribe.entry_of_memory(scribe.memory("tea", user, session_id=session)))
        with store.write(PROJECT) as tx:
            tombstone = Tombstone("t", "alice", tx.projects.last_key(), NOW, session_id="s1")
            tx.projects.add_tombstone(tombstone)
        entries.append(scribe.entry_of_turn(scribe.turn("tea again", "alice", "s1")))
        return TextModel(entries, [tombstone])

    @pytest.mark.parametrize("source", [STM, SEMANTIC])
    @pytest.mark.parametrize("scope", [Scope(), Scope("alice"), Scope("alice", None, "s1"), Scope("Alice")], ids=str)
    def test_hidden_records_are_no_candidates(self, store: Store, model: TextModel, scope: Scope, source: str) -> None:
        asked = LegQuery(scope, source, CURRENT, NOW)
        with store.read(PROJECT) as tx:
            assert as_rows(tx.search.text(asked, ("tea",))) == model.text(asked, ("tea",))
            assert list(tx.search.listing(asked, 99)) == model.listing(asked, 99)

    def test_hidden_turns_are_not_read(self, store: Store, model: TextModel) -> None:
        turns = [entry for entry in model.entries.values() if entry.source == STM]
        visible = [entry.record_id for entry in turns if not model.is_hidden(entry)]
        with store.read(PROJECT) as tx:
            paged = [turn.id for turn in tx.turns.page(Scope(), None, 99, NOW)]
            got = [turn.id for turn in tx.turns.get([entry.record_id for entry in turns])]
            run = [turn.id for turn in tx.turns.run("alice", "s1", 1, 99)]
        assert sorted(paged) == sorted(got) == sorted(visible)
        assert run == [turns[-1].record_id]

    def test_hidden_memories_are_not_read(self, store: Store, model: TextModel) -> None:
        memories = [entry for entry in model.entries.values() if entry.source == SEMANTIC]
        visible = [entry.record_id for entry in memories if not model.is_hidden(entry)]
        with store.read(PROJECT) as tx:
            assert [record.id for record in tx.memories.query(MemoryQuery(Scope(), NOW))] == visible
            assert [record.id for record in tx.memories.get([entry.record_id for entry in memories])] == visible

    def test_hidden_vectors_are_not_found(self, store: Store, model: TextModel) -> None:
        piece = VectorPiece(np.full(8, 64, np.int8).tobytes(), 1 / 181)
        memories = [entry for entry in model.entries.values() if entry.source == SEMANTIC]
        with store.write(PROJECT) as tx:
            tx.index.put_vectors([RecordVectors(entry.key, "m", (piece,)) for entry in memories])
        with store.read(PROJECT) as tx:
            found = tx.search.vectors(LegQuery(Scope(), SEMANTIC, CURRENT, NOW), "m", [1.0] * 8, 99)
        assert [each.key for each in found] == [entry.key for entry in memories if not model.is_hidden(entry)]

    def test_hidden_domains_are_not_listed(self, store: Store, scribe: Scribe) -> None:
        scribe.memory("x", "alice", kind=TAXONOMIC, domain="hers")
        scribe.memory("x", "bob", kind=TAXONOMIC, domain="his")
        with store.write(PROJECT) as tx:
            tx.projects.add_tombstone(Tombstone("t", "alice", tx.projects.last_key(), NOW))
            assert tx.memories.domains(Scope(), NOW) == ["his"]

    def test_hidden_profiles_are_not_read(self, store: Store, scribe: Scribe) -> None:
        with store.write(PROJECT) as tx:
            for subject, name in [("user", "alice"), ("user", "bob"), ("agent", "alice")]:
                tx.profiles.put(Profile(subject, name, tx.projects.allocate_keys(1), "x", NOW, NOW))
            tx.projects.add_tombstone(Tombstone("t", "alice", tx.projects.last_key(), NOW))
        with store.read(PROJECT) as tx:
            assert tx.profiles.get("user", "alice") is None
            assert tx.profiles.get("agent", "alice") is not None
            assert [profile.id for profile in tx.profiles.page("user", "", 9)] == ["bob"]

    def test_the_slot_shows_what_is_hidden_in_it(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("x", "alice", name="label")
        with store.write(PROJECT) as tx:
            tx.projects.add_tombstone(Tombstone("t", "alice", tx.projects.last_key(), NOW))
            assert tx.memories.in_slot(record.kind, "alice", record.slot) == record

    def test_whoever_purges_sees_what_is_hidden(self, store: Store, model: TextModel) -> None:
        hidden = [entry.record_id for entry in model.entries.values() if model.is_hidden(entry)]
        with store.write(PROJECT) as tx:
            tx.projects.reveal()
            found = [turn.id for turn in tx.turns.get(hidden)] + [each.id for each in tx.memories.get(hidden)]
            assert len(tx.turns.page(Scope("alice", None, "s1"), None, 99, NOW)) == 2
        assert sorted(found) == sorted(hidden)
        with store.read(PROJECT) as tx:
            assert tx.turns.get(hidden) == []

    def test_removing_the_tombstone_ends_the_hiding(self, store: Store, model: TextModel) -> None:
        with store.write(PROJECT) as tx:
            assert tx.projects.tombstones() == model.tombstones
            tx.projects.remove_tombstone("t")
            assert tx.projects.tombstones() == []
        with store.read(PROJECT) as tx:
            assert len(tx.search.listing(LegQuery(Scope(), STM, CURRENT, NOW), 99)) == 5

    def test_a_tombstone_hides_in_its_project_alone(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        turn = stranger.turn("x", "alice")
        with store.write(PROJECT) as tx:
            tx.projects.add_tombstone(Tombstone("t", "alice", 1000, NOW))
        with store.read(stranger.project_id) as tx:
            assert tx.turns.page(Scope("alice"), None, 9, NOW) == [turn]
            assert tx.projects.tombstones() == []
