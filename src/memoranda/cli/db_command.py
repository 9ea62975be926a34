"""`memoranda db`: the schema of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.console import print_json, say
from memoranda.cli.ending import CommandError
from memoranda.cli.options import JsonOption, StoreOption
from memoranda.cli.store import named_store, require_store

if TYPE_CHECKING:
    from memoranda.runtime.databases import SchemaState

db_app = typer.Typer(help="The schema of a store: bring it up to date, look at it.")


@db_app.callback()
def db(ctx: typer.Context, store: StoreOption = None) -> None:
    if store is not None:
        ctx.obj = store


@db_app.command("upgrade")
def upgrade_command(
    ctx: typer.Context,
    *,
    app_role: Annotated[
        str | None,
        typer.Option(
            "--app-role",
            metavar="ROLE",
            help="Let this role of a PostgreSQL database use the tables, held by the wall between projects.",
        ),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Create the schema of a store or bring it up to date. Servers may run meanwhile, and are restarted afterwards."""
    from memoranda.runtime.databases import upgrade_schema

    state = upgrade_schema(named_store(ctx, store), role=app_role)
    _tell(state, as_json)


@db_app.command("status")
def status_command(ctx: typer.Context, *, as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Print which schema a store has and which this version knows; nothing is changed."""
    _tell(_state(named_store(ctx, store)), as_json)


@db_app.command("check")
def check_command(ctx: typer.Context, *, as_json: JsonOption = False, store: StoreOption = None) -> None:
    """End with an error unless this version can serve the store as it is; for a script that starts servers."""
    state = _state(named_store(ctx, store))
    _tell(state, as_json)
    if not state.is_current:
        raise CommandError(f"{state.location}: {_advice(state)}")


def _state(store: str) -> SchemaState:
    from memoranda.runtime.databases import schema_state

    require_store(store)
    return schema_state(store)


def _tell(state: SchemaState, as_json: bool) -> None:
    if as_json:
        print_json({"store": state.location, "found": state.found, "known": state.known, "current": state.is_current})
    else:
        say(
            f"{state.location}: {'up to date' if state.is_current else _advice(state)} (schema {state.found or 'none'})"
        )


def _advice(state: SchemaState) -> str:
    if state.found is not None and state.found > state.known:
        return f"newer than {state.known}, which this version knows: upgrade memoranda"
    return f"older than {state.known}, which this version needs: memoranda db upgrade"
