"""The command line: each verb parses, calls and prints.

`run` is what the console script calls. Errors that a user can cause end in one line on stderr and an exit code of
`ending.EXIT_CODES`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from memoranda._version import __version__
from memoranda.cli.changes_command import changes_command
from memoranda.cli.config_command import config_app
from memoranda.cli.db_command import db_app
from memoranda.cli.delete_command import delete_user_command
from memoranda.cli.ending import (
    EXIT_CODES,
    INTERRUPTED,
    UNREAD,
    USAGE,
    CommandError,
    complain,
    give_up_stdout,
    told_in_one_line,
)
from memoranda.cli.failures_command import failures_app
from memoranda.cli.memory_command import memory_app
from memoranda.cli.options import StoreOption
from memoranda.cli.portability_commands import export_command, import_command
from memoranda.cli.project_command import project_app
from memoranda.cli.read_commands import context_command, history_command, search_command, status_command
from memoranda.cli.rebuild_commands import reembed_command, reindex_command
from memoranda.cli.server_commands import dev_app, serve_command, worker_command
from memoranda.cli.service_account_command import service_account_app
from memoranda.cli.signing_key_command import signing_key_app
from memoranda.cli.write_commands import demo_command, ingest_command, promote_command

_EPILOG = "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + "."


class CommandLine(TyperGroup):
    """The root of the command line: it ends every command with an exit code, and every expected error with one line."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> int:
        """Run one command; return its exit code, or exit with it in standalone mode."""
        words = sys.argv[1:] if args is None else list(args)
        code = self._ended(words or ["--help"], prog_name, extra)
        if standalone_mode:
            sys.exit(code)
        return code

    def _ended(self, words: list[str], prog_name: str | None, extra: dict[str, Any]) -> int:
        try:
            result = super().main(words, prog_name or "memoranda", standalone_mode=False, **extra)
            sys.stdout.flush()
        except CommandError as error:
            complain(error.message)
            if error.exit_code == UNREAD:
                give_up_stdout()
            return error.exit_code
        except typer.TyperException as error:
            complain(error.format_message())
            return USAGE
        except typer.Abort:
            return INTERRUPTED
        except (BrokenPipeError, SystemExit):
            # Typer and Rich exit on their own for one reason only: nobody reads what they print.
            give_up_stdout()
            return UNREAD
        return result if isinstance(result, int) else 0

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was chosen, with errors told in one line."""
        with told_in_one_line():
            return super().invoke(ctx)


app = typer.Typer(
    cls=CommandLine,
    name="memoranda",
    help="Memory for AI agents: record conversations, distil memories from them, and give the right part back.",
    epilog=_EPILOG,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"memoranda {__version__}")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    store: StoreOption = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    ctx.obj = store


app.command("demo")(demo_command)
app.command("ingest")(ingest_command)
app.command("search")(search_command)
app.command("context")(context_command)
app.command("history")(history_command)
app.command("changes")(changes_command)
app.command("status")(status_command)
app.command("promote")(promote_command)
app.command("reembed")(reembed_command)
app.command("reindex")(reindex_command)
app.command("export")(export_command)
app.command("import")(import_command)
app.command("delete-user")(delete_user_command)
app.command("serve")(serve_command)
app.command("worker")(worker_command)
app.add_typer(dev_app, name="dev")
app.add_typer(memory_app, name="memory")
app.add_typer(failures_app, name="failures")
app.add_typer(config_app, name="config")
app.add_typer(db_app, name="db")
app.add_typer(project_app, name="project")
app.add_typer(service_account_app, name="service-account")
app.add_typer(signing_key_app, name="signing-key")


def run(argv: list[str] | None = None) -> int:
    """Run the command line with `argv` (default: the process's own arguments) and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character is no reason to fail half-way through a table.
            stream.reconfigure(errors="backslashreplace")
    code = get_command(app).main(args=argv, prog_name="memoranda", standalone_mode=False)
    return code if isinstance(code, int) else 0
