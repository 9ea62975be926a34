"""`memoranda config check`: what is wrong with a project configuration, before it is used."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.console import counted, print_json, say
from memoranda.cli.ending import USAGE, CommandError
from memoranda.cli.options import JsonOption
from memoranda.cli.store import require_store

if TYPE_CHECKING:
    from memoranda.runtime.config_check import ConfigFinding

config_app = typer.Typer(help="Project configurations: check one before it is used.")

GivenStoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH_OR_URL",
        help="Check also what this store would not let the configuration change.",
        show_default=False,
    ),
]


@config_app.callback()
def config(ctx: typer.Context, store: GivenStoreOption = None) -> None:
    if store is not None:
        ctx.obj = store


@config_app.command("check")
def check_command(
    ctx: typer.Context,
    *,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A project-config.yaml, or its memory block.", show_default=False)
    ],
    as_json: JsonOption = False,
    store: GivenStoreOption = None,
) -> None:
    """Print what is wrong with a project configuration, and which of its settings have no effect.

    Exit code 2 when it cannot be used.
    """
    from memoranda.runtime.config_check import check_config

    # The variable and the default name the store to work on; here only a store that was asked for counts.
    named = store if store is not None else ctx.obj
    if named is not None:
        require_store(named)
    found = check_config(file, named)
    if as_json:
        print_json({"ok": not found.errors, **asdict(found)})
    else:
        for label, findings in (("error", found.errors), ("warning", found.warnings)):
            for finding in findings:
                say(f"{_place(file, finding)}: {label}: {finding.message}")
        if not found.errors:
            say(f"{file} can be used")
    if found.errors:
        raise CommandError(f"{file} cannot be used: {counted(len(found.errors), 'error')}", USAGE)


def _place(file: Path, finding: ConfigFinding) -> str:
    return str(file) if finding.line is None else f"{file}, line {finding.line}"
