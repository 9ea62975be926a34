"""Verbs that write or run the background work: `ingest`, `promote`, `demo`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import memoranda
from memoranda.cli.chat_file import ChatFile, Defaults, open_chat
from memoranda.cli.console import counted, print_json, say
from memoranda.cli.demo.script import run_demo
from memoranda.cli.ending import KEPT, complain
from memoranda.cli.ingest import IngestReport, distil, failures_since, now, promote, record, validate
from memoranda.cli.operations import amounts, list_failures, show_put_off
from memoranda.cli.options import ConfigOption, JsonOption, NoWaitOption, StoreOption, TimeoutOption
from memoranda.cli.store import Access, named_store, opened
from memoranda.cli.waiting import wait_for_work


def ingest_command(
    ctx: typer.Context,
    *,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Chat as JSON Lines, one JSON list, or a ChatGPT export; - is stdin.",
            show_default=False,
        ),
    ],
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", help="The user of lines that name none.", show_default=False)
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="ID",
            help="The session of lines that name none; else the file's name.",
            show_default=False,
        ),
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="ID", help="The agent of lines that name none.", show_default=False)
    ] = None,
    batch: Annotated[int, typer.Option("--batch", metavar="N", min=1, max=10_000, help="Turns a transaction.")] = 200,
    ignore_unknown: Annotated[
        bool, typer.Option("--ignore-unknown", help="Leave out fields that are not known, with a warning.")
    ] = False,
    config: ConfigOption = None,
    no_wait: NoWaitOption = False,
    timeout: TimeoutOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Record a conversation from a file, and distil memories from it.

    The file is checked as a whole before any of it is recorded. The same file again adds nothing.
    """
    name = named_store(ctx, store)
    defaults = Defaults(user_id=user, session_id=session, agent_id=agent)
    with open_chat(file, sys.stdin.buffer, defaults, ignore_unknown=ignore_unknown) as chat:
        report = _ingest(chat, name, Access(create=True, worker=not no_wait, config=config), batch, timeout)
    if as_json:
        print_json(report.as_json())
    else:
        _show_ingest(file, name, report)
    if report.failures or report.put_off:
        raise typer.Exit(KEPT)


def _ingest(chat: ChatFile, store: str, access: Access, batch: int, timeout: float | None) -> IngestReport:
    extent = validate(chat)
    if chat.ignored:
        complain(f"{chat.name}: left out unknown fields: {', '.join(sorted(chat.ignored))}")
    if not extent.turns:
        return IngestReport(left_out=extent.left_out, waited=True)
    with opened(store, access) as memory:
        since = now()
        report = record(memory, chat, extent, batch)
        if access.worker:
            distil(memory, extent, report, since=since, timeout=timeout)
        else:
            promote(memory, extent)
    return report


def _show_ingest(file: str, store: str, report: IngestReport) -> None:
    if not report.turns:
        say(f"{file} holds no turns; nothing was recorded")
        return
    if report.left_out:
        say(f"left out, as hidden, empty, or of the system: {counted(report.left_out, 'message')}")
    whose = f" of {counted(report.users, 'user')}" if report.users else ""
    say(f"{file}: {counted(report.turns, 'turn')} in {counted(report.sessions, 'session')}{whose}")
    already = f", {report.repeated:,} were there already" if report.repeated else ""
    say(f"recorded in {store}: {report.recorded:,}{already}")
    if not report.waited:
        say("distilling is left to the next process that runs the background work, such as: memoranda promote")
        return
    replaced = f"; {report.superseded:,} superseded" if report.superseded else ""
    say(f"learned: {amounts(report.learned) or 'nothing new'}{replaced}")
    if report.failures:
        list_failures(report.failures)
    show_put_off(report.put_off)
    if not report.failures and not report.put_off:
        say("failed: nothing")


def promote_command(
    ctx: typer.Context,
    *,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="This session only; else all that wait.", show_default=False),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", help="This user's sessions only.", show_default=False)
    ] = None,
    config: ConfigOption = None,
    no_wait: NoWaitOption = False,
    timeout: TimeoutOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Have the turns that wait distilled now, and finish all background work that is due."""
    with opened(named_store(ctx, store), Access(worker=not no_wait, config=config)) as memory:
        since = now()
        promoted = memory.bind(memoranda.MemoryRequestContext(user_id=user)).promote(session)
        put_off = {} if no_wait else wait_for_work(memory, timeout)
        failures = list(failures_since(memory, since))
    if as_json:
        print_json({"promoted": promoted, "waited": not no_wait, "failures": failures, "put_off": put_off})
    else:
        turns = sum(result.promoted_count for result in promoted)
        say(f"promoted: {counted(turns, 'turn')} of {counted(len(promoted), 'session')}")
        if failures:
            list_failures(failures)
        show_put_off(put_off)
    if failures or put_off:
        raise typer.Exit(KEPT)


def demo_command(ctx: typer.Context, as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Show the whole of it on a conversation that the package carries, and check what is shown.

    Works in a temporary file unless --store names one. Needs no key and no network.
    """
    named = store if store is not None else ctx.obj
    run_demo(named if isinstance(named, str) else None, as_json=as_json)
