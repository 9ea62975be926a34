"""What the verbs of an operator share: a store's accounts, keys and projects, without a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from memoranda.cli.ending import WrongUsageError
from memoranda.cli.environment import keys_file_from_environment
from memoranda.cli.store import require_store

if TYPE_CHECKING:
    from memoranda.server import Administration

DEFAULT_PROJECT: Final = "default"
DEFAULT_URL: Final = "http://127.0.0.1:8080"

_LIFETIME: Final = re.compile(r"(\d{1,6})([hd]?)")

KeysOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--keys",
        metavar="FILE",
        help="The file of signing keys; else MEMORANDA_SIGNING_KEYS_FILE, else one beside the store's file.",
        show_default=False,
    ),
]
LimitOption: TypeAlias = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=500, help="The most to print.")]


@contextmanager
def administered(store: str, *, create: bool = False, keys_file: str | None = None) -> Iterator[Administration]:
    """Open the store for its operator; one that is not there is refused, unless it may be made."""
    from memoranda.server import open_administration

    if not create:
        require_store(store)
    with open_administration(store, keys_file=keys_file or keys_file_from_environment()) as found:
        yield found


def hours_of(option: str, text: str) -> int:
    """Return a length of time in hours: `36h`, `90d`, or a number of hours."""
    found = _LIFETIME.fullmatch(text.strip())
    if found is None:
        raise WrongUsageError(f"{option} is {text!r}: give hours or days, such as 36h or 90d")
    return int(found[1]) * (24 if found[2] == "d" else 1)


def grace_of(option: str, text: str) -> timedelta:
    """Return such a length of time."""
    return timedelta(hours=hours_of(option, text))
