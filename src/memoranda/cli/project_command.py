"""`memoranda project`: the projects of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.administering import LimitOption, administered
from memoranda.cli.console import cell, counted, minute, out, print_json, say, table
from memoranda.cli.options import ConfigOption, JsonOption, StoreOption, require_given
from memoranda.cli.store import named_store

project_app = typer.Typer(help="Projects of a store: create or list them.")


@project_app.callback()
def project(ctx: typer.Context, store: StoreOption = None) -> None:
    if store is not None:
        ctx.obj = store


@project_app.command("create")
def create_command(
    ctx: typer.Context,
    *,
    project_id: Annotated[
        str, typer.Argument(metavar="ID", help="The id of the new project, up to 200 characters.", show_default=False)
    ],
    config: ConfigOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Create a project, and the store where there is none."""
    with administered(named_store(ctx, store), create=True) as administration:
        administration.create_project(require_given("ID", project_id), config)
    if as_json:
        print_json({"project_id": project_id})
    else:
        say(f"created project {project_id!r}")


@project_app.command("list")
def list_command(
    ctx: typer.Context, *, limit: LimitOption = 50, as_json: JsonOption = False, store: StoreOption = None
) -> None:
    """Print the projects of the store by id."""
    with administered(named_store(ctx, store)) as administration:
        found = administration.projects(limit=limit + 1)
    shown, more = found[:limit], len(found) > limit
    if as_json:
        projects = [{"project_id": each.project_id, "created_at": each.created_at.isoformat()} for each in shown]
        print_json({"projects": projects, "more": more})
        return
    made = table(counted(len(shown), "project"), "created", "id")
    for each in shown:
        made.add_row(minute(each.created_at), cell(each.project_id))
    out().print(made)
    if more:
        say("there are more; raise --limit")
