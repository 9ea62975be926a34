"""The SQLite store does what any store must."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memoranda.stores.sqlite import SqliteStore
from memoranda.testing import store_suite


class SqliteRules:
    """The fixtures that the suite asks an adapter for."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "memory.db"

    @pytest.fixture
    def store(self, path: Path) -> Iterator[SqliteStore]:
        store = SqliteStore.open(path)
        yield store
        store.close()

    @pytest.fixture
    def reopen(self, store: SqliteStore, path: Path) -> Iterator[Callable[[], SqliteStore]]:
        opened: list[SqliteStore] = []

        def again() -> SqliteStore:
            store.close()
            opened.append(SqliteStore.open(path))
            return opened[-1]

        yield again
        for each in opened:
            each.close()


class TestChange(SqliteRules, store_suite.ChangeRules):
    pass


class TestControl(SqliteRules, store_suite.ControlRules):
    pass


class TestFailure(SqliteRules, store_suite.FailureRules):
    pass


class TestFilter(SqliteRules, store_suite.FilterRules):
    pass


class TestHistory(SqliteRules, store_suite.HistoryRules):
    pass


class TestImage(SqliteRules, store_suite.ImageRules):
    """``ImageRows``."""


class TestImages(SqliteRules, store_suite.ImageRules):
    pass


class TestIndex(SqliteRules, store_suite.IndexRules):
    pass


class TestJob(SqliteRules, store_suite.JobRules):
    pass


class TestLease(SqliteRules, store_suite.LeaseRules):
    pass


class TestLink(SqliteRules, store_suite.LinkRules):
    pass


class TestMemory(SqliteRules, store_suite.MemoryRules):
    pass


class TestPortable(SqliteRules, store_suite.PortableRules):
    pass


class TestProfile(SqliteRules, store_suite.ProfileRules):
    pass


class TestProject(SqliteRules, store_suite.ProjectRules):
    pass


class TestSession(SqliteRules, store_suite.SessionRules):
    pass


class TestSlot(SqliteRules, store_suite.SlotRules):
    pass


class TestSnapshot(SqliteRules, store_suite.SnapshotRules):
    pass


class TestSource(SqliteRules, store_suite.SourceRules):
    pass


class TestText(SqliteRules, store_suite.TextRules):
    pass


class TestTombstone(SqliteRules, store_suite.TombstoneRules):
    pass


class TestTransaction(SqliteRules, store_suite.TransactionRules):
    pass


class TestTurn(SqliteRules, store_suite.TurnRules):
    pass


class TestVector(SqliteRules, store_suite.VectorRules):
    pass


def test_no_rule_is_left_out() -> None:
    tested = {base for cls in SqliteRules.__subclasses__() for base in cls.__mro__}
    assert tested >= set(store_suite.ALL_RULES)
