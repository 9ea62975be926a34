"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

import typer

from memoranda.cli.console import note
from memoranda.cli.ending import WrongUsageError

SOURCES: Final = ("stm", "semantic", "episodic", "procedural", "taxonomic")

Mode: TypeAlias = Literal["text", "semantic", "hybrid"]
Format: TypeAlias = Literal["openai", "claude", "jinja2"]

StoreOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH_OR_URL",
        help="The store; else MEMORANDA_STORE, else memory.db in the current folder.",
        show_default=False,
    ),
]
UserOption: TypeAlias = Annotated[
    str | None, typer.Option("--user", metavar="ID", help="Whose memory is read.", show_default=False)
]
SessionOption: TypeAlias = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Read turns and episodes of this session only.")
]
SourcesOption: TypeAlias = Annotated[
    str,
    typer.Option("--sources", metavar="LIST", help=f"Where to look, separated by commas: {', '.join(SOURCES)}."),
]
ModeOption: TypeAlias = Annotated[
    Mode | None,
    typer.Option(
        "--mode", help="How to look: by words, by vectors, or both (hybrid, the default).", show_default=False
    ),
]
ConfigOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="A project configuration (project-config.yaml).", show_default=False),
]
TimeoutOption: TypeAlias = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", min=0, help="Stop waiting after this time (exit code 3)."),
]
NoWaitOption: TypeAlias = Annotated[
    bool, typer.Option("--no-wait", help="Leave the background work to the next process that runs it.")
]
OrgOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--org-id", metavar="ID", help="Of the original; has no effect: there are only projects."),
]
ContextOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--context", metavar="NAME", help="Of the original; has no effect: --base-url names the server."),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]

ALL_SOURCES: Final = ",".join(SOURCES)


def parse_sources(text: str) -> tuple[str, ...]:
    """Return the sources that a list names, each once."""
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in SOURCES]
    if unknown:
        raise WrongUsageError(f"--sources: there is no source {unknown[0]!r}; choose from {', '.join(SOURCES)}")
    if not names:
        raise WrongUsageError(f"--sources names none; choose from {', '.join(SOURCES)}")
    return tuple(dict.fromkeys(names))


def note_unused(*, org_id: str | None = None, context: str | None = None) -> None:
    """Say on stderr of each option of the original that was given and means nothing here why that is so."""
    if org_id is not None:
        note("--org-id has no effect: a store has projects and no organisations")
    if context is not None:
        note("--context has no effect: the server is named by --base-url or AGENTIC_MEMORY_BASE_URL")


def require_given(name: str, value: str) -> str:
    """Return an argument that must not be blank."""
    if not value.strip():
        raise WrongUsageError(f"{name} is blank")
    return value
