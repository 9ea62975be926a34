"""Verbs that make the index anew: `reembed`, `reindex`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, TypeVar

import typer

import memoranda
from memoranda.cli.console import Bar, counted, print_json, progress, say
from memoranda.cli.ending import KEPT, WrongUsageError
from memoranda.cli.options import ConfigOption, JsonOption, StoreOption
from memoranda.cli.store import named_store, require_store

_Report = TypeVar("_Report")


def reembed_command(
    ctx: typer.Context,
    *,
    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder",
            metavar="NAME",
            help="local, openai/MODEL or PROVIDER/MODEL; else that of the configuration, else local.",
            show_default=False,
        ),
    ] = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Give every memory and turn a vector of another embedder; what is interrupted goes on with the next run."""
    from memoranda.runtime.rebuilding import reembed_project
    from memoranda.sdk.protocol import DEFAULT_EMBEDDER

    chosen = DEFAULT_EMBEDDER if embedder is None else embedder
    report = _run(
        "embedding",
        named_store(ctx, store),
        lambda path, bar: reembed_project(path, embedder=chosen, config=config, progress=bar.set),
    )
    if as_json:
        print_json(asdict(report))
    else:
        say(f"embedded: {counted(report.embedded, 'record')} by {report.model} ({report.dimension} dimensions)")
        if report.refused:
            say(f"refused: {counted(report.refused, 'record')}; memoranda failures list says why")
    if report.refused:
        raise typer.Exit(KEPT)


def reindex_command(
    ctx: typer.Context,
    *,
    language: Annotated[
        str | None,
        typer.Option(
            "--language", metavar="NAME", help="The language of the texts; else the project's.", show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Index every memory and turn anew with this version's analyser; what is interrupted goes on with the next run."""
    from memoranda.runtime.rebuilding import reindex_project

    report = _run(
        "indexing",
        named_store(ctx, store),
        lambda path, bar: reindex_project(path, language=language, progress=bar.set),
    )
    if as_json:
        print_json(asdict(report))
    else:
        say(f"indexed: {counted(report.records, 'record')} in {report.language} (analyser {report.analyser})")


def _run(label: str, store: str, work: Callable[[str, Bar], _Report]) -> _Report:
    """Do the work on a store that is there, with a bar."""
    require_store(store)
    try:
        with progress(label) as bar:
            return work(store, bar)
    except memoranda.MemoryConfigError as error:
        raise WrongUsageError(str(error)) from error
