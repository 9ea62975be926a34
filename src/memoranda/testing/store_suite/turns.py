"""Turns: order, idempotency keys, scopes, snapshots, deletion."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.engine.ports import Store
from memoranda.engine.scope import Scope
from memoranda.testing.samples import NOW, PROJECT, Scribe, later
from memoranda.testing.store_suite.base import StoreRules


class TurnRules(StoreRules):
    """``TurnRows``."""

    def test_a_turn_comes_back_as_it_was_written(self, store: Store, scribe: Scribe) -> None:
        turn = scribe.turn(
            "naïve — 日本語 🙂 \n\t'\";--",
            agent_id="agent",
            model_name="m",
            tool_calls=[{"id": "1", "function": {"name": "f", "arguments": "{}"}}],
            tool_call_id="1",
            tool_name="f",
            is_error=True,
            metadata={"nested": {"list": [1, None, "x"]}, "ключ": True},
            idempotency_key="key",
            event_time=later(days=-400),
            expires_at=later(days=1),
            parts={"content": [{"type": "text", "text": "🙂"}]},
        )
        with store.read(PROJECT) as tx:
            assert tx.turns.get([turn.id]) == [turn]

    def test_an_update_changes_what_was_said_and_nothing_else(self, store: Store, scribe: Scribe) -> None:
        turn = scribe.turn("x", metadata={"a": 1}, parts={"b": 2})
        changed = replace(turn, content="y", metadata=None, parts=None, expires_at=later(days=2))
        with store.write(PROJECT) as tx:
            tx.turns.update(replace(changed, role="other", turn_seq=9), later(hours=1))
            assert tx.turns.get([turn.id]) == [changed]
            with pytest.raises(LookupError):
                tx.turns.update(replace(turn, id="nobody"), NOW)

    def test_slices_and_counts_take_what_is_alive(self, store: Store, scribe: Scribe) -> None:
        turns = [scribe.turn(text) for text in "abcd"]
        scribe.turn("z", "bob")
        scribe.turn("e", expires_at=later(hours=1))
        with store.write(PROJECT) as tx:
            tx.turns.delete([turns[1].id])
        kept = [turns[0], turns[2], turns[3]]
        with store.read(PROJECT) as tx:
            assert tx.turns.count("alice", "s1", later(hours=1)) == 3
            assert tx.turns.count("alice", "s1", NOW) == 4
            assert tx.turns.slice("alice", "s1", skip=0, limit=9, now=later(hours=1)) == kept
            assert tx.turns.slice("alice", "s1", skip=1, limit=1, now=NOW) == kept[1:2]
            assert tx.turns.slice("alice", "s1", skip=9, limit=1, now=NOW) == []

    def test_the_newest_of_a_scope_come_latest_first(self, store: Store, scribe: Scribe) -> None:
        first, second = scribe.turn("a", agent_id="x"), scribe.turn("b", session="s2")
        third = scribe.turn("c", "bob")
        with store.read(PROJECT) as tx:
            assert tx.turns.newest(Scope(), None, None, 9, NOW) == [third, second, first]
            assert tx.turns.newest(Scope(), None, third.key, 1, NOW) == [second]
            assert tx.turns.newest(Scope(user_id="alice"), None, None, 9, NOW) == [second, first]
            assert tx.turns.newest(Scope(agent_id=""), None, None, 9, NOW) == [third, second]
            assert tx.turns.newest(Scope(session_id="s2"), None, None, 9, NOW) == [second]
            assert tx.turns.newest(Scope(visibility="org"), None, None, 9, NOW) == []

    def test_absent_content_and_empty_content_differ(self, store: Store, scribe: Scribe) -> None:
        absent, empty = scribe.turn(None), scribe.turn("")
        with store.read(PROJECT) as tx:
            assert [turn.content for turn in tx.turns.get([absent.id, empty.id])] == [None, ""]

    def test_turns_come_in_order_of_user_session_and_number(self, store: Store, scribe: Scribe) -> None:
        written = [
            scribe.turn("x", user, session) for session in ("s2", "s1") for user in ("bob", "alice") for _ in range(2)
        ]
        with store.read(PROJECT) as tx:
            found = tx.turns.get([turn.id for turn in written])
        places = [(turn.user_id, turn.session_id, turn.turn_seq) for turn in found]
        assert places == sorted(places)
        assert len(places) == 8

    def test_get_leaves_out_what_does_not_exist(self, store: Store, scribe: Scribe) -> None:
        turn = scribe.turn("x")
        with store.read(PROJECT) as tx:
            assert tx.turns.get(["nobody", turn.id]) == [turn]
            assert tx.turns.get([]) == []

    def test_get_takes_more_ids_than_one_statement_does(self, store: Store, scribe: Scribe) -> None:
        with store.write(PROJECT) as tx:
            written = [scribe.turn_in(tx, f"turn {number}") for number in range(600)]
        with store.read(PROJECT) as tx:
            assert tx.turns.get([turn.id for turn in reversed(written)]) == written

    def test_an_idempotency_key_belongs_to_its_session(self, store: Store, scribe: Scribe) -> None:
        turn = scribe.turn("x", "alice", "s1", idempotency_key="k")
        with store.read(PROJECT) as tx:
            assert tx.turns.by_idempotency_key("alice", "s1", "k") == turn
            for user, session, key in [("alice", "s2", "k"), ("bob", "s1", "k"), ("alice", "s1", "K")]:
                assert tx.turns.by_idempotency_key(user, session, key) is None

    def test_keys_that_are_released_can_be_used_again(self, store: Store, scribe: Scribe) -> None:
        scribe.turn("x", "alice", "s1", idempotency_key="k")
        kept = [scribe.turn("x", "alice", "s2", idempotency_key="k"), scribe.turn("x", "Alice", idempotency_key="k")]
        with store.write(PROJECT) as tx:
            tx.turns.release_keys(Scope("alice", None, "s1"))
            assert tx.turns.by_idempotency_key("alice", "s1", "k") is None
        again = scribe.turn("y", "alice", "s1", idempotency_key="k")
        with store.read(PROJECT) as tx:
            assert tx.turns.by_idempotency_key("alice", "s1", "k") == again
            assert tx.turns.by_idempotency_key("alice", "s2", "k") == kept[0]
            assert tx.turns.by_idempotency_key("Alice", "s1", "k") == kept[1]

    def test_a_run_holds_both_its_ends_and_nothing_else(self, store: Store, scribe: Scribe) -> None:
        turns = [scribe.turn(f"turn {number}") for number in range(5)]
        scribe.turn("other", "bob")
        with store.read(PROJECT) as tx:
            assert tx.turns.run("alice", "s1", 2, 4) == turns[1:4]

    def test_pages_give_every_turn_once(self, store: Store, scribe: Scribe) -> None:
        for number in range(7):
            scribe.turn(f"turn {number}", ("alice", "bob")[number % 2], f"s{number % 3}")
        seen: list[tuple[str, str, int]] = []
        with store.read(PROJECT) as tx:
            while page := tx.turns.page(Scope(), seen[-1] if seen else None, 2, NOW):
                assert len(page) <= 2
                seen += [(turn.user_id, turn.session_id, turn.turn_seq) for turn in page]
        assert seen == sorted(set(seen))
        assert len(seen) == 7

    def test_a_page_keeps_to_its_scope(self, store: Store, scribe: Scribe) -> None:
        mine = scribe.turn("x", "alice", "s1", agent_id="one")
        scribe.turn("x", "alice", "s1", agent_id="two")
        scribe.turn("x", "alice", "S1", agent_id="one")
        scribe.turn("x", "Alice", "s1", agent_id="one")
        with store.read(PROJECT) as tx:
            assert tx.turns.page(Scope("alice", "one", "s1"), None, 9, NOW) == [mine]

    def test_an_empty_dimension_asks_for_turns_without_it(self, store: Store, scribe: Scribe) -> None:
        scribe.turn("x", "alice")
        nobodys = scribe.turn("x", "")
        with store.read(PROJECT) as tx:
            assert tx.turns.page(Scope(user_id=""), None, 9, NOW) == [nobodys]

    def test_turns_are_private(self, store: Store, scribe: Scribe) -> None:
        turn = scribe.turn("x")
        with store.read(PROJECT) as tx:
            assert tx.turns.page(Scope(visibility="private"), None, 9, NOW) == [turn]
            assert tx.turns.page(Scope(visibility="org"), None, 9, NOW) == []

    def test_a_page_leaves_out_what_has_expired(self, store: Store, scribe: Scribe) -> None:
        ending = scribe.turn("x", expires_at=later(days=1))
        with store.read(PROJECT) as tx:
            assert tx.turns.page(Scope(), None, 9, later(hours=23)) == [ending]
            assert tx.turns.page(Scope(), None, 9, later(days=1)) == []

    def test_a_snapshot_marks_its_turns_and_no_others(self, store: Store, scribe: Scribe) -> None:
        for _ in range(3):
            scribe.turn("x")
        scribe.turn("x", "bob")
        with store.write(PROJECT) as tx:
            tx.turns.mark_promoted("alice", "s1", 1, 2, "snapshot")
        with store.read(PROJECT) as tx:
            assert [turn.turn_seq for turn in tx.turns.of_snapshot("snapshot")] == [1, 2]
            assert {turn.user_id for turn in tx.turns.of_snapshot("snapshot")} == {"alice"}

    def test_delete_removes_exactly_those_named(self, store: Store, scribe: Scribe) -> None:
        gone, kept = scribe.turn("x"), scribe.turn("y")
        with store.write(PROJECT) as tx:
            assert tx.turns.delete([gone.id, "nobody"]) == 1
        with store.read(PROJECT) as tx:
            assert tx.turns.get([gone.id, kept.id]) == [kept]

    def test_turns_do_not_cross_projects(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        theirs = stranger.turn("x", idempotency_key="k")
        mine = scribe.turn("x")
        with store.write(PROJECT) as tx:
            assert tx.turns.get([theirs.id]) == []
            assert tx.turns.by_idempotency_key("alice", "s1", "k") is None
            assert tx.turns.page(Scope(), None, 9, NOW) == [mine]
            assert tx.turns.delete([theirs.id]) == 0
