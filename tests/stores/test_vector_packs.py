"""Vectors of shared scopes are packed, and no read can tell."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from memoranda.engine.ports import LegQuery
from memoranda.engine.records import ORG, PRIVATE, SEMANTIC, SHARED, IndexState, RecordVectors, VectorPiece, VectorState
from memoranda.engine.scope import Scope
from memoranda.stores.sqlite import SqliteStore
from memoranda.stores.sqlite.packs import FULL, PACK_FROM
from memoranda.testing.integrity import check
from memoranda.testing.samples import NOW, PROJECT, Scribe, later

MODEL, OTHER_MODEL = "model-a", "model-b"
DIMENSION = 16
CURRENT, SUPERSEDED = IndexState.CURRENT, IndexState.SUPERSEDED
BOTH = (CURRENT, SUPERSEDED)


@dataclass
class Library:
    """A store, and what its vectors are."""

    store: SqliteStore
    path: Path
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))

    def __post_init__(self) -> None:
        self.scribe = Scribe(self.store)
        self.held: dict[int, RecordVectors] = {}

    def vectors(self, key: int, model: str = MODEL) -> RecordVectors:
        """Make vectors for a record, of one to three pieces, and remember them."""
        rows = self.random.integers(-127, 128, (1 + key % 3, DIMENSION)).astype(np.int8)
        pieces = tuple(VectorPiece(row.tobytes(), 1 / float(np.linalg.norm(row.astype(float)))) for row in rows)
        made = RecordVectors(key, model, pieces)
        if model == MODEL:
            self.held[key] = made
        return made

    def save(self, count: int, user: str = "alice", visibility: str = ORG, **fields: object) -> list[int]:
        with self.store.write(PROJECT) as tx:
            records = [
                self.scribe.record(tx, f"record {n}", user, visibility=visibility, **fields) for n in range(count)
            ]
            tx.memories.insert(records)
            tx.index.add([self.scribe.entry_of_memory(each, vector_state=VectorState.PENDING) for each in records])
            tx.index.put_vectors([self.vectors(record.key) for record in records])
        return [record.key for record in records]

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(self.path)) as connection:
            return connection.execute(sql).fetchall()

    def change(self, sql: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(sql)

    def expect(
        self, keys: Sequence[int], scope: Scope, states: tuple[IndexState, ...] = (CURRENT,), days: float = 0
    ) -> None:
        """Check a search against plain arithmetic, by a store that has nothing in memory."""
        vector = self.random.normal(size=DIMENSION)
        wanted = vector / np.linalg.norm(vector)
        scores = {
            key: max(
                float(np.frombuffer(piece.data, np.int8) @ wanted) * piece.scale for piece in self.held[key].pieces
            )
            for key in keys
        }
        query = LegQuery(scope, SEMANTIC, states, later(days=days) if days else NOW)
        with closing(SqliteStore.open(self.path)) as fresh, fresh.read(PROJECT) as tx:
            found = tx.search.vectors(query, MODEL, vector.tolist(), 10_000)
        assert [item.key for item in found] == sorted(keys, key=lambda key: (-scores[key], key))
        assert [item.score for item in found] == pytest.approx([scores[item.key] for item in found], abs=1e-5)
        # The other rules ask for whole memories of a project with an embedder, which these are not.
        assert [finding for finding in check(self.path) if "pack" in finding or "loose" in finding] == []


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    path = tmp_path / "memory.db"
    with closing(SqliteStore.open(path)) as store:
        yield Library(store, path)


EVERYBODY = Scope(visibility=ORG)


def test_what_everybody_sees_is_packed_and_what_is_private_is_not(library: Library) -> None:
    shared = library.save(FULL + 50)
    library.save(FULL, visibility=PRIVATE)
    assert library.rows("SELECT sum(records), min(visibility), max(visibility) FROM vector_packs") == [
        (len(shared), ORG, ORG)
    ]
    assert library.rows("SELECT * FROM loose_vectors") == []
    library.expect(shared, EVERYBODY)


def test_packs_are_read_in_place_of_rows(library: Library) -> None:
    keys = library.save(FULL)
    library.change("DELETE FROM vectors")
    with library.store.read(PROJECT) as tx:
        query = LegQuery(EVERYBODY, SEMANTIC, (CURRENT,), NOW)
        assert {item.key for item in tx.search.vectors(query, MODEL, [1.0] * DIMENSION, FULL)} == set(keys)


def test_few_new_records_stay_loose_and_are_found(library: Library) -> None:
    keys = library.save(FULL) + library.save(PACK_FROM - 1) + library.save(5, "bob")
    assert library.rows("SELECT count(*) FROM loose_vectors") == [(PACK_FROM + 4,)]
    library.expect(keys, EVERYBODY)


def test_records_that_come_one_by_one_end_in_few_packs(library: Library) -> None:
    for _ in range(FULL):
        library.save(1)
    (count, records) = library.rows("SELECT count(*), sum(records) FROM vector_packs")[0]
    assert records == FULL
    assert int(str(count)) <= 3


def test_a_removed_record_is_in_no_pack(library: Library) -> None:
    keys = library.save(2 * FULL)
    gone = keys[:3] + keys[FULL : FULL + 2]
    with library.store.write(PROJECT) as tx:
        tx.index.remove(gone)
    for key in gone:
        data = library.held[key].pieces[0].data
        assert library.rows(f"SELECT count(*) FROM vector_packs WHERE instr(data, x'{data.hex()}')") == [(0,)]
    library.expect([key for key in keys if key not in gone], EVERYBODY)


def test_expired_records_are_packed_and_not_found(library: Library) -> None:
    keys, ending = library.save(FULL), library.save(FULL, expires_at=later(days=1))
    library.expect(keys + ending, EVERYBODY)
    library.expect(keys, EVERYBODY, days=2)


def test_a_second_model_is_packed_apart(library: Library) -> None:
    keys = library.save(FULL)
    with library.store.write(PROJECT) as tx:
        tx.rebuild.add_vectors([library.vectors(key, OTHER_MODEL) for key in keys])
    assert library.rows("SELECT model, sum(records) FROM vector_packs GROUP BY model ORDER BY model") == [
        (MODEL, FULL),
        (OTHER_MODEL, FULL),
    ]
    library.expect(keys, EVERYBODY)
    with library.store.write(PROJECT) as tx:
        tx.rebuild.remove_other_vectors(keys, MODEL)
    assert library.rows("SELECT DISTINCT model FROM vector_packs") == [(MODEL,)]
    library.expect(keys, EVERYBODY)


def test_after_any_changes_every_scope_is_exact(library: Library) -> None:
    chance = random.Random(11)
    states: dict[int, IndexState] = {}
    owners: dict[int, tuple[str, str]] = {}
    for _ in range(40):
        user, visibility = chance.choice(["alice", "bob"]), chance.choice([ORG, SHARED, PRIVATE])
        for key in library.save(chance.choice([1, 7, 60]), user, visibility):
            states[key], owners[key] = CURRENT, (user, visibility)
        some = chance.sample(sorted(states), min(len(states), chance.choice([1, 5, 40])))
        with library.store.write(PROJECT) as tx:
            act = chance.choice(["remove", "supersede", "restore", "replace"])
            if act == "remove":
                tx.index.remove(some)
                for key in some:
                    del states[key]
            elif act == "replace":
                tx.index.put_vectors([library.vectors(key) for key in some])
            else:
                state = SUPERSEDED if act == "supersede" else CURRENT
                tx.index.set_state(some, state)
                states.update(dict.fromkeys(some, state))
    for visibility in (ORG, SHARED):
        seen = [key for key in states if owners[key][1] == visibility]
        library.expect([key for key in seen if states[key] is CURRENT], Scope(visibility=visibility))
        library.expect(seen, Scope(visibility=visibility), BOTH)
    library.expect(list(states), Scope(), BOTH)
