"""`memoranda dev up`, `serve` and `worker`: the processes that serve a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from memoranda.cli.console import say
from memoranda.cli.environment import keys_file_from_environment
from memoranda.cli.log_options import FormOption, LevelOption, LogFileOption, NoLogOption, QuietOption, VerboseOption
from memoranda.cli.log_options import LogWords as Words
from memoranda.cli.nearest import nearest_config
from memoranda.cli.options import ConfigOption, StoreOption
from memoranda.cli.store import named_store, require_store

if TYPE_CHECKING:
    from memoranda.server import StartOptions

dev_app = typer.Typer(help="For development: a whole server on this machine.")

PortOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--port", metavar="N", min=0, max=65535, help="The port, 8080 unless given; 0 takes a free one."),
]
HostOption: TypeAlias = Annotated[
    str | None, typer.Option("--host", metavar="ADDRESS", help="The address to listen on, 127.0.0.1 unless given.")
]
WorkersOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--workers-in-process", metavar="N", min=1, max=64, help="Threads for background work, 2 unless given."
    ),
]
ThreadsOption: TypeAlias = Annotated[
    int | None, typer.Option("--threads", metavar="N", min=1, max=64, help="Jobs at a time, 2 unless given.")
]
KeysOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--keys",
        metavar="FILE",
        help="The file of signing keys; else MEMORANDA_SIGNING_KEYS_FILE, else one beside the store's file.",
        show_default=False,
    ),
]
EmbedderOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="The embedder, such as openai/text-embedding-3-small; else what a project's configuration names, "
        "else the local one.",
        show_default=False,
    ),
]
ModelOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--llm",
        metavar="NAME",
        help="The model for extraction; else what a project's configuration names, else the built-in rules.",
        show_default=False,
    ),
]


@dev_app.callback()
def dev(ctx: typer.Context, store: StoreOption = None) -> None:
    if store is not None:
        ctx.obj = store


@dev_app.command("up")
def dev_up_command(
    ctx: typer.Context,
    *,
    port: PortOption = None,
    config: ConfigOption = None,
    embedder: EmbedderOption = None,
    llm: ModelOption = None,
    log_level: LevelOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
    log_format: FormOption = None,
    log_file: LogFileOption = None,
    no_log: NoLogOption = False,
    store: StoreOption = None,
) -> None:
    """Serve a store to everybody on this machine, with its background work; no token is needed.

    Projects come to be at their first use. Ends with Ctrl-C.
    """
    from memoranda.server import run_dev_server

    words = Words(log_level or (None if verbose or quiet else "warn"), quiet, verbose, log_format, log_file, no_log)
    chosen = config or nearest_config(Path.cwd())
    settings: dict[str, Any] = {} if port is None else {"port": port}
    options = _options(named_store(ctx, store), words, settings, config=chosen, embedder=embedder, llm=llm)

    def announce(url: str) -> None:
        say(f"Memoranda serves {named_store(ctx, store)} at {url} (Ctrl-C ends it)")
        if chosen is not None:
            say(f"configured by {chosen}")
        say()
        say("In the shell of your agent:")
        say(f"  export AGENTIC_MEMORY_BASE_URL={url}")
        say("  unset AGENTIC_MEMORY_PROJECT_ID AGENTIC_MEMORY_SERVICE_ACCOUNT_TOKEN")
        say()
        say("Sessions are distilled when they fall quiet; at once: memoranda promote")
        say(f"API: {url}/docs")

    run_dev_server(options, announce)


def serve_command(
    ctx: typer.Context,
    *,
    host: HostOption = None,
    port: PortOption = None,
    workers: WorkersOption = None,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Do no background work here; leave it to `memoranda worker`.")
    ] = False,
    no_auth: Annotated[bool, typer.Option("--no-auth", help="Ask nobody for a token.")] = False,
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-unauthenticated-remote",
            help="With --no-auth: listen beyond this machine all the same, where everybody may read and write.",
        ),
    ] = False,
    keys: KeysOption = None,
    config: ConfigOption = None,
    embedder: EmbedderOption = None,
    llm: ModelOption = None,
    log_level: LevelOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
    log_format: FormOption = None,
    log_file: LogFileOption = None,
    no_log: NoLogOption = False,
    store: StoreOption = None,
) -> None:
    """Serve the projects of a store to those who have a token of a service account.

    On SIGTERM or Ctrl-C it accepts no more, answers what it accepted, and finishes or gives back its jobs.
    """
    from memoranda.server import run_server

    given = {"host": host, "port": port, "worker_threads": 0 if no_worker else workers}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if allow_remote:
        settings["allow_unauthenticated_remote"] = True
    words = Words(log_level, quiet, verbose, log_format, log_file, no_log)
    name = named_store(ctx, store)
    options = _options(name, words, settings, config=config, embedder=embedder, llm=llm, keys_file=keys)
    run_server(options, lambda url: say(f"Memoranda serves {name} at {url}"), authentication=not no_auth)


def worker_command(
    ctx: typer.Context,
    *,
    threads: ThreadsOption = None,
    embedder: EmbedderOption = None,
    llm: ModelOption = None,
    log_level: LevelOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = 0,
    log_format: FormOption = None,
    log_file: LogFileOption = None,
    no_log: NoLogOption = False,
    store: StoreOption = None,
) -> None:
    """Do the background work of all projects of a store, until SIGTERM or Ctrl-C. Any number may run at a time."""
    from memoranda.server import run_worker

    words = Words(log_level, quiet, verbose, log_format, log_file, no_log)
    name = named_store(ctx, store)
    require_store(name)
    settings: dict[str, Any] = {} if threads is None else {"worker_threads": threads}
    run_worker(
        _options(name, words, settings, embedder=embedder, llm=llm),
        lambda location: say(f"Memoranda works on {location}"),
    )


def _options(
    store: str,
    words: Words,
    settings: dict[str, Any],
    *,
    config: Path | None = None,
    embedder: str | None = None,
    llm: str | None = None,
    keys_file: str | None = None,
) -> StartOptions:
    from memoranda.server import StartOptions

    named = {} if embedder is None else {"embedder": embedder}
    return StartOptions(
        store=store,
        config=config,
        keys_file=keys_file or keys_file_from_environment(),
        llm=llm,
        logs=words.settings(),
        settings=settings,
        **named,
    )
