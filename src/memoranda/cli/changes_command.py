"""`memoranda changes`: what changed in a store, in order, and what changes from now on."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Final

import typer

import memoranda
from memoranda.cli.operations import show_changes
from memoranda.cli.options import JsonOption, StoreOption
from memoranda.cli.store import OVERSEES, named_store, opened

_PAGE: Final = 500
_WAIT_SECONDS: Final = 20.0


def changes_command(
    ctx: typer.Context,
    *,
    after: Annotated[
        str | None,
        typer.Option(
            "--after", metavar="CURSOR", help="Go on from here: the `next` that --json prints.", show_default=False
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more, until interrupted.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print what changed, oldest first, without content. With --json a line of JSON for each page."""
    with opened(named_store(ctx, store), OVERSEES) as memory:
        cursor = after
        while True:
            page = memory.changes(after=cursor, limit=_PAGE, wait=_WAIT_SECONDS if follow else 0.0)
            ended = not page.items
            if not ended or (cursor is after and not follow):
                _print(page, as_json=as_json)
            if ended and not follow:
                return
            cursor = page.next_cursor


def _print(page: memoranda.ChangePage, *, as_json: bool) -> None:
    if as_json:
        told = {"changes": [each.model_dump(mode="json") for each in page.items], "next": page.next_cursor}
        sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
    else:
        show_changes(page.items)
    sys.stdout.flush()
