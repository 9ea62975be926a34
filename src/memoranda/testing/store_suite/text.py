"""The text index: postings, statistics of the partitions that are read, candidates, and what changes them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from memoranda.engine.ports import LegQuery, Narrowing, Store
from memoranda.engine.records import (
    ORG,
    PRIVATE,
    SEMANTIC,
    STM,
    IndexEntry,
    IndexState,
    MemoryRecord,
    VectorState,
)
from memoranda.engine.scope import Scope
from memoranda.testing.samples import NOW, PROJECT, Scribe, later
from memoranda.testing.store_suite.base import StoreRules
from memoranda.testing.text_model import TextModel, as_rows

CURRENT = (IndexState.CURRENT,)
BOTH = (IndexState.CURRENT, IndexState.SUPERSEDED)
CONTENTS = ("tea and coffee", "green tea", "coffee with tea, tea and tea", "nothing of this", "")


def query(scope: Scope, source: str = SEMANTIC, states: tuple[IndexState, ...] = CURRENT) -> LegQuery:
    return LegQuery(scope, source, states, NOW)


class TextRules(StoreRules):
    """``SearchRows.text`` and ``listing`` against the model of the index."""

    @pytest.fixture
    def model(self, store: Store, scribe: Scribe) -> TextModel:
        """Fill the index with users, visibilities, sessions, agents and states that share every word."""
        entries: list[IndexEntry] = []
        places = product(("alice", "Alice", ""), (PRIVATE, ORG), ("s1", "S1"), ("", "agent"))
        for number, (user, visibility, session, agent) in enumerate(places):
            fields: dict[str, Any] = {"visibility": visibility, "session_id": session, "agent_id": agent}
            ends = later(hours=number - 5) if number % 4 == 0 else None
            record = scribe.memory(CONTENTS[number % len(CONTENTS)], user, expires_at=ends, **fields)
            entries.append(scribe.entry_of_memory(record))
        superseded = entries[3::7]
        with store.write(PROJECT) as tx:
            tx.index.set_state([entry.key for entry in superseded], IndexState.SUPERSEDED)
        moved = [replace(entry, state=IndexState.SUPERSEDED) if entry in superseded else entry for entry in entries]
        return TextModel(moved)

    @pytest.mark.parametrize("states", [CURRENT, BOTH, (IndexState.SUPERSEDED,)], ids=["current", "both", "superseded"])
    @pytest.mark.parametrize(
        "scope",
        [
            Scope(),
            Scope(user_id="alice"),
            Scope(user_id=""),
            Scope(user_id="alice", visibility=PRIVATE),
            Scope(visibility=ORG),
            Scope(session_id="s1"),
            Scope(user_id="Alice", session_id="S1", agent_id="agent"),
            Scope(agent_id=""),
            Scope(user_id="ALICE"),
            Scope(visibility="shared"),
        ],
        ids=str,
    )
    def test_matches_and_statistics_are_those_of_the_scope(
        self, store: Store, scribe: Scribe, model: TextModel, scope: Scope, states: tuple[IndexState, ...]
    ) -> None:
        terms = scribe.analyser.query_terms("tea coffee zebra")
        asked = query(scope, states=states)
        with store.read(PROJECT) as tx:
            assert as_rows(tx.search.text(asked, terms)) == model.text(asked, terms)
            assert list(tx.search.listing(asked, 100)) == model.listing(asked, 100)
            assert list(tx.search.listing(asked, 3)) == model.listing(asked, 3)

    def test_narrowing_marks_candidates_and_keeps_statistics(
        self, store: Store, scribe: Scribe, model: TextModel
    ) -> None:
        terms = scribe.analyser.query_terms("tea")
        some = tuple(sorted(model.entries))[:5]
        for keys in (some, ()):
            asked = replace(query(Scope()), narrowing=Narrowing(keys=keys))
            with store.read(PROJECT) as tx:
                assert as_rows(tx.search.text(asked, terms)) == model.text(asked, terms)
                assert list(tx.search.listing(asked, 100)) == model.listing(asked, 100)

    def test_many_terms_are_answered_like_few(self, store: Store, scribe: Scribe, model: TextModel) -> None:
        terms = tuple(sorted({*scribe.analyser.query_terms("tea coffee"), *(f"absent{n}" for n in range(700))}))
        with store.read(PROJECT) as tx:
            assert as_rows(tx.search.text(query(Scope()), terms)) == model.text(query(Scope()), terms)

    def test_no_terms_give_statistics_alone(self, store: Store, model: TextModel) -> None:
        with store.read(PROJECT) as tx:
            assert as_rows(tx.search.text(query(Scope()), ())) == model.text(query(Scope()), ())

    def test_a_source_holds_its_own_records(self, store: Store, scribe: Scribe, model: TextModel) -> None:
        turn = scribe.turn("tea")
        with store.read(PROJECT) as tx:
            found = tx.search.text(query(Scope(), STM), ("tea",))
        assert (list(found.keys), found.records) == ([turn.key], 1)

    def test_another_project_adds_nothing(
        self, store: Store, scribe: Scribe, stranger: Scribe, model: TextModel
    ) -> None:
        for _ in range(5):
            stranger.memory("tea tea tea")
        with store.read(PROJECT) as tx:
            assert as_rows(tx.search.text(query(Scope()), ("tea",))) == model.text(query(Scope()), ("tea",))
            assert list(tx.search.listing(query(Scope()), 100)) == model.listing(query(Scope()), 100)

    def test_no_word_is_syntax(self, store: Store, scribe: Scribe, model: TextModel) -> None:
        hostile = ("%", "*", '"', "tea*", "NEAR(", "a OR b", "'; DROP TABLE turns;--", "te_", "\\", "TEA")
        with store.read(PROJECT) as tx:
            assert as_rows(tx.search.text(query(Scope()), hostile)) == model.text(query(Scope()), hostile)

    def test_record_types_and_validity_narrow(self, store: Store, scribe: Scribe) -> None:
        fact = scribe.memory("tea", record_type="fact")
        past = scribe.memory("tea", valid_from=later(days=-9), valid_to=later(days=-1))
        asked = query(Scope())
        with store.read(PROJECT) as tx:
            facts = tx.search.listing(replace(asked, narrowing=Narrowing(record_types=("fact",))), 9)
            then = tx.search.listing(replace(asked, narrowing=Narrowing(valid_at=later(days=-5))), 9)
            now = tx.search.listing(replace(asked, narrowing=Narrowing(valid_at=NOW)), 9)
            ended = tx.search.listing(replace(asked, narrowing=Narrowing(valid_at=later(days=-1))), 9)
        assert (list(facts), list(then), list(now), list(ended)) == ([fact.key], [past.key], [fact.key], [])

    def test_turns_are_narrowed_to_what_was_said_by_a_time(self, store: Store, scribe: Scribe) -> None:
        old = scribe.turn("tea", event_time=later(days=-400))
        scribe.turn("tea", event_time=later(days=-10))
        asked = replace(query(Scope(), STM), narrowing=Narrowing(said_by=later(days=-400)))
        with store.read(PROJECT) as tx:
            found = tx.search.text(asked, ("tea",))
            listed = tx.search.listing(asked, 9)
        assert (list(found.candidates), found.records, list(listed)) == ([1, 0], 2, [old.key])


class IndexRules(StoreRules):
    """``IndexRows``: what changes the index, and the counts that follow."""

    def _statistics(self, store: Store, states: tuple[IndexState, ...] = CURRENT) -> tuple[list[int], int, int]:
        with store.read(PROJECT) as tx:
            found = tx.search.text(query(Scope(), states=states), ("tea",))
        return list(found.keys), found.records, found.total_length

    def test_remove_undoes_add(self, store: Store, scribe: Scribe) -> None:
        kept, gone = scribe.memory("tea for two"), scribe.memory("tea and more tea")
        with store.write(PROJECT) as tx:
            removed = tx.index.remove([gone.key])
        assert removed == len(scribe.entry_of_memory(gone).terms)
        assert self._statistics(store) == ([kept.key], 1, scribe.entry_of_memory(kept).length)

    def test_removing_what_is_not_there_changes_nothing(self, store: Store, scribe: Scribe) -> None:
        kept = scribe.memory("tea")
        with store.write(PROJECT) as tx:
            assert tx.index.remove([kept.key + 1000]) == 0
            assert tx.index.remove([]) == 0
        assert self._statistics(store) == ([kept.key], 1, 1)

    def test_a_key_can_be_added_again_after_its_removal(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("tea")
        with store.write(PROJECT) as tx:
            tx.index.remove([record.key])
            tx.index.add([scribe.entry_of_memory(replace(record, content="tea with milk"))])
        assert self._statistics(store) == ([record.key], 1, 3)

    def test_state_moves_a_record_with_its_counts_and_back(self, store: Store, scribe: Scribe) -> None:
        kept, moved = scribe.memory("tea"), scribe.memory("more tea")
        with store.write(PROJECT) as tx:
            tx.index.set_state([moved.key], IndexState.SUPERSEDED)
            tx.index.set_state([moved.key], IndexState.SUPERSEDED)
        assert self._statistics(store) == ([kept.key], 1, 1)
        assert self._statistics(store, BOTH) == ([kept.key, moved.key], 2, 3)
        with store.write(PROJECT) as tx:
            tx.index.set_state([moved.key], IndexState.CURRENT)
        assert self._statistics(store) == ([kept.key, moved.key], 2, 3)

    def test_a_superseded_record_can_be_removed(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("tea")
        with store.write(PROJECT) as tx:
            tx.index.set_state([record.key], IndexState.SUPERSEDED)
            tx.index.remove([record.key])
        assert self._statistics(store, BOTH) == ([], 0, 0)

    def test_many_records_are_removed_at_once(self, store: Store, scribe: Scribe) -> None:
        with store.write(PROJECT) as tx:
            keys = [scribe.turn_in(tx, f"tea number {number}").key for number in range(600)]
        with store.write(PROJECT) as tx:
            tx.index.remove(keys[1:])
        with store.read(PROJECT) as tx:
            found = tx.search.text(query(Scope(), STM), ("tea",))
        assert (list(found.keys), found.records) == (keys[:1], 1)

    def test_what_holds_nothing_is_forgotten_by_user(self, store: Store, scribe: Scribe) -> None:
        kept, gone, other = scribe.memory("tea"), scribe.memory("tea", visibility="org"), scribe.memory("tea", "bob")
        with store.write(PROJECT) as tx:
            tx.index.remove([gone.key, other.key])
            assert tx.index.forget_empty(kept.user_id) == 1
            assert tx.index.forget_empty(kept.user_id) == 0
        assert self._statistics(store) == ([kept.key], 1, 1)
        again = scribe.memory("tea", visibility="org")
        assert self._statistics(store) == ([kept.key, again.key], 2, 2)

    def test_documents_say_where_a_record_lives(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("tea", "alice", session_id="s1", vector_state=VectorState.PENDING)
        with store.read(PROJECT) as tx:
            (row,) = tx.search.documents([record.key, record.key + 1])
        assert (row.key, row.record_id, row.source, row.state) == (record.key, record.id, SEMANTIC, IndexState.CURRENT)
        assert (row.user_id, row.session_id, row.vector_state) == ("alice", "s1", VectorState.PENDING)

    def test_records_await_vectors_oldest_first(self, store: Store, scribe: Scribe) -> None:
        waiting = [scribe.memory("x", session_id=s, vector_state=VectorState.PENDING) for s in ("s1", "s2", "s1")]
        scribe.memory("x", "bob", vector_state=VectorState.PENDING)
        scribe.memory("x")
        keys = [record.key for record in waiting]
        assert self._awaiting(store, None) == keys
        assert self._awaiting(store, "s1") == [keys[0], keys[2]]
        with store.write(PROJECT) as tx:
            tx.index.set_vector_state(keys[:1], VectorState.REFUSED)
        (one,) = self._awaiting(store, None, 1)
        assert one in keys[1:]
        assert self._awaiting(store, "s1", 1) == [keys[2]]

    def _awaiting(self, store: Store, session: str | None, limit: int = 9) -> list[int]:
        with store.read(PROJECT) as tx:
            return [row.key for row in tx.index.awaiting_vectors(SEMANTIC, "alice", session, limit)]

    def test_a_walk_gives_every_record_of_a_source_once(self, store: Store, scribe: Scribe) -> None:
        records = [scribe.memory("x") for _ in range(5)]
        scribe.turn("x")
        seen: list[int] = []
        with store.read(PROJECT) as tx:
            while page := tx.index.keys_after(SEMANTIC, seen[-1] if seen else 0, 2):
                seen += [row.key for row in page]
        assert seen == [record.key for record in records]

    def test_expired_records_are_listed_until_removed(self, store: Store, scribe: Scribe) -> None:
        record: MemoryRecord = scribe.memory("x", expires_at=later(days=1))
        scribe.memory("x")
        with store.write(PROJECT) as tx:
            assert tx.index.expired(later(hours=23), 9) == []
            assert [row.key for row in tx.index.expired(later(days=1), 9)] == [record.key]
            tx.index.remove([record.key])
            assert tx.index.expired(later(days=1), 9) == []
