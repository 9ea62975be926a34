"""Walks over a whole project, as export and import make them."""

from __future__ import annotations

from dataclasses import replace

from memoranda.engine.portability.rows import HistoryState, Place, Save, Sources
from memoranda.engine.ports import SessionAdvance, Store
from memoranda.engine.records import Identity, Link, Session, VectorState
from memoranda.testing.samples import NOW, PROJECT, Scribe, later
from memoranda.testing.store_suite.base import StoreRules


class PortableRules(StoreRules):
    """``PortableRows``."""

    def test_places_of_all_sources_come_in_key_order(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        stranger.turn("elsewhere")
        turn, memory = scribe.turn("one"), scribe.memory("two", vector_state=VectorState.PENDING)
        last = scribe.turn("three", user="bob")
        with store.read(PROJECT) as tx:
            found = tx.portable.places(0, 9)
            assert found == [
                Place(turn.key, turn.id, "stm", VectorState.NONE),
                Place(memory.key, memory.id, "semantic", VectorState.PENDING),
                Place(last.key, last.id, "stm", VectorState.NONE),
            ]
            assert tx.portable.places(turn.key, 1) == found[1:2]
            assert tx.portable.places(last.key, 9) == []

    def test_sessions_come_by_user_and_id(self, store: Store, scribe: Scribe) -> None:
        places = [("alice", "s1"), ("alice", "s2"), ("bob", "s1")]
        for user, session in reversed(places):
            scribe.turn("x", user, session)
        with store.read(PROJECT) as tx:
            found = tx.portable.sessions(None, 9)
            assert [(each.user_id, each.session_id) for each in found] == places
            assert tx.portable.sessions(places[0], 1) == found[1:2]
            assert tx.portable.sessions(places[-1], 9) == []

    def test_put_session_writes_every_field(self, store: Store, scribe: Scribe) -> None:
        one, two, three, four = (later(hours=hours) for hours in range(4))
        session = Session("alice", "s1", "agent", 7, 5, one, two, three, four, {"title": "x"}, {"mode": "off"})
        with store.write(PROJECT) as tx:
            tx.portable.put_session(session)
            assert tx.sessions.get("alice", "s1") == session
            changed = replace(session, last_seq=9, metadata=None)
            tx.portable.put_session(changed)
            assert tx.sessions.get("alice", "s1") == changed
            assert tx.sessions.advance(SessionAdvance(Identity("alice", "", "s1"), 1, NOW)).last_seq == 10

    def test_links_come_by_id(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        made = [Link(name, f"m-{name}", "m", "refines", "refined_by", NOW) for name in ("a", "b", "c")]
        with store.write(PROJECT) as tx:
            for link in reversed(made):
                tx.links.insert(link)
        with store.read(PROJECT) as tx:
            assert tx.portable.links("", 2) == made[:2]
            assert tx.portable.links("b", 2) == made[2:]
        with store.read(stranger.project_id) as tx:
            assert tx.portable.links("", 9) == []

    def test_histories_come_by_memory_and_version_with_their_time(self, store: Store, scribe: Scribe) -> None:
        one, two = sorted((scribe.memory("x"), scribe.memory("y")), key=lambda record: record.id)
        with store.write(PROJECT) as tx:
            for version in (2, 1):
                tx.memories.add_history(replace(one, version=version), later(hours=version))
            tx.memories.add_history(two, NOW)
            assert tx.portable.histories([two.id, one.id, "gone"]) == [
                HistoryState(replace(one, version=1), later(hours=1)),
                HistoryState(replace(one, version=2), later(hours=2)),
                HistoryState(two, NOW),
            ]
            assert tx.portable.histories([]) == []

    def test_saves_come_by_user_and_key(self, store: Store, scribe: Scribe) -> None:
        one, two = scribe.memory("x"), scribe.memory("y")
        made = [Save("alice", "k1", two.id, "d1", NOW), Save("alice", "k2", one.id, "d2", later(days=1))]
        with store.write(PROJECT) as tx:
            for save in reversed(made):
                tx.memories.remember_save(
                    save.user_id, save.idempotency_key, save.memory_id, save.digest, save.created_at
                )
            assert tx.portable.saves([one.id, two.id]) == made
            assert tx.portable.saves([one.id]) == made[1:]

    def test_sources_come_by_memory(self, store: Store, scribe: Scribe) -> None:
        one, two = sorted((scribe.memory("x"), scribe.memory("y")), key=lambda record: record.id)
        with store.write(PROJECT) as tx:
            tx.sources.add(two.id, ["t2", "t1"], "s2")
            tx.sources.add(two.id, [], "s1")
            tx.sources.add(one.id, ["t1"], "")
            assert tx.portable.sources([one.id, two.id, "gone"]) == [
                Sources(one.id, ("t1",)),
                Sources(two.id, ("t1", "t2"), ("s1", "s2")),
            ]
