"""A project's own row, its keys and its totals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.engine.ports import Store
from memoranda.engine.records import ProjectRow
from memoranda.testing.samples import NOW, PROJECT, Scribe, later
from memoranda.testing.store_suite.base import StoreRules


class ProjectRules(StoreRules):
    """``ProjectRows`` but for tombstones."""

    def test_a_project_comes_back_as_it_was_written(self, store: Store) -> None:
        row = ProjectRow(
            PROJECT, NOW, "org", {"memory": {"n": [1]}}, "analyser", "model", "hash", 512, pending_config={"n": 2}
        )
        with store.write(PROJECT) as tx:
            assert tx.projects.get() is None
            tx.projects.put(row)
        with store.read(PROJECT) as tx:
            assert tx.projects.get() == row

    def test_put_replaces_all_but_the_creation(self, store: Store, scribe: Scribe) -> None:
        changed = ProjectRow(PROJECT, later(days=1), embedder_model="model")
        with store.write(PROJECT) as tx:
            first = tx.projects.allocate_keys(3)
            tx.projects.put(changed)
            assert tx.projects.get() == replace(changed, created_at=NOW)
            assert tx.projects.allocate_keys(1) == first + 3

    def test_keys_are_consecutive_and_never_given_twice(self, store: Store, scribe: Scribe) -> None:
        with store.write(PROJECT) as tx:
            before = tx.projects.last_key()
            first = tx.projects.allocate_keys(5)
            second = tx.projects.allocate_keys(1)
            assert (first, second, tx.projects.last_key()) == (before + 1, before + 6, before + 6)

    def test_keys_of_a_project_that_is_not_there_are_an_error(self, store: Store) -> None:
        with store.write("nobody") as tx, pytest.raises(LookupError, match="nobody"):
            tx.projects.allocate_keys(1)

    def test_keys_are_the_projects_own(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        with store.write(PROJECT) as tx:
            tx.projects.allocate_keys(100)
        with store.read(stranger.project_id) as tx:
            assert tx.projects.last_key() < 100

    def test_a_project_that_is_dropped_leaves_the_others(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        mine, theirs = scribe.turn("x"), stranger.turn("x")
        scribe.memory("x")
        scribe.snapshot()
        with store.write(PROJECT) as tx:
            tx.projects.drop()
        with store.read(PROJECT) as tx:
            assert tx.projects.get() is None
            assert tx.turns.get([mine.id]) == []
            assert [number for _, number in tx.projects.totals(NOW) if number] == []
            assert tx.portable.places(0, 9) == []
        with store.read(stranger.project_id) as tx:
            assert tx.projects.get() is not None
            assert tx.turns.get([theirs.id]) == [theirs]

    def test_totals_count_every_noun_of_the_project(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        stranger.turn("x")
        for _ in range(2):
            scribe.turn("x")
        scribe.memory("x")
        scribe.memory("x", kind="note")
        scribe.snapshot()
        with store.read(PROJECT) as tx:
            totals = {noun: number for noun, number in tx.projects.totals(NOW) if number}
        assert totals == {"turns": 2, "sessions": 1, "snapshots": 1, "memory:semantic": 1, "memory:note": 1}
