"""A server over HTTP behaves as any front door must; after every test the store file is sound."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memory
from memoranda.testing import integrity, memory_suite
from memoranda.testing.memory_suite.base import OpenMemory
from tests.facade.served import open_served

# Some rules make thousands of calls, and each is a request here.
pytestmark = pytest.mark.timeout(400)


class Served:
    """The fixture that the suite asks a front door for."""

    @pytest.fixture
    def open_memory(self, tmp_path: Path) -> Iterator[OpenMemory]:
        path = tmp_path / "memory.db"

        def open_memory(**options: Any) -> Memory:
            return open_served(path, **options)

        yield open_memory
        if path.exists():
            assert integrity.check(path) == []


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
