"""Transactions: all or nothing, a steady view beside a writer, durable, safe to share between threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from memoranda.engine.ports import LegQuery, MemoryQuery, SessionAdvance, Store, Transaction
from memoranda.engine.records import (
    STM,
    Identity,
    IndexState,
    Link,
    Profile,
    ProjectRow,
    RecordVectors,
    Tombstone,
    VectorPiece,
)
from memoranda.engine.scope import Scope
from memoranda.testing.samples import NOW, PROJECT, Scribe, sample_job, sample_snapshot
from memoranda.testing.store_suite.base import StoreRules
from memoranda.testing.store_suite.failures import sample_failure
from memoranda.testing.text_model import as_rows


class Undone(Exception):
    """Raised to leave a transaction."""


def write_one_of_each(tx: Transaction, scribe: Scribe) -> None:
    """Write something through every group of rows."""
    turn = scribe.turn_in(tx, "tea", "alice", "new")
    record = scribe.record(tx, "tea", name="new")
    tx.memories.insert([record])
    tx.memories.add_history(record, NOW)
    tx.memories.remember_save("alice", "save", record.id, "digest", NOW)
    tx.index.add([scribe.entry_of_memory(record)])
    tx.index.put_vectors([RecordVectors(record.key, "m", (VectorPiece(np.full(8, 9, np.int8).tobytes(), 0.1),))])
    tx.sources.add(record.id, [turn.id], "snap")
    tx.links.insert(Link("link", record.id, "other", "supports", "supported_by", NOW))
    tx.profiles.put(Profile("user", "alice", tx.projects.allocate_keys(1), "x", NOW, NOW))
    tx.snapshots.insert(sample_snapshot("snap", session="new"))
    tx.jobs.enqueue(sample_job("job"))
    tx.failures.insert(sample_failure("failure"))
    tx.projects.put(ProjectRow(PROJECT, NOW, embedder_model="m"))
    tx.projects.add_tombstone(Tombstone("t", "zoe", 1, NOW))


def everything(tx: Transaction) -> list[object]:
    """Return what every group of rows holds, in a form that can be compared."""
    asked = [LegQuery(Scope(), source, (IndexState.CURRENT,), NOW) for source in (STM, "semantic")]
    memories = tx.memories.query(MemoryQuery(Scope(), NOW, limit=999))
    return [
        tx.projects.get(),
        list(tx.projects.totals(NOW)),
        tx.projects.last_key(),
        list(tx.projects.tombstones()),
        list(tx.turns.page(Scope(), None, 999, NOW)),
        list(tx.sessions.unpromoted(Scope(), 999)),
        tx.snapshots.get("snap"),
        list(memories),
        [list(tx.memories.history(record.id)) for record in memories],
        tx.memories.saved("alice", "save"),
        [list(tx.sources.turns_of(record.id)) for record in memories],
        tx.links.get("link"),
        tx.profiles.get("user", "alice"),
        tx.jobs.get("job"),
        tx.failures.get("failure"),
        [as_rows(tx.search.text(each, ("tea",))) for each in asked],
        [list(tx.search.vectors(each, "m", [1.0] * 8, 99)) for each in asked],
    ]


class TransactionRules(StoreRules):
    """``Store.read`` and ``Store.write``."""

    def test_an_exception_undoes_all_of_a_write(self, store: Store, scribe: Scribe) -> None:
        scribe.turn("tea")
        scribe.memory("tea")
        with store.read(PROJECT) as tx:
            before = everything(tx)

        def undone() -> None:
            with store.write(PROJECT) as tx:
                write_one_of_each(tx, scribe)
                assert all(one != other for one, other in zip(everything(tx), before, strict=True))
                raise Undone

        with pytest.raises(Undone):
            undone()
        with store.read(PROJECT) as tx:
            assert everything(tx) == before

    def test_a_write_sees_what_it_wrote_and_others_after_it(self, store: Store, scribe: Scribe) -> None:
        with store.write(PROJECT) as tx:
            write_one_of_each(tx, scribe)
            inside = everything(tx)
        with store.read(PROJECT) as tx:
            assert everything(tx) == inside

    def test_a_write_that_was_undone_wakes_nobody(self, store: Store, scribe: Scribe) -> None:
        woken: list[str] = []
        store.after_commit(woken.append)

        def undone() -> None:
            with store.write(PROJECT) as tx:
                tx.jobs.enqueue(sample_job("a"))
                raise Undone

        with pytest.raises(Undone):
            undone()
        assert woken == []

    def test_a_read_is_steady_while_a_writer_commits(self, store: Store, scribe: Scribe) -> None:
        if not self.requirements.reads_beside_writes:
            pytest.skip("requirement not declared: reads_beside_writes")
        with store.read(PROJECT) as tx:
            before = everything(tx)
            with ThreadPoolExecutor(1) as pool:
                pool.submit(self._write, store, scribe).result()
            assert everything(tx) == before
        with store.read(PROJECT) as tx:
            assert everything(tx) != before

    def _write(self, store: Store, scribe: Scribe) -> None:
        with store.write(PROJECT) as tx:
            write_one_of_each(tx, scribe)

    def test_threads_lose_and_double_nothing(self, store: Store, scribe: Scribe) -> None:
        start = threading.Barrier(4)

        def write(user: str) -> None:
            start.wait()
            for _ in range(25):
                with store.write(PROJECT) as tx:
                    scribe.turn_in(tx, "tea", user, "s")
                with store.read(PROJECT) as tx:
                    turns = tx.turns.page(Scope(user), None, 999, NOW)
                    assert [turn.turn_seq for turn in turns] == list(range(1, len(turns) + 1))

        users = ["alice", "bob", "alice", "bob"]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, users))
        with store.read(PROJECT) as tx:
            numbers = [(turn.user_id, turn.turn_seq) for turn in tx.turns.page(Scope(), None, 999, NOW)]
            keys = [turn.key for turn in tx.turns.page(Scope(), None, 999, NOW)]
        assert numbers == [(user, number) for user in ("alice", "bob") for number in range(1, 51)]
        assert len(set(keys)) == 100

    def test_a_reopened_store_keeps_all(self, store: Store, scribe: Scribe, reopen: Callable[[], Store]) -> None:
        if not self.requirements.durable:
            pytest.skip("requirement not declared: durable")
        with store.write(PROJECT) as tx:
            write_one_of_each(tx, scribe)
            before = everything(tx)
        again = reopen()
        with again.read(PROJECT) as tx:
            assert everything(tx) == before
        with again.write(PROJECT) as tx:
            assert tx.sessions.advance(SessionAdvance(Identity("alice", "", "new"), 1, NOW)).last_seq == 2

    def test_close_can_be_called_twice_and_ends_the_store(self, store: Store, scribe: Scribe) -> None:
        store.close()
        store.close()
        with pytest.raises(RuntimeError, match="closed"), store.read(PROJECT):
            pass
