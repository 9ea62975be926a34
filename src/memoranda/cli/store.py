"""Which store a command works on, and how it is opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import typer

import memoranda
from memoranda.cli.ending import WrongUsageError
from memoranda.cli.environment import STORE_VARIABLE, store_from_environment

DEFAULT_STORE: Final = "memory.db"
_SQLITE_URL: Final = "sqlite:///"
_PASSWORD: Final = re.compile(r"^([a-z+]+://[^/:@]*):.*@", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Access:
    """What a command needs of a store: to make it when missing, its worker, its embedder, a project configuration."""

    create: bool = False
    worker: bool = False
    embedder: bool = True
    config: Path | None = None


READS: Final = Access()
"""For verbs that search: nothing is made or started."""

OVERSEES: Final = Access(embedder=False)
"""For verbs that need no vectors either."""


def named_store(ctx: typer.Context, store: str | None) -> str:
    """Return the store: after the verb, before it, in the environment, else `memory.db` in the current folder."""
    for name in (store, ctx.obj):
        if isinstance(name, str):
            if not name.strip():
                raise WrongUsageError("--store is blank; name a file or a URL")
            return name
    return store_from_environment() or DEFAULT_STORE


@contextmanager
def opened(store: str, access: Access) -> Iterator[memoranda.Memory]:
    """Open the store for one command and close it afterwards."""
    memory = _open(store, access)
    try:
        yield memory
    finally:
        memory.close()


def _open(store: str, access: Access) -> memoranda.Memory:
    if not access.create:
        require_store(store)
    try:
        if not access.embedder:
            return memoranda.Memory.open(store, config=access.config, worker=access.worker, embedder=None)
        return memoranda.Memory.open(store, config=access.config, worker=access.worker)
    except memoranda.MemoryConfigError as error:
        raise WrongUsageError(str(error)) from error
    except (memoranda.MemoryAPIError, ValueError, OSError, ImportError) as error:
        raise WrongUsageError(f"the store {shown(store)!r} cannot be opened: {error}") from error


def shown(store: str) -> str:
    """Return the name of a store for people: without the password of a URL."""
    return _PASSWORD.sub(r"\1:***@", store)


def require_store(store: str) -> None:
    """Refuse a file that is not there: a command that only reads makes no store."""
    file = _file(store)
    if file is None:
        return
    if not file.exists():
        raise WrongUsageError(
            f"there is no store at {store!r}; name one with --store PATH_OR_URL or {STORE_VARIABLE}, "
            "or make one: memoranda ingest FILE"
        )
    if file.is_file() and file.stat().st_size == 0:
        raise WrongUsageError(f"{store!r} is an empty file, not a store; name a store with --store PATH_OR_URL")


def _file(store: str) -> Path | None:
    """Return the file that a store is in, None for a URL of another kind."""
    if store.lower().startswith(_SQLITE_URL):
        return Path(unquote(store[len(_SQLITE_URL) :].partition("?")[0])).expanduser()
    return None if "://" in store else Path(store).expanduser()
