"""How ``Memory`` behaves, whatever stands behind it: one small class for each capability.

A front door proves itself by subclassing every class and giving one fixture, ``open_memory``: a function that takes the
arguments of ``Memory.open`` and opens the test's store, every time the same one::

    class TestTurns(memory_suite.TurnRules):
        @pytest.fixture
        def open_memory(self, tmp_path):
            return functools.partial(Memory.open, tmp_path / "memory.db")
"""

from memoranda.testing.memory_suite.background import BackgroundRules, FailureRules
from memoranda.testing.memory_suite.base import MemoryRules
from memoranda.testing.memory_suite.changes import ChangeRules
from memoranda.testing.memory_suite.contexts import ContextRules
from memoranda.testing.memory_suite.leaks import LeakRules
from memoranda.testing.memory_suite.lifetimes import DeletionRules, LifetimeRules
from memoranda.testing.memory_suite.opening import OpeningRules
from memoranda.testing.memory_suite.saves import SaveRules
from memoranda.testing.memory_suite.searches import FilterRules, SearchRules
from memoranda.testing.memory_suite.timelines import TimelineRules
from memoranda.testing.memory_suite.turns import TurnRules

ALL_RULES = (
    BackgroundRules,
    ChangeRules,
    ContextRules,
    DeletionRules,
    FailureRules,
    FilterRules,
    LeakRules,
    LifetimeRules,
    OpeningRules,
    SaveRules,
    SearchRules,
    TimelineRules,
    TurnRules,
)
"""Every class of the suite, so that a front door can check that it left none out."""

__all__ = [
    "ALL_RULES",
    "BackgroundRules",
    "ChangeRules",
    "ContextRules",
    "DeletionRules",
    "FailureRules",
    "FilterRules",
    "LeakRules",
    "LifetimeRules",
    "MemoryRules",
    "OpeningRules",
    "SaveRules",
    "SearchRules",
    "TimelineRules",
    "TurnRules",
]
