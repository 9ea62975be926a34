"""What a command prints: text and tables for a person, JSON for a script, progress on a terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NoReturn

from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

# Everything that moves a cursor, rings or changes colours: stored text must not drive the reader's terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_WIDTH_IN_PIPES = 120


class _PipeConsole(Console):
    """A console that leaves a closed pipe to its caller."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def out() -> Console:
    """Return a console on stdout; in a pipe it is 120 columns wide and plain."""
    return _console(stderr=False)


def err() -> Console:
    """Return a console on stderr."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WIDTH_IN_PIPES
    return _PipeConsole(file=stream, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)


def plain(text: str) -> str:
    """Return text with control characters made visible, so that it can only be read."""
    return _CONTROL.sub("�", text)


def cell(text: str, style: str = "") -> Text:
    """Return stored text as one cell of a table: no markup, no control characters, blanks folded."""
    return Text(" ".join(plain(text).split()), style=style)


def table(title: str, *columns: str) -> Table:
    """Return an empty table in the one style that all commands use; the last column takes the room that is left."""
    made = Table(title=Text(title, style="bold"), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for position, column in enumerate(columns):
        last = position == len(columns) - 1
        made.add_column(column, header_style="dim", overflow="fold", no_wrap=not last, ratio=1 if last else None)
    return made


def say(text: str = "") -> None:
    """Print one line for a person."""
    out().print(Text(plain(text)), soft_wrap=True)


def note(text: str) -> None:
    """Print one line for a person on stderr, where it is in no script's way."""
    err().print(Text(f"memoranda: {plain(text)}"), soft_wrap=True)


def write(text: str) -> None:
    """Print stored text as it is into a file or pipe, and without control characters on a terminal."""
    sys.stdout.write((plain(text) if sys.stdout.isatty() else text).rstrip("\n") + "\n")


def print_json(value: BaseModel | Mapping[str, object] | Sequence[object]) -> None:
    """Print a value as indented JSON."""
    sys.stdout.write(json.dumps(value, default=_as_json, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def _as_json(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def day(moment: datetime) -> str:
    """Return the UTC day of a moment."""
    return moment.strftime("%Y-%m-%d")


def minute(moment: datetime) -> str:
    """Return a moment to the minute."""
    return moment.strftime("%Y-%m-%d %H:%M")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun in the right form."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


class Bar:
    """One progress bar; it shows on a terminal only."""

    def __init__(self, progress: Progress, label: str, total: int | None) -> None:
        self._progress = progress
        self._task = progress.add_task(label, total=total)

    def advance(self, steps: int) -> None:
        """Move on by this many steps."""
        self._progress.advance(self._task, steps)

    def set(self, completed: int, total: int) -> None:
        """Say how much of how much is done."""
        self._progress.update(self._task, completed=completed, total=total)


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Bar]:
    """Show a bar on stderr while the block runs, when stderr is a terminal."""
    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    console = err()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        yield Bar(shown, label, total)
