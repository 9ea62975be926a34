"""Calls of several threads share a transaction, and each sees what it would have seen alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from memoranda.engine.turn_groups import MAX_GROUP, Groups
from memoranda.sdk.errors import MemoryBadRequestError, MemoryStoreError


class Shelf:
    """A store of words. Its first call waits until ``others`` calls have come behind it."""

    def __init__(self, refuse: Callable[[Sequence[str]], None] = lambda words: None) -> None:
        self.calls: list[list[str]] = []
        self.goes_on = threading.Event()
        self._refuse = refuse

    def store(self, words: Sequence[str]) -> list[str]:
        self.calls.append(list(words))
        if len(self.calls) == 1:
            assert self.goes_on.wait(20)
        self._refuse(words)
        return [word.upper() for word in words]


def record_together(shelf: Shelf, *calls: list[str]) -> list[Future[Sequence[str]]]:
    """Make the first call, have the others come while it is under way, and return what became of each."""
    groups: Groups[str, str] = Groups(shelf.store)
    with ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(groups.record, calls[0])]
        while not shelf.calls:
            threading.Event().wait(0.001)
        for number, call in enumerate(calls[1:], 1):
            futures.append(pool.submit(groups.record, call))
            while len(groups.waiting) < number:
                threading.Event().wait(0.001)
        shelf.goes_on.set()
    return futures


def test_who_comes_while_another_stores_shares_the_next_transaction() -> None:
    shelf = Shelf()
    futures = record_together(shelf, ["a"], ["b", "c"], ["d"])
    assert [list(future.result()) for future in futures] == [["A"], ["B", "C"], ["D"]]
    assert [sorted(call) for call in shelf.calls] == [["a"], ["b", "c", "d"]]


def test_one_bad_call_of_a_group_fails_alone() -> None:
    def refuse(words: Sequence[str]) -> None:
        if "bad" in words:
            raise MemoryBadRequestError("no")

    shelf = Shelf(refuse)
    first, good, bad, also = record_together(shelf, ["a"], ["b"], ["bad"], ["d"])
    assert [list(future.result()) for future in (first, good, also)] == [["A"], ["B"], ["D"]]
    with pytest.raises(MemoryBadRequestError, match="no"):
        bad.result()


def test_a_store_that_fails_is_told_to_everybody_by_an_attempt_of_their_own() -> None:
    def refuse(words: Sequence[str]) -> None:
        if "a" not in words:
            raise MemoryStoreError("locked")

    shelf = Shelf(refuse)
    _, second, third = record_together(shelf, ["a"], ["b"], ["c"])
    errors = [second.exception(), third.exception()]
    assert [str(error) for error in errors] == ["locked", "locked"]
    assert errors[0] is not errors[1]


def test_who_ends_while_storing_leaves_the_others_to_the_next() -> None:
    def refuse(words: Sequence[str]) -> None:
        if len(words) == 2:
            raise KeyboardInterrupt

    shelf = Shelf(refuse)
    _, second, third = record_together(shelf, ["a"], ["b"], ["c"])
    ended = [future for future in (second, third) if isinstance(future.exception(), KeyboardInterrupt)]
    served = [future for future in (second, third) if future not in ended]
    assert len(ended) == 1
    assert [list(future.result()) for future in served] in ([["B"]], [["C"]])


def test_a_group_has_an_end() -> None:
    shelf = Shelf()
    futures = record_together(shelf, ["a"], *[["w"] * 40 for _ in range(3)])
    assert all(len(future.result()) == 40 for future in futures[1:])
    assert max(map(len, shelf.calls)) <= MAX_GROUP
