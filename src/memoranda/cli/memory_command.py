"""`memoranda memory`: store a project's configuration, put it into force, and see how the project is."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

from memoranda.cli.console import note, print_json, say
from memoranda.cli.ending import KEPT, CommandError, WrongUsageError
from memoranda.cli.memory_target import ServerTarget, StoreTarget, Told, target
from memoranda.cli.nearest import stack_config
from memoranda.cli.options import ContextOption, JsonOption, OrgOption, StoreOption, note_unused
from memoranda.cli.store import named_store

memory_app = typer.Typer(help="A project's configuration: store it, apply it, see how the project is.")

BaseUrlOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="A server; else AGENTIC_MEMORY_BASE_URL, else the store is worked on directly.",
        show_default=False,
    ),
]
ProjectOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--project-id",
        metavar="ID",
        help="The project; else AGENTIC_MEMORY_PROJECT_ID, else that of the token, else default.",
        show_default=False,
    ),
]

_WAIT_SECONDS: Final = 300.0
_LOOK_SECONDS: Final = 1.0


@memory_app.callback()
def memory(ctx: typer.Context, store: StoreOption = None) -> None:
    if store is not None:
        ctx.obj = store


@memory_app.command("configure")
def configure_command(
    ctx: typer.Context,
    *,
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PATH]", help="The configuration; else that of the stack you are in.", show_default=False
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    base_url: BaseUrlOption = None,
    project_id: ProjectOption = None,
    org_id: OrgOption = None,
    context: ContextOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Store the memory block of a project configuration. Storing is not applying: see `memory apply`."""
    note_unused(org_id=org_id, context=context)
    file = path or stack_config(Path.cwd())
    if not file.is_file():
        raise WrongUsageError(f"there is no {str(file)!r}; name a project-config.yaml")
    with _target(ctx, store, base_url, project_id) as chosen:
        if not yes and not typer.confirm(
            f"Store {file} as the configuration of {chosen.name}?", default=True, err=True
        ):
            raise typer.Abort
        told = chosen.configure(file)
    if as_json:
        print_json({"pending": told.pending, "changes": told.changes})
    elif told.pending:
        say(f"stored {file}; it changes {', '.join(told.changes)}")
        say("it is not in force yet: memoranda memory apply")
    else:
        say(f"{file} is what is in force already")


@memory_app.command("apply")
def apply_command(
    ctx: typer.Context,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Of the original; has no effect: there is no image to upgrade.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Of the original; has no effect, as --upgrade has none.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait, up to 5 minutes, until the project is ready.")] = False,
    base_url: BaseUrlOption = None,
    project_id: ProjectOption = None,
    org_id: OrgOption = None,
    context: ContextOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Put the stored configuration into force, on every server of the store. When that fails, nothing changes."""
    note_unused(org_id=org_id, context=context)
    if upgrade or force:
        note("there is no image to upgrade: the memory server is this package, whose version is the installed one")
    with _target(ctx, store, base_url, project_id) as chosen:
        told = chosen.told()
        applied = False if dry_run else chosen.apply()
        if wait and not dry_run:
            _wait_until_ready(chosen)
    if as_json:
        print_json({"applied": applied, "changes": told.changes, "image": told.image, "dry_run": dry_run})
        return
    if told.image is not None:
        say(f"served by {told.image}")
    if told.changes:
        say(f"{'would change' if dry_run else 'changed'} {', '.join(told.changes)}")
    else:
        say("nothing waits to be applied")


@memory_app.command("status")
def status_command(
    ctx: typer.Context,
    *,
    base_url: BaseUrlOption = None,
    project_id: ProjectOption = None,
    org_id: OrgOption = None,
    context: ContextOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print whether the project is ready, what it is blocked on, and whether a configuration waits to be applied.

    Exit code 3 when it is not ready.
    """
    note_unused(org_id=org_id, context=context)
    with _target(ctx, store, base_url, project_id) as chosen:
        told = chosen.told()
    if as_json:
        print_json({"state": told.state, "message": told.message, "pending": told.pending, "changes": told.changes})
    else:
        say(told.state if told.state == "ready" else f"{told.state}: {told.message}")
        if told.pending:
            say(f"a stored configuration waits to be applied; it changes {', '.join(told.changes)}")
    if told.state != "ready":
        raise CommandError(f"{chosen.name} is {told.state}", KEPT)


def _target(
    ctx: typer.Context, store: str | None, base_url: str | None, project_id: str | None
) -> AbstractContextManager[ServerTarget | StoreTarget]:
    given = store or (ctx.obj if isinstance(ctx.obj, str) else None)
    return target(given, base_url, project_id, named_store(ctx, store))


def _wait_until_ready(chosen: ServerTarget | StoreTarget) -> Told:
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        told = chosen.told()
        if told.state == "ready" and not told.pending:
            return told
        if time.monotonic() >= deadline:
            raise TimeoutError(f"{chosen.name} is not ready after {_WAIT_SECONDS:.0f} s: {told.message}")
        time.sleep(_LOOK_SECONDS)
