"""The vector leg: exact within its scope, whatever its size, and never older than the last commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda.engine.ports import LegQuery, Narrowing, ScoredKey, Store, Transaction
from memoranda.engine.records import ORG, SEMANTIC, IndexState, RecordVectors, VectorPiece, VectorState
from memoranda.engine.scope import Scope
from memoranda.testing.samples import NOW, PROJECT, Scribe, later
from memoranda.testing.store_suite.base import StoreRules

MODEL = "model-a"
DIMENSION = 16
LARGE = 2_500
"""More than any adapter reads row by row, so that caches and fast paths are taken."""


@dataclass(slots=True)
class VectorModel:
    """Vectors by record, and the exact answer to a search among them."""

    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))
    pieces: dict[int, NDArray[np.float32]] = field(default_factory=dict)

    def make(self, key: int, pieces: int = 1) -> RecordVectors:
        """Return random vectors for a record, and remember them as the store will hold them."""
        signed = self.random.integers(-127, 128, (pieces, DIMENSION)).astype(np.int8)
        scales = [1.0 / float(np.linalg.norm(row.astype(np.float32))) for row in signed]
        self.pieces[key] = signed.astype(np.float32) * np.asarray(scales, dtype=np.float32)[:, None]
        stored = tuple(VectorPiece(row.tobytes(), scale) for row, scale in zip(signed, scales, strict=True))
        return RecordVectors(key, MODEL, stored)

    def make_near(self, key: int, base: NDArray[np.int8]) -> RecordVectors:
        """Return a vector that is one step away from another in one or two components."""
        near = base.copy()
        near[self.random.integers(0, DIMENSION, 2)] -= 1
        scale = 1.0 / float(np.linalg.norm(near.astype(np.float32)))
        self.pieces[key] = (near.astype(np.float32) * np.float32(scale))[None, :]
        return RecordVectors(key, MODEL, (VectorPiece(near.tobytes(), scale),))

    def question(self) -> list[float]:
        vector = self.random.normal(size=DIMENSION)
        return [float(value) for value in vector / np.linalg.norm(vector)]

    def nearest(self, keys: Sequence[int], vector: Sequence[float], limit: int) -> list[ScoredKey]:
        """Return the best of these records: the best piece of each, ties by key."""
        scored = [ScoredKey(key, float((self.pieces[key] @ np.asarray(vector, np.float32)).max())) for key in keys]
        return sorted(scored, key=lambda each: (-each.score, each.key))[:limit]


def query(scope: Scope, states: tuple[IndexState, ...] = (IndexState.CURRENT,)) -> LegQuery:
    return LegQuery(scope, SEMANTIC, states, NOW)


class VectorRules(StoreRules):
    """``SearchRows.vectors`` and ``IndexRows.put_vectors``."""

    @pytest.fixture
    def model(self) -> VectorModel:
        return VectorModel()

    def _fill(self, scribe: Scribe, model: VectorModel, count: int, user: str, **fields: object) -> list[int]:
        with scribe.store.write(scribe.project_id) as tx:
            records = [scribe.record(tx, f"record {number}", user, **fields) for number in range(count)]
            tx.memories.insert(records)
            tx.index.add([scribe.entry_of_memory(each, vector_state=VectorState.PENDING) for each in records])
            keys = [record.key for record in records]
            tx.index.put_vectors([model.make(key, 1 + key % 3) for key in keys])
        return keys

    def _check(
        self, tx: Transaction, model: VectorModel, keys: Sequence[int], asked: LegQuery, limit: int = 10
    ) -> None:
        vector = model.question()
        found = tx.search.vectors(asked, MODEL, vector, limit)
        expected = model.nearest(keys, vector, limit)
        assert [each.key for each in found] == [each.key for each in expected]
        assert [each.score for each in found] == pytest.approx([each.score for each in expected], abs=1e-5)

    @pytest.mark.parametrize("limit", [1, 10, 500])
    def test_the_best_of_a_scope_are_exact(self, store: Store, scribe: Scribe, model: VectorModel, limit: int) -> None:
        mine = self._fill(scribe, model, 60, "alice")
        shared = self._fill(scribe, model, 40, "alice", visibility=ORG, session_id="s1")
        theirs = self._fill(scribe, model, 50, "Alice")
        with store.read(PROJECT) as tx:
            self._check(tx, model, mine + shared, query(Scope(user_id="alice")), limit)
            self._check(tx, model, shared, query(Scope(user_id="alice", visibility=ORG)), limit)
            self._check(tx, model, shared, query(Scope(session_id="s1")), limit)
            self._check(tx, model, mine + shared + theirs, query(Scope()), limit)
            self._check(tx, model, [], query(Scope(user_id="bob")), limit)

    def test_a_large_scope_is_exact_too_and_follows_every_change(
        self, store: Store, scribe: Scribe, model: VectorModel
    ) -> None:
        keys = self._fill(scribe, model, LARGE, "alice")
        scope = query(Scope(user_id="alice"))
        for _ in range(3):
            with store.read(PROJECT) as tx:
                self._check(tx, model, keys, scope)
        with store.write(PROJECT) as tx:
            tx.index.remove(keys[:5])
            tx.index.set_state(keys[5:10], IndexState.SUPERSEDED)
            tx.index.put_vectors([model.make(key) for key in keys[10:20]])
            self._check(tx, model, keys[10:], scope)
        with store.read(PROJECT) as tx:
            self._check(tx, model, keys[10:], scope)
            self._check(tx, model, keys[5:], replace(scope, states=(IndexState.CURRENT, IndexState.SUPERSEDED)))
        more = self._fill(scribe, model, 3, "alice")
        with store.read(PROJECT) as tx:
            self._check(tx, model, keys[10:] + more, scope)

    def test_vectors_that_nearly_are_one_are_told_apart(self, store: Store, scribe: Scribe, model: VectorModel) -> None:
        keys = self._fill(scribe, model, 400, "alice")
        base = np.full(DIMENSION, 100, dtype=np.int8)
        with store.write(PROJECT) as tx:
            tx.index.put_vectors([model.make_near(key, base) for key in keys])
        asked = query(Scope(user_id="alice"))
        with store.read(PROJECT) as tx:
            for _ in range(5):
                vector = model.question()
                scores = {key: float(model.pieces[key].astype(np.float64)[0] @ vector) for key in keys}
                found = tx.search.vectors(asked, MODEL, vector, 20)
                least = sorted(scores.values(), reverse=True)[19]
                assert len(found) == 20
                assert all(scores[each.key] >= least - 1e-6 for each in found)

    def test_a_change_that_was_undone_is_not_seen(self, store: Store, scribe: Scribe, model: VectorModel) -> None:
        keys = self._fill(scribe, model, LARGE, "alice")
        scope = query(Scope(user_id="alice"))

        def undone() -> None:
            with store.write(PROJECT) as tx:
                tx.index.remove(keys[:1000])
                self._check(tx, model, keys[1000:], scope)
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            undone()
        with store.read(PROJECT) as tx:
            self._check(tx, model, keys, scope)
        with store.write(PROJECT) as tx:
            tx.index.remove(keys[-1000:])
        with store.read(PROJECT) as tx:
            self._check(tx, model, keys[:-1000], scope)

    def test_what_has_expired_is_not_found(self, store: Store, scribe: Scribe, model: VectorModel) -> None:
        keys = self._fill(scribe, model, 10, "alice")
        ending = self._fill(scribe, model, 10, "alice", expires_at=later(days=1))
        scope = query(Scope(user_id="alice"))
        with store.read(PROJECT) as tx:
            self._check(tx, model, keys + ending, scope, 50)
            self._check(tx, model, keys, replace(scope, now=later(days=1)), 50)

    def test_narrowing_is_applied_before_the_cut(self, store: Store, scribe: Scribe, model: VectorModel) -> None:
        keys = self._fill(scribe, model, 50, "alice")
        asked = replace(query(Scope(user_id="alice")), narrowing=Narrowing(keys=tuple(keys[::9])))
        with store.read(PROJECT) as tx:
            self._check(tx, model, keys[::9], asked, 3)

    def test_ties_go_by_key(self, store: Store, scribe: Scribe, model: VectorModel) -> None:
        keys = self._fill(scribe, model, 6, "alice")
        same = VectorPiece(np.full(DIMENSION, 64, np.int8).tobytes(), 1 / 256)
        with store.write(PROJECT) as tx:
            tx.index.put_vectors([RecordVectors(key, MODEL, (same,)) for key in reversed(keys)])
            found = tx.search.vectors(query(Scope()), MODEL, [0.25] * DIMENSION, 4)
        assert [each.key for each in found] == keys[:4]

    def test_models_are_apart(self, store: Store, scribe: Scribe, model: VectorModel) -> None:
        keys = self._fill(scribe, model, 5, "alice")
        with store.read(PROJECT) as tx:
            assert tx.search.vectors(query(Scope()), "model-b", model.question(), 9) == []
        with store.write(PROJECT) as tx:
            tx.index.put_vectors([replace(model.make(keys[0]), model="model-b")])
            found = tx.search.vectors(query(Scope()), "model-b", model.question(), 9)
        assert [each.key for each in found] == keys[:1]

    def test_vectors_of_records_come_back_as_they_were_stored(
        self, store: Store, scribe: Scribe, stranger: Scribe, model: VectorModel
    ) -> None:
        keys = self._fill(scribe, model, 2, "alice") + self._fill(scribe, model, 1, "bob")
        stored = [model.make(key, pieces=3) for key in keys]
        others = self._fill(stranger, model, 1, "alice")
        with store.write(PROJECT) as tx:
            tx.index.put_vectors(stored)
            tx.index.put_vectors([replace(model.make(keys[0]), model="model-b")])
            tx.index.set_state(keys[:1], IndexState.SUPERSEDED)
            assert tx.search.vectors_of([*reversed(keys), max(keys + others) + 1], MODEL) == stored
            assert tx.search.vectors_of(keys, "model-c") == []
            assert tx.search.vectors_of([], MODEL) == []

    def test_storing_a_vector_settles_the_record(self, store: Store, scribe: Scribe, model: VectorModel) -> None:
        (key,) = self._fill(scribe, model, 1, "alice")
        with store.write(PROJECT) as tx:
            assert [row.vector_state for row in tx.search.documents([key])] == [VectorState.PRESENT]
            assert tx.index.awaiting_vectors(SEMANTIC, "alice", None, 9) == []

    def test_a_vector_of_a_record_that_is_gone_is_skipped(
        self, store: Store, scribe: Scribe, model: VectorModel
    ) -> None:
        (key,) = self._fill(scribe, model, 1, "alice")
        with store.write(PROJECT) as tx:
            tx.index.remove([key])
            tx.index.put_vectors([model.make(key)])
            assert tx.search.vectors(query(Scope()), MODEL, model.question(), 9) == []

    def test_another_projects_vectors_are_not_found(
        self, store: Store, scribe: Scribe, stranger: Scribe, model: VectorModel
    ) -> None:
        self._fill(stranger, model, 5, "alice")
        with store.read(PROJECT) as tx:
            assert tx.search.vectors(query(Scope()), MODEL, model.question(), 9) == []
