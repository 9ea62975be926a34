"""The change feed: positions are given after commit, once, without gaps, and never again."""

from __future__ import annotations

import threading

import pytest

from memoranda.engine.feed.rows import Change, Entity, FeedEnds, Operation
from memoranda.engine.ids import new_id
from memoranda.engine.ports import Store
from memoranda.testing.samples import NOW, PROJECT, Scribe, later
from memoranda.testing.store_suite.base import StoreRules


def sample_change(entity_id: str, user: str = "alice", **step: float) -> Change:
    return Change(new_id(), Entity.MEMORY, entity_id, Operation.CREATED, later(**step), user)


def _add(store: Store, *changes: Change, project: str = PROJECT) -> None:
    with store.write(project) as tx:
        tx.changes.add(changes)


def _assign(store: Store, limit: int = 100) -> int:
    with store.write(PROJECT) as tx:
        return tx.changes.assign(limit)


def _told(store: Store, after: int = 0, limit: int = 100) -> list[tuple[int, str]]:
    with store.read(PROJECT) as tx:
        return [(change.position, change.entity_id) for change in tx.changes.page(after, limit)]


class ChangeRules(StoreRules):
    """``ChangeRows``."""

    def test_an_entry_is_read_once_it_has_a_position(self, store: Store, scribe: Scribe) -> None:
        first, second = sample_change("m1"), Change(new_id(), Entity.USER, "d", Operation.DELETED, NOW)
        _add(store, first, second)
        assert _told(store) == []
        assert _assign(store) == 2
        with store.read(PROJECT) as tx:
            told = tx.changes.page(0, 10)
            assert not tx.changes.unassigned()
        assert [change.position for change in told] == [1, 2]
        assert [(each.entity, each.entity_id, each.operation, each.at, each.user_id) for each in told] == [
            (Entity.MEMORY, "m1", Operation.CREATED, NOW, "alice"),
            (Entity.USER, "d", Operation.DELETED, NOW, ""),
        ]

    def test_what_commits_later_has_a_later_position_whatever_its_id(self, store: Store, scribe: Scribe) -> None:
        early, late = sample_change("early"), sample_change("late")
        _add(store, late)
        _assign(store)
        _add(store, early)
        _assign(store)
        assert _told(store) == [(1, "late"), (2, "early")]

    def test_positions_go_on_batch_after_batch_and_pages_after_pages(self, store: Store, scribe: Scribe) -> None:
        _add(store, *(sample_change(f"m{number}") for number in range(5)))
        assert [_assign(store, 2) for _ in range(4)] == [2, 2, 1, 0]
        assert _told(store, after=1, limit=3) == [(2, "m1"), (3, "m2"), (4, "m3")]
        with store.read(PROJECT) as tx:
            assert tx.changes.ends() == FeedEnds(last=5, pruned=0)

    def test_what_is_undone_is_not_told(self, store: Store, scribe: Scribe) -> None:
        def fail() -> None:
            with store.write(PROJECT) as tx:
                tx.changes.add([sample_change("undone")])
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        _add(store, sample_change("done"))
        _assign(store)
        assert _told(store) == [(1, "done")]

    def test_projects_have_feeds_of_their_own(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        _add(store, sample_change("theirs"), project=stranger.project_id)
        _add(store, sample_change("ours"))
        assert (_assign(store), _told(store)) == (1, [(1, "ours")])
        with store.read(stranger.project_id) as tx:
            assert tx.changes.unassigned()
            assert tx.changes.ends() == FeedEnds()

    def test_what_names_a_user_is_forgotten_up_to_an_id(self, store: Store, scribe: Scribe) -> None:
        _add(store, sample_change("a"), sample_change("b", user="Alice"), sample_change("c"))
        _assign(store)
        upto = new_id()
        _add(store, sample_change("later"))
        with store.write(PROJECT) as tx:
            assert tx.changes.forget_user("alice", upto) == 2
        _assign(store)
        assert _told(store) == [(2, "b"), (4, "later")]

    def test_pruning_goes_from_the_first_position_on_and_is_remembered(self, store: Store, scribe: Scribe) -> None:
        _add(store, *(sample_change(name, days=day) for name, day in (("a", 0), ("b", 1), ("c", 5), ("d", 1))))
        _assign(store)
        with store.write(PROJECT) as tx:
            assert tx.changes.prune(later(days=2), 1) == 1
            assert tx.changes.prune(later(days=2), 10) == 1
            assert tx.changes.prune(later(days=2), 10) == 0
            assert tx.changes.ends() == FeedEnds(last=4, pruned=2)
        assert _told(store) == [(3, "c"), (4, "d")]

    def test_positions_are_not_given_again_when_all_entries_are_gone(self, store: Store, scribe: Scribe) -> None:
        _add(store, sample_change("a"), sample_change("b"))
        _assign(store)
        with store.write(PROJECT) as tx:
            tx.changes.prune(later(days=1), 10)
        _add(store, sample_change("c"))
        _assign(store)
        assert _told(store) == [(3, "c")]

    def test_two_who_assign_at_once_give_each_entry_one_position(self, store: Store, scribe: Scribe) -> None:
        _add(store, *(sample_change(f"m{number}") for number in range(40)))

        def assign() -> None:
            while _assign(store, 3):
                continue

        threads = [threading.Thread(target=assign) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert _told(store) == [(number + 1, f"m{number}") for number in range(40)]

    def test_a_commit_with_an_entry_wakes_the_worker(self, store: Store, scribe: Scribe) -> None:
        woken: list[str] = []
        store.after_commit(woken.append, project_id=PROJECT)
        _add(store, sample_change("m"))
        assert woken == [PROJECT]
