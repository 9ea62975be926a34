"""docs/from-oracle-agent-memory.md has every name and every method."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memoranda.threads
from memoranda.compat.oracleagentmemory.absent import INSTEAD
from memoranda.threads.asynchrony import methods_without_twin
from tests.compat.test_oracleagentmemory import NAMES

PAGE = (Path(__file__).parent.parent.parent / "docs" / "from-oracle-agent-memory.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]


def _words(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


@pytest.mark.parametrize("path", sorted(NAMES))
def test_every_name_has_its_row(path: str) -> None:
    shown = {name for row in ROWS if path in _words(row[0]) for name in _words(row[1])}
    assert set(NAMES[path].split()) <= shown


def test_every_absent_name_says_that_it_is() -> None:
    absent = {name for row in ROWS if len(row) == 3 and row[2].startswith("absent") for name in _words(row[1])}
    assert absent == INSTEAD.keys()


@pytest.mark.parametrize("name", ["AgentMemory", "Thread"])
def test_every_method_is_there_with_its_twin(name: str) -> None:
    (listed,) = [_words(row[1]) for row in ROWS if row[0] == f"`{name}`"]
    cls = getattr(memoranda.threads, name)
    listed -= {"…_async"}
    assert all(callable(getattr(cls, method)) and callable(getattr(cls, f"{method}_async")) for method in listed)
    assert methods_without_twin(cls) == []
