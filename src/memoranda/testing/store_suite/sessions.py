"""Sessions and their numbers; snapshots and their outcomes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.engine.ports import SessionAdvance, Store
from memoranda.engine.records import Identity, Session, SnapshotState
from memoranda.engine.scope import Scope
from memoranda.testing.samples import NOW, PROJECT, Scribe, later, sample_snapshot
from memoranda.testing.store_suite.base import StoreRules


def _advance(store: Store, user: str, session: str, count: int = 1, minutes: float = 0) -> Session:
    with store.write(PROJECT) as tx:
        return tx.sessions.advance(SessionAdvance(Identity(user, "agent", session), count, later(minutes=minutes)))


def _session(user: str, session: str, **fields: object) -> Session:
    plain = Session(user, session, "", 0, 0, NOW, NOW, NOW, NOW)
    return replace(plain, **fields)  # type: ignore[arg-type]  # fields of a Session, by the caller's word


class SessionRules(StoreRules):
    """``SessionRows``: a session is (project, user, session id)."""

    def test_numbers_go_on_without_a_gap(self, store: Store, scribe: Scribe) -> None:
        assert [_advance(store, "alice", "s", count).last_seq for count in (1, 3, 1)] == [1, 4, 5]

    def test_a_session_without_turns_comes_back_as_it_was_written(self, store: Store, scribe: Scribe) -> None:
        written = _session(
            "alice", "s", metadata={"a": [1]}, runtime_config={"b": 2}, extraction_policy={"mode": "off"}
        )
        with store.write(PROJECT) as tx:
            assert tx.sessions.insert(written) is True
            assert tx.sessions.insert(_session("alice", "s")) is False
        with store.read(PROJECT) as tx:
            assert tx.sessions.get("alice", "s") == written
        assert _advance(store, "alice", "s", minutes=1).runtime_config == {"b": 2}

    def test_an_update_leaves_numbers_and_owners_alone(self, store: Store, scribe: Scribe) -> None:
        before = _advance(store, "alice", "s", 3)
        changed = replace(before, summary={"text": "x"}, runtime_state={"n": 1}, updated_at=later(days=1))
        with store.write(PROJECT) as tx:
            tx.sessions.update(replace(changed, agent_id="other", last_seq=99))
            assert tx.sessions.get("alice", "s") == changed
            with pytest.raises(LookupError):
                tx.sessions.update(_session("alice", "not there"))

    def test_sessions_of_a_scope_come_latest_first(self, store: Store, scribe: Scribe) -> None:
        for hour, (user, agent) in enumerate([("alice", "x"), ("alice", ""), ("bob", "x")]):
            with store.write(PROJECT) as tx:
                tx.sessions.insert(_session(user, f"s{hour}", agent_id=agent, created_at=later(hours=hour)))
        with store.read(PROJECT) as tx:

            def ids(scope: Scope, limit: int | None = None) -> list[str]:
                return [session.session_id for session in tx.sessions.query(scope, limit)]

            assert ids(Scope()) == ["s2", "s1", "s0"]
            assert ids(Scope(), 2) == ["s2", "s1"]
            assert ids(Scope(user_id="alice")) == ["s1", "s0"]
            assert ids(Scope(agent_id="")) == ["s1"]
            assert ids(Scope(user_id="alice", agent_id="x", session_id="s0")) == ["s0"]

    def test_two_users_with_one_session_id_share_no_numbers(self, store: Store, scribe: Scribe) -> None:
        _advance(store, "alice", "s", 5)
        assert _advance(store, "bob", "s").last_seq == 1
        assert _advance(store, "", "s").last_seq == 1

    def test_activity_is_when_turns_arrive(self, store: Store, scribe: Scribe) -> None:
        _advance(store, "alice", "s")
        _advance(store, "alice", "s", minutes=7)
        with store.read(PROJECT) as tx:
            found = tx.sessions.get("alice", "s")
        assert found is not None
        assert (found.first_turn_at, found.last_turn_at) == (NOW, later(minutes=7))

    def test_get_of_a_session_that_is_not_there_is_none(self, store: Store, scribe: Scribe) -> None:
        _advance(store, "alice", "s")
        with store.read(PROJECT) as tx:
            assert tx.sessions.get("alice", "S") is None
            assert tx.sessions.get("bob", "s") is None

    def test_owners_are_the_users_of_an_id(self, store: Store, scribe: Scribe) -> None:
        for user in ("bob", "alice"):
            _advance(store, user, "s")
        _advance(store, "carol", "other")
        with store.read(PROJECT) as tx:
            assert [session.user_id for session in tx.sessions.owners("s")] == ["alice", "bob"]

    def test_a_users_sessions_come_by_id(self, store: Store, scribe: Scribe) -> None:
        for user, session in [("bob", "s2"), ("bob", "s1"), ("Bob", "s1")]:
            _advance(store, user, session)
        with store.read(PROJECT) as tx:
            assert [session.session_id for session in tx.sessions.of_user("bob")] == ["s1", "s2"]

    def test_unpromoted_sessions_come_longest_idle_first(self, store: Store, scribe: Scribe) -> None:
        for minutes, session in [(3, "late"), (1, "early"), (2, "done")]:
            _advance(store, "alice", session, minutes=minutes)
        with store.write(PROJECT) as tx:
            tx.sessions.set_promoted("alice", "done", 1, NOW)
        with store.read(PROJECT) as tx:
            assert [session.session_id for session in tx.sessions.unpromoted(Scope(), 9)] == ["early", "late"]
            assert [session.session_id for session in tx.sessions.unpromoted(Scope(), 1)] == ["early"]
            assert tx.sessions.unpromoted(Scope(user_id="bob"), 9) == []
            assert [s.session_id for s in tx.sessions.unpromoted(Scope(session_id="late"), 9)] == ["late"]

    def test_promoting_a_part_leaves_the_rest_unpromoted(self, store: Store, scribe: Scribe) -> None:
        _advance(store, "alice", "s", 5)
        with store.write(PROJECT) as tx:
            tx.sessions.set_promoted("alice", "s", 3, NOW)
        with store.read(PROJECT) as tx:
            assert [session.unpromoted for session in tx.sessions.unpromoted(Scope(), 9)] == [2]

    def test_delete_removes_one_owner(self, store: Store, scribe: Scribe) -> None:
        for user in ("bob", "alice"):
            _advance(store, user, "s")
        with store.write(PROJECT) as tx:
            assert tx.sessions.delete("bob", "s") == 1
            assert tx.sessions.delete("bob", "s") == 0
            assert [session.user_id for session in tx.sessions.owners("s")] == ["alice"]

    def test_a_session_deleted_and_made_again_starts_at_one(self, store: Store, scribe: Scribe) -> None:
        _advance(store, "alice", "s", 5)
        with store.write(PROJECT) as tx:
            tx.sessions.delete("alice", "s")
        assert _advance(store, "alice", "s").last_seq == 1


class SnapshotRules(StoreRules):
    """``SnapshotRows``."""

    def test_a_snapshot_comes_back_as_it_was_written(self, store: Store, scribe: Scribe) -> None:
        snapshot = replace(sample_snapshot("a", last=3), expires_at=later(days=2), agent_id="agent")
        with store.write(PROJECT) as tx:
            tx.snapshots.insert(snapshot)
        with store.read(PROJECT) as tx:
            assert tx.snapshots.get("a") == snapshot
            assert tx.snapshots.get("b") is None

    def test_snapshots_of_a_session_come_in_turn_order(self, store: Store, scribe: Scribe) -> None:
        with store.write(PROJECT) as tx:
            tx.snapshots.insert(sample_snapshot("later", first=4, last=6))
            tx.snapshots.insert(sample_snapshot("first", first=1, last=3))
            tx.snapshots.insert(sample_snapshot("other", user="bob"))
        with store.read(PROJECT) as tx:
            assert [snapshot.id for snapshot in tx.snapshots.of_session("alice", "s1")] == ["first", "later"]

    def test_finish_stores_the_outcome(self, store: Store, scribe: Scribe) -> None:
        snapshot = scribe.snapshot()
        ended = replace(
            snapshot,
            state=SnapshotState.EXTRACTED,
            summary="what was said",
            extractor="local",
            updated_at=later(days=1),
        )
        with store.write(PROJECT) as tx:
            assert tx.snapshots.finish(ended) is True
        with store.read(PROJECT) as tx:
            assert tx.snapshots.get(snapshot.id) == ended

    def test_finish_of_a_snapshot_that_is_gone_says_so(self, store: Store, scribe: Scribe) -> None:
        snapshot = scribe.snapshot()
        with store.write(PROJECT) as tx:
            assert tx.snapshots.delete([snapshot.id]) == 1
            assert tx.snapshots.finish(replace(snapshot, state=SnapshotState.EMPTY)) is False

    def test_only_snapshots_with_an_outcome_expire(self, store: Store, scribe: Scribe) -> None:
        with store.write(PROJECT) as tx:
            for name, state in [("pending", SnapshotState.PENDING), ("ended", SnapshotState.EMPTY)]:
                made = sample_snapshot(name, session=name)
                tx.snapshots.insert(replace(made, state=state, expires_at=later(days=1)))
        with store.read(PROJECT) as tx:
            assert tx.snapshots.expired(later(hours=23), 9) == []
            assert [snapshot.id for snapshot in tx.snapshots.expired(later(days=1), 9)] == ["ended"]
