"""`memoranda signing-key`: the keys that a server signs tokens with."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from memoranda.cli.administering import KeysOption, administered
from memoranda.cli.console import cell, counted, minute, out, print_json, say, table
from memoranda.cli.options import JsonOption, StoreOption
from memoranda.cli.store import named_store

signing_key_app = typer.Typer(help="Keys that tokens are signed with: rotate or list them.")


@signing_key_app.callback()
def signing_key(ctx: typer.Context, store: StoreOption = None) -> None:
    if store is not None:
        ctx.obj = store


@signing_key_app.command("rotate")
def rotate_command(
    ctx: typer.Context,
    *,
    at_once: Annotated[
        bool, typer.Option("--at-once", help="Void every token that is out, for a key that has become known.")
    ] = False,
    keys: KeysOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Sign tokens with a new key from now on. Tokens that are out stay good until they expire, within the hour."""
    with administered(named_store(ctx, store), keys_file=keys) as administration:
        key = administration.access.keys.rotate(at_once=at_once)
    if as_json:
        print_json({"kid": key.kid, "created_at": key.created_at.isoformat(), "at_once": at_once})
    else:
        older = "every older token is void" if at_once else "older tokens stay good until they expire"
        say(f"tokens are signed with key {key.kid} from now on; {older}")


@signing_key_app.command("list")
def list_command(
    ctx: typer.Context, *, keys: KeysOption = None, as_json: JsonOption = False, store: StoreOption = None
) -> None:
    """Print the names of the keys that sign or verify, oldest first; never the keys."""
    with administered(named_store(ctx, store), keys_file=keys) as administration:
        found, path = administration.access.keys.all(), administration.access.keys.path
    if as_json:
        listed = [
            {"kid": key.kid, "created_at": key.created_at.isoformat(), "verifies_until": _text(key.verifies_until())}
            for key in found
        ]
        print_json({"file": str(path), "signing_keys": listed})
        return
    say(f"{counted(len(found), 'key')} in {path}")
    if not found:
        return
    made = table("", "key", "made", "state")
    for key in found:
        until = key.verifies_until()
        made.add_row(
            key.kid, minute(key.created_at), cell("signs" if until is None else f"verifies until {minute(until)}")
        )
    out().print(made)


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
