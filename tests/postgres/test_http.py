"""A server over HTTP on PostgreSQL behaves as any front door must."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memoranda import Memory
from memoranda.testing import memory_suite, postgres_integrity
from memoranda.testing.memory_suite.base import OpenMemory
from tests.facade.served import open_served

# Some rules make thousands of calls, and each is a request here.
pytestmark = pytest.mark.timeout(400)


class Served:
    """The fixture that the suite asks a front door for."""

    @pytest.fixture
    def open_memory(self, postgres_url: str) -> Iterator[OpenMemory]:
        def open_memory(**options: Any) -> Memory:
            return open_served(postgres_url, **options)

        yield open_memory
        assert postgres_integrity.check(postgres_url) == []


class TestBackground(Served, memory_suite.BackgroundRules):
    pass


class TestChange(Served, memory_suite.ChangeRules):
    pass


class TestContext(Served, memory_suite.ContextRules):
    pass


class TestDeletion(Served, memory_suite.DeletionRules):
    pass


class TestFailure(Served, memory_suite.FailureRules):
    pass


class TestFilter(Served, memory_suite.FilterRules):
    pass


class TestLeak(Served, memory_suite.LeakRules):
    pass


class TestLifetime(Served, memory_suite.LifetimeRules):
    pass


class TestOpening(Served, memory_suite.OpeningRules):
    pass


class TestSave(Served, memory_suite.SaveRules):
    pass


class TestSearch(Served, memory_suite.SearchRules):
    pass


class TestTimeline(Served, memory_suite.TimelineRules):
    pass


class TestTurn(Served, memory_suite.TurnRules):
    pass


def test_no_rule_is_left_out() -> None:
    tested = {base for cls in Served.__subclasses__() for base in cls.__mro__}
    assert tested >= set(memory_suite.ALL_RULES)
