"""`memoranda export` and `memoranda import`: a project as a file of JSON lines, and back."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from io import SEEK_END
from pathlib import Path
from tempfile import NamedTemporaryFile, SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Annotated, Any, Final

import typer

import memoranda
from memoranda.cli.console import counted, print_json, progress, say
from memoranda.cli.ending import KEPT, WrongUsageError, complain
from memoranda.cli.options import ConfigOption, JsonOption, StoreOption
from memoranda.cli.store import named_store, require_store

if TYPE_CHECKING:
    from memoranda.engine.portability.importing import ImportReport

_SPOOL: Final = 8 * 1024 * 1024
_PLURALS: Final = {"memory": "memories"}


def export_command(
    ctx: typer.Context,
    *,
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="Where to write it; - is stdout.", show_default=False)
    ] = "-",
    vectors: Annotated[bool, typer.Option("--vectors", help="Write the vectors, too.")] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write all that the store holds to a file of JSON lines, which import reads.

    Needs no embedder and no model. The file appears when it is complete.
    """
    from memoranda.runtime.portability import export_project

    name = named_store(ctx, store)
    require_store(name)
    if as_json and file == "-":
        raise WrongUsageError("--json prints the report on stdout, where the export goes: name a FILE")
    with progress("exporting") as bar, _written(file) as write:
        counts = export_project(name, write, vectors=vectors, progress=bar.set)
    if as_json:
        print_json({"file": file, "counts": counts, "vectors": vectors})
    elif file != "-":
        say(f"exported to {file}: {_named(counts)}")


@contextmanager
def _written(file: str) -> Iterator[Callable[[str], object]]:
    """Give a function that writes text; a file gets its name once all of it is written and durable."""
    if file == "-":
        # As it is, whatever the terminal's encoding: an export is UTF-8.
        yield lambda text: sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
        return
    target = Path(file)
    try:
        part = NamedTemporaryFile(  # noqa: SIM115 - closed below, and only opening is told as a wrong file
            "w", encoding="utf-8", newline="", dir=target.parent, prefix=f".{target.name}.", delete=False
        )
    except OSError as error:
        raise WrongUsageError(f"{file}: cannot be written ({error.strerror})") from error
    try:
        with part:
            yield part.write
            part.flush()
            os.fsync(part.fileno())
        Path(part.name).replace(target)
    except BaseException:
        Path(part.name).unlink(missing_ok=True)
        raise


def import_command(
    ctx: typer.Context,
    *,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file that export wrote; - is stdin.", show_default=False)
    ],
    merge: Annotated[
        bool,
        typer.Option("--merge", help="Add what a store that is not empty lacks; what it has stays as it is."),
    ] = False,
    vectors: Annotated[
        bool, typer.Option("--vectors/--no-vectors", help="Take the vectors of the file, or have new ones made.")
    ] = True,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Read a file that export wrote into a store that is empty or not there.

    The file is checked as a whole before any of it is imported. With --merge the same file again adds what is missing.
    """
    name = named_store(ctx, store)
    shown = "stdin" if file == "-" else file
    with _readable(file) as stream:
        counts, report = _import(name, stream, shown, {"merge": merge, "vectors": vectors, "config": config})
    if as_json:
        print_json({"counts": counts, **asdict(report)})
    else:
        _show_import(shown, name, counts, report)
    if report.conflicts:
        raise typer.Exit(KEPT)


def _import(store: str, stream: IO[bytes], shown: str, options: dict[str, Any]) -> tuple[dict[str, int], ImportReport]:
    from memoranda.runtime.portability import open_import

    size = stream.seek(0, SEEK_END)
    try:
        with open_import(store, stream, name=shown, **options) as opened:
            with progress(f"checking {shown}", size) as bar:
                counts = opened.check(bar.advance)
            with progress(f"importing {shown}", size) as bar:
                return counts, opened.run(bar.advance)
    except memoranda.MemoryBadRequestError as error:
        # The file, or the store that was named for it, is wrong.
        raise WrongUsageError(error.message) from error


@contextmanager
def _readable(file: str) -> Iterator[IO[bytes]]:
    """Open a file that is read twice; stdin is kept in a temporary one."""
    if file == "-":
        with SpooledTemporaryFile(max_size=_SPOOL) as spool:
            while block := sys.stdin.buffer.read(1024 * 1024):
                spool.write(block)
            yield spool
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 - closed below, and only opening is told as a wrong file
    except OSError as error:
        raise WrongUsageError(f"{file}: cannot be read ({error.strerror})") from error
    with stream:
        yield stream


def _show_import(file: str, store: str, counts: Mapping[str, int], report: ImportReport) -> None:
    say(f"{file}: {_named(counts)}")
    there = f"; there already: {_named(report.existing)}" if report.existing else ""
    say(f"imported into {store}: {_named(report.added)}{there}")
    if report.awaiting:
        say(f"{counted(report.awaiting, 'record')} wait for their vectors: memoranda promote makes them")
    if report.conflicts:
        say(f"not imported, because the store has others in their place: {_named(report.conflicts)}")
        for reason in report.refused:
            complain(f"{file}, {reason}")


def _named(counts: Mapping[str, int]) -> str:
    return ", ".join(counted(count, noun, _PLURALS.get(noun)) for noun, count in sorted(counts.items())) or "nothing"
