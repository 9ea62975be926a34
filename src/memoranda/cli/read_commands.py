"""Verbs that only read: `search`, `context`, `history`, `status`. They start no worker and make no store."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.console import print_json
from memoranda.cli.ending import CommandError
from memoranda.cli.operations import show_history, show_status
from memoranda.cli.options import (
    ALL_SOURCES,
    Format,
    JsonOption,
    ModeOption,
    SessionOption,
    SourcesOption,
    StoreOption,
    UserOption,
    parse_sources,
    require_given,
)
from memoranda.cli.reading import Question, ask, chunks_as_json, show_chunks, show_context
from memoranda.cli.store import OVERSEES, READS, named_store, opened

_DEFAULT_RESULTS = 10
_MOST = 200
_RESERVED_TOKENS = 500


def search_command(
    ctx: typer.Context,
    *,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in words.", show_default=False)],
    user: UserOption = None,
    session: SessionOption = None,
    sources: SourcesOption = ALL_SOURCES,
    mode: ModeOption = None,
    top_k: Annotated[
        int, typer.Option("--top-k", metavar="N", min=1, max=_MOST, help="The most results to print.")
    ] = _DEFAULT_RESULTS,
    superseded: Annotated[bool, typer.Option("--superseded", help="Find memories that no longer hold, too.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Find turns and memories, best first."""
    question = Question(
        query=require_given("QUERY", query),
        sources=parse_sources(sources),
        user_id=user,
        session_id=session,
        mode=mode,
        top_k=None if mode is None else top_k,
        include_superseded=superseded,
    )
    with opened(named_store(ctx, store), READS) as memory:
        response = ask(memory, question)
    found = (response.selected_memories or [])[:top_k]
    if as_json:
        chunks_as_json(response, found)
    else:
        show_chunks(query, found)


def context_command(
    ctx: typer.Context,
    *,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What the context is for.", show_default=False)],
    user: UserOption = None,
    session: SessionOption = None,
    sources: SourcesOption = ALL_SOURCES,
    mode: ModeOption = None,
    top_k: Annotated[
        int | None,
        typer.Option("--top-k", metavar="N", min=1, max=_MOST, help="The most from each source.", show_default=False),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            metavar="N",
            min=_RESERVED_TOKENS + 1,
            help=f"The budget of the whole prompt; {_RESERVED_TOKENS} tokens of it are left for what is not context.",
            show_default=False,
        ),
    ] = None,
    format_style: Annotated[
        Format | None,
        typer.Option("--format", help="Chat messages, XML or Markdown.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print the context for a question, ready for a prompt."""
    asked = Question(
        query=require_given("QUESTION", question),
        sources=parse_sources(sources),
        user_id=user,
        session_id=session,
        mode=mode,
        top_k=top_k,
        max_tokens=max_tokens,
        format=format_style,
    )
    with opened(named_store(ctx, store), READS) as memory:
        response = ask(memory, asked)
    if as_json:
        print_json(response)
    else:
        show_context(response)


def history_command(
    ctx: typer.Context,
    *,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a memory.", show_default=False)],
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print every state of a memory and of what it superseded, oldest first."""
    with opened(named_store(ctx, store), OVERSEES) as memory:
        states = memory.history(require_given("ID", memory_id))
    if not states:
        raise CommandError(f"there is no memory {memory_id!r}; search prints ids with --json")
    if as_json:
        print_json({"states": states})
    else:
        show_history(states)


def status_command(ctx: typer.Context, as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Print what the store holds, its background work and its failures."""
    with opened(named_store(ctx, store), OVERSEES) as memory:
        status = memory.status()
    if as_json:
        print_json(status)
    else:
        show_status(status)
