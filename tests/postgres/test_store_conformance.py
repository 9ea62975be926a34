"""The PostgreSQL store does what any store must."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from memoranda.stores.postgres import PostgresStore
from memoranda.testing import store_suite


class PostgresRules:
    """The fixtures that the suite asks an adapter for."""

    @pytest.fixture
    def store(self, postgres_url: str) -> Iterator[PostgresStore]:
        store = PostgresStore.open(postgres_url)
        yield store
        store.close()

    @pytest.fixture
    def reopen(self, store: PostgresStore, postgres_url: str) -> Iterator[Callable[[], PostgresStore]]:
        opened: list[PostgresStore] = []

        def again() -> PostgresStore:
            store.close()
            opened.append(PostgresStore.open(postgres_url))
            return opened[-1]

        yield again
        for each in opened:
            each.close()


class TestChange(PostgresRules, store_suite.ChangeRules):
    pass


class TestControl(PostgresRules, store_suite.ControlRules):
    pass


class TestFailure(PostgresRules, store_suite.FailureRules):
    pass


class TestFilter(PostgresRules, store_suite.FilterRules):
    pass


class TestHistory(PostgresRules, store_suite.HistoryRules):
    pass


class TestImage(PostgresRules, store_suite.ImageRules):
    pass


class TestImages(PostgresRules, store_suite.ImageRules):
    pass


class TestIndex(PostgresRules, store_suite.IndexRules):
    pass


class TestJob(PostgresRules, store_suite.JobRules):
    pass


class TestLease(PostgresRules, store_suite.LeaseRules):
    pass


class TestLink(PostgresRules, store_suite.LinkRules):
    pass


class TestMemory(PostgresRules, store_suite.MemoryRules):
    pass


class TestPortable(PostgresRules, store_suite.PortableRules):
    pass


class TestProfile(PostgresRules, store_suite.ProfileRules):
    pass


class TestProject(PostgresRules, store_suite.ProjectRules):
    pass


class TestSession(PostgresRules, store_suite.SessionRules):
    pass


class TestSlot(PostgresRules, store_suite.SlotRules):
    pass


class TestSnapshot(PostgresRules, store_suite.SnapshotRules):
    pass


class TestSource(PostgresRules, store_suite.SourceRules):
    pass


class TestText(PostgresRules, store_suite.TextRules):
    pass


class TestTombstone(PostgresRules, store_suite.TombstoneRules):
    pass


class TestTransaction(PostgresRules, store_suite.TransactionRules):
    pass


class TestTurn(PostgresRules, store_suite.TurnRules):
    pass


class TestVector(PostgresRules, store_suite.VectorRules):
    pass


def test_no_rule_is_left_out() -> None:
    tested = {base for cls in PostgresRules.__subclasses__() for base in cls.__mro__}
    assert tested >= set(store_suite.ALL_RULES)
