"""The engine behaves like the model of its rules, whatever a caller does."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from memoranda import Memory
from memoranda.testing.machine import MemoryMachine

SHARED = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    stateful_step_count=40,
)


class EmbeddedMachine(MemoryMachine):
    """The machine over a new SQLite file for every run."""

    @staticmethod
    def open_memory(**arguments: Any) -> Memory:
        folder = Path(tempfile.mkdtemp(prefix="memoranda-model-"))
        EmbeddedMachine.folders.append(folder)
        return Memory.open(folder / "memory.db", **arguments)

    folders: list[Path] = []  # noqa: RUF012 - emptied after every run

    def teardown(self) -> None:
        super().teardown()
        while self.folders:
            shutil.rmtree(self.folders.pop())


TestModel = pytest.mark.timeout(600)(EmbeddedMachine.TestCase)
TestModel.settings = settings(SHARED, max_examples=25)


class LongMachine(EmbeddedMachine):
    """The same, for longer."""


TestModelForLonger = pytest.mark.drill(LongMachine.TestCase)
TestModelForLonger.settings = settings(SHARED, max_examples=400)
