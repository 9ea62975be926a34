"""The embedded engine on PostgreSQL behaves as any front door must."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memoranda import Memory
from memoranda.testing import memory_suite, postgres_integrity
from memoranda.testing.memory_suite.base import OpenMemory


class Embedded:
    """The fixture that the suite asks a front door for."""

    @pytest.fixture
    def open_memory(self, postgres_url: str) -> Iterator[OpenMemory]:
        def open_memory(**options: Any) -> Memory:
            return Memory.open(postgres_url, **options)

        yield open_memory
        assert postgres_integrity.check(postgres_url) == []


class TestBackground(Embedded, memory_suite.BackgroundRules):
    pass


class TestChange(Embedded, memory_suite.ChangeRules):
    pass


class TestContext(Embedded, memory_suite.ContextRules):
    pass


class TestDeletion(Embedded, memory_suite.DeletionRules):
    pass


class TestFailure(Embedded, memory_suite.FailureRules):
    pass


class TestFilter(Embedded, memory_suite.FilterRules):
    pass


class TestLeak(Embedded, memory_suite.LeakRules):
    pass


class TestLifetime(Embedded, memory_suite.LifetimeRules):
    pass


class TestOpening(Embedded, memory_suite.OpeningRules):
    pass


class TestSave(Embedded, memory_suite.SaveRules):
    pass


class TestSearch(Embedded, memory_suite.SearchRules):
    pass


class TestTimeline(Embedded, memory_suite.TimelineRules):
    pass


class TestTurn(Embedded, memory_suite.TurnRules):
    pass


def test_no_rule_is_left_out() -> None:
    tested = {base for cls in Embedded.__subclasses__() for base in cls.__mro__}
    assert tested >= set(memory_suite.ALL_RULES)
