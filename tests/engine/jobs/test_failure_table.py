"""The documented table of failures is what the code does."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from memoranda.engine.jobs.failure import PACES, FailureClass

TABLE = Path(__file__).parents[3] / "docs" / "failures.md"
UNITS = {"s": "seconds", "min": "minutes", "h": "hours", "d": "days"}


def rows() -> dict[str, list[str]]:
    """Return the table's rows by their class."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").split("\n") if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[1].strip("`"): row for row in cells[1:]}


def duration(written: str) -> timedelta:
    found = re.fullmatch(r"(\d+) (s|min|h|d)", written)
    assert found, written
    return timedelta(**{UNITS[found[2]]: int(found[1])})


def test_every_class_has_its_row() -> None:
    assert list(rows()) == [each.value for each in FailureClass]


@pytest.mark.parametrize("failure_class", FailureClass)
def test_row_says_how_the_class_is_paced(failure_class: FailureClass) -> None:
    seen, _, first, cap, attempts, age, remedy = rows()[failure_class.value]
    pace = PACES[failure_class]
    assert (duration(first), duration(cap), int(attempts), duration(age)) == (
        pace.first,
        pace.cap,
        pace.attempts,
        pace.max_age,
    )
    assert seen
    assert remedy
