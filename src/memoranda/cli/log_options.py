"""The options for the logs of processes that stay."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from memoranda.cli.ending import WrongUsageError

if TYPE_CHECKING:
    from memoranda.server import LogSettings

Level: TypeAlias = Literal["error", "warn", "info", "debug"]
Form: TypeAlias = Literal["json", "text"]

LevelOption: TypeAlias = Annotated[
    Level | None,
    typer.Option("--log-level", help="How much is logged; info unless given (dev up: warn).", show_default=False),
]
QuietOption: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Log errors only.")]
VerboseOption: TypeAlias = Annotated[
    int, typer.Option("--verbose", "-v", count=True, help="Log more: -v info, -vv debug.", show_default=False)
]
FormOption: TypeAlias = Annotated[
    Form | None,
    typer.Option(
        "--log-format", help="json (one object a line) or text; text on a terminal unless given.", show_default=False
    ),
]
LogFileOption: TypeAlias = Annotated[
    Path | None, typer.Option("--log-file", metavar="FILE", help="Log into this file instead of stderr.")
]
NoLogOption: TypeAlias = Annotated[bool, typer.Option("--no-log", help="Log nothing.")]


@dataclass(frozen=True, slots=True)
class LogWords:
    """What was said about logs."""

    level: Level | None
    quiet: bool
    verbose: int
    form: Form | None
    file: Path | None
    off: bool

    def settings(self) -> LogSettings:
        """Return what is meant; the plainest word counts: a level, then quiet, then verbose."""
        from memoranda.server import LogSettings

        if self.file is not None and not self.file.expanduser().absolute().parent.is_dir():
            raise WrongUsageError(f"--log-file: the folder of {str(self.file)!r} does not exist")
        by_flag: Level = "error" if self.quiet else "debug" if self.verbose > 1 else "info"
        to_terminal = self.file is None and sys.stderr.isatty()
        return LogSettings(
            level=self.level or by_flag,
            form=self.form or ("text" if to_terminal else "json"),
            file=None if self.file is None else self.file.expanduser(),
            off=self.off,
        )
