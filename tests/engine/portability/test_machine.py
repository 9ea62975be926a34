"""Whatever was done with a project, it is the same project after it was moved to another store."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import rule

from memoranda import Memory
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.integrity import check
from memoranda.testing.machine import MemoryMachine
from tests.engine.portability.moving import exported, imported


class MovingMachine(MemoryMachine):
    """The machine of the model, which goes on in a copy of its store now and then; every read is compared."""

    folders: list[Path] = []  # noqa: RUF012 - emptied after every run
    arguments: dict[str, Any] = {}  # noqa: RUF012

    @classmethod
    def open_memory(cls, **arguments: Any) -> Memory:
        cls.arguments = {**arguments, "embedder": HashedEmbedder()}
        return Memory.open(cls.new_store(), **cls.arguments)

    @classmethod
    def new_store(cls) -> Path:
        cls.folders.append(Path(tempfile.mkdtemp(prefix="memoranda-moving-")))
        return cls.folders[-1] / "memory.db"

    @rule()
    def move_to_another_store(self) -> None:
        self.memory.close()
        old, new = self.folders[-1] / "memory.db", self.new_store()
        text = exported(old)
        report = imported(new, text, clock=self.clock)
        assert (report.existing, report.conflicts) == ({}, {})
        assert exported(new) == text
        assert check(new) == []
        self.memory = Memory.open(new, **{**self.arguments, "config": None})

    def teardown(self) -> None:
        super().teardown()
        while self.folders:
            shutil.rmtree(self.folders.pop())


TestMoving = pytest.mark.timeout(600)(MovingMachine.TestCase)
TestMoving.settings = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    stateful_step_count=25,
    max_examples=8,
)
