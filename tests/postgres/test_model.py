"""The engine on PostgreSQL behaves like the model of its rules, whatever a caller does."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis import settings

from memoranda import Memory
from memoranda.testing import postgres
from memoranda.testing.machine import MemoryMachine
from tests.test_model import SHARED


class PostgresMachine(MemoryMachine):
    """The machine over an emptied database for every run."""

    url: ClassVar[str]

    @staticmethod
    def open_memory(**arguments: Any) -> Memory:
        postgres.empty(PostgresMachine.url)
        return Memory.open(PostgresMachine.url, **arguments)


class TestModel(PostgresMachine.TestCase):  # type: ignore[valid-type,misc]  # made by the machine's class
    settings = settings(SHARED, max_examples=8)
    pytestmark = pytest.mark.timeout(600)

    @pytest.fixture(autouse=True)
    def database(self, postgres_url: str) -> None:
        PostgresMachine.url = postgres_url
