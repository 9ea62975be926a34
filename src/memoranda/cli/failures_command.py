"""`memoranda failures`: list, show, retry, discard."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.console import counted, print_json, say
from memoranda.cli.ending import KEPT, CommandError, WrongUsageError
from memoranda.cli.ingest import failures_since, now
from memoranda.cli.operations import list_failures, show_failure, show_failures, show_put_off
from memoranda.cli.options import ConfigOption, JsonOption, NoWaitOption, StoreOption, TimeoutOption, require_given
from memoranda.cli.store import OVERSEES, Access, named_store, opened
from memoranda.cli.waiting import wait_for_work

failures_app = typer.Typer(help="Jobs that ended without success: list, show, retry or discard them.")

IdsArgument = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Failures by id.", show_default=False)]
ClassOption = Annotated[
    str | None,
    typer.Option("--class", metavar="NAME", help="Failures of this class only.", show_default=False),
]
AllOption = Annotated[bool, typer.Option("--all", help="All failures.")]


@failures_app.callback()
def failures(ctx: typer.Context, store: StoreOption = None) -> None:
    if store is not None:
        ctx.obj = store


@failures_app.command("list")
def list_command(
    ctx: typer.Context,
    *,
    failure_class: ClassOption = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="The most to print.")] = 50,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print the failures, latest first."""
    with opened(named_store(ctx, store), OVERSEES) as memory:
        page = memory.list_failures(failure_class=failure_class, limit=limit)
    if as_json:
        print_json(page)
    else:
        show_failures(page)


@failures_app.command("show")
def show_command(
    ctx: typer.Context,
    *,
    failure_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a failure.", show_default=False)],
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print all that is known of one failure, with the raw reply of a model when there is one."""
    with opened(named_store(ctx, store), OVERSEES) as memory:
        failure = memory.get_failure(require_given("ID", failure_id))
    if failure is None:
        raise CommandError(f"there is no failure {failure_id!r}; see: memoranda failures list")
    if as_json:
        print_json(failure)
    else:
        show_failure(failure)


@failures_app.command("retry")
def retry_command(
    ctx: typer.Context,
    *,
    ids: IdsArgument = None,
    failure_class: ClassOption = None,
    everything: AllOption = False,
    config: ConfigOption = None,
    no_wait: NoWaitOption = False,
    timeout: TimeoutOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Queue failures again, and finish the work."""
    chosen = _chosen(ids, failure_class, everything)
    with opened(named_store(ctx, store), Access(worker=not no_wait, config=config)) as memory:
        since = now()
        count = memory.retry_failures(chosen, failure_class=failure_class)
        put_off = {} if no_wait else wait_for_work(memory, timeout)
        again = list(failures_since(memory, since))
    if as_json:
        print_json({"retried": count, "waited": not no_wait, "failures": again, "put_off": put_off})
    else:
        say(f"queued again: {counted(count, 'failure')}")
        if again:
            list_failures(again)
        show_put_off(put_off)
    if again or put_off:
        raise typer.Exit(KEPT)


@failures_app.command("discard")
def discard_command(
    ctx: typer.Context,
    *,
    ids: IdsArgument = None,
    failure_class: ClassOption = None,
    everything: AllOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Forget failures; the turns that they concern stay."""
    chosen = _chosen(ids, failure_class, everything)
    with opened(named_store(ctx, store), OVERSEES) as memory:
        count = memory.discard_failures(chosen, failure_class=failure_class, everything=everything)
    if as_json:
        print_json({"discarded": count})
    else:
        say(f"discarded: {counted(count, 'failure')}")


def _chosen(ids: list[str] | None, failure_class: str | None, everything: bool) -> list[str] | None:
    """Return the ids, None for a choice by class or of all; exactly one way to choose is allowed."""
    ways = sum([bool(ids), failure_class is not None, everything])
    if ways != 1:
        raise WrongUsageError("choose the failures in one way: by ID, with --class NAME, or with --all")
    return ids or None
