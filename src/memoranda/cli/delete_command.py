"""`memoranda delete-user`: everything of a user, and a report of what it was."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import memoranda
from memoranda.cli.console import print_json, say
from memoranda.cli.ending import CommandError, WrongUsageError
from memoranda.cli.options import JsonOption, StoreOption, require_given
from memoranda.cli.store import OVERSEES, named_store, opened


def delete_user_command(
    ctx: typer.Context,
    *,
    user: Annotated[str, typer.Argument(metavar="USER", help="The id of a user.", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; needed where nobody can be asked.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Delete everything of a user for good, and print what that was.

    Asks first on a terminal. What is written later under the same id lives.
    """
    name = named_store(ctx, store)
    require_given("USER", user)
    with opened(name, OVERSEES) as memory:
        if not yes:
            _ask(user, name)
        report = memory.delete_user(user)
    if as_json:
        print_json(report)
    else:
        _show(user, report)


def _ask(user: str, store: str) -> None:
    if not sys.stdin.isatty():
        raise WrongUsageError(f"nobody can be asked here: pass --yes to delete everything of {user!r} in {store!r}")
    if not typer.confirm(f"Delete everything of {user!r} in {store!r} for good?", err=True):
        raise CommandError("nothing was deleted")


def _show(user: str, report: memoranda.DeletionReport) -> None:
    counts = {noun: count for noun, count in report.model_dump().items() if isinstance(count, int) and count}
    if not counts:
        say(f"there was nothing of {user!r}")
        return
    listed = ", ".join(f"{noun.replace('_', ' ')}: {count:,}" for noun, count in counts.items())
    say(f"deleted of {user!r}: {listed}")
