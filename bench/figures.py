"""What a run gives: figures with their floor and their target, as a table or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum


class Judged(StrEnum):
    """What of a figure its target is about."""

    VALUE = "value"
    RATIO = "ratio"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement. ``floor`` is what the same work costs without us, in the same run and unit.

    ``target`` is the most that ``judged`` may be (the least, with ``at_least``); without one nothing is promised.
    """

    name: str
    value: float
    unit: str = "ms"
    floor: float | None = None
    target: float | None = None
    judged: Judged = Judged.VALUE
    at_least: bool = False
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return None if not self.floor else self.value / self.floor

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        reached = self.value if self.judged is Judged.VALUE else self.ratio
        if self.target is None or reached is None:
            return None
        return reached >= self.target if self.at_least else reached <= self.target


_HEAD = ("figure", "value", "floor", "ratio", "target", "", "note")
_VERDICT = {True: "ok", False: "missed", None: ""}


def table(figures: Iterable[Figure]) -> str:
    """Return the figures as an aligned table."""
    rows = [_HEAD, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _row(figure: Figure) -> tuple[str, ...]:
    return (
        figure.name,
        f"{_number(figure.value)} {figure.unit}".strip(),
        "" if figure.floor is None else _number(figure.floor),
        "" if figure.ratio is None else f"{figure.ratio:.2f}x",
        _target(figure),
        _VERDICT[figure.met],
        figure.note,
    )


def _target(figure: Figure) -> str:
    if figure.target is None:
        return ""
    sign = ">=" if figure.at_least else "<="
    unit = "x" if figure.judged is Judged.RATIO else f" {figure.unit}".rstrip()
    return f"{sign} {figure.target:g}{unit}"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def as_json(figures: Sequence[Figure]) -> str:
    """Return the figures as a JSON list, with ratio and verdict."""
    rows = [{**asdict(figure), "ratio": figure.ratio, "met": figure.met} for figure in figures]
    return json.dumps(rows, indent=2)
