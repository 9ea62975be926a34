"""From the words of ``Memory.open`` to an engine: which store, which providers, which configuration."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from memoranda.engine.config import ProjectConfig, load_config
from memoranda.engine.engine import Providers
from memoranda.engine.extraction.items import Extractor
from memoranda.engine.extraction.local import LocalExtractor
from memoranda.engine.extraction.model_extractor import ModelExtractor
from memoranda.engine.jobs.failure import FailureClass, WorkError
from memoranda.engine.ports import ChatModel, Clock, Embedder, Reranker
from memoranda.engine.spending import MeteredChatModel
from memoranda.providers.local_embedder import LocalEmbedder
from memoranda.providers.registry import (
    LOCAL,
    chat_model_configured,
    chat_model_named,
    embedder_configured,
    embedder_named,
    reranker_named,
)
from memoranda.providers.tokens import estimate_tokens
from memoranda.sdk.errors import MemoryConfigError, MemoryConnectionError, MemoryNotSupportedError
from memoranda.sdk.protocol import DEFAULT_EMBEDDER
from memoranda.stores.sql.store import SqlStore
from memoranda.stores.sqlite import SqliteStore

IN_MEMORY = ":memory:"
"""Names a store that leaves nothing behind."""

_T = TypeVar("_T")


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


POSTGRES_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
PLACES = "a path, a URL, or a SQLAlchemy engine, psycopg pool or connection of a PostgreSQL database"


def open_store(path_or_url: object) -> SqlStore:
    """Open the store that a path or a URL names; ``:memory:`` is gone once it is closed.

    URLs are ``sqlite:///…`` and ``postgresql://…``. An SQLAlchemy engine (of the psycopg driver), a psycopg connection
    pool or a psycopg connection will do as well, and stay the caller's to close.
    """
    if not isinstance(path_or_url, str | os.PathLike):
        return _store_over(path_or_url)
    text = os.fspath(path_or_url)
    if not isinstance(text, str):
        raise MemoryConfigError(f"the path of the store is in bytes ({text!r}): pass text")
    if text == IN_MEMORY:
        return SqliteStore.open_temporary()
    if not text.strip():
        raise MemoryConfigError("the path of the store is blank: name a file, such as 'memory.db'")
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    if not scheme:
        return SqliteStore.open(text)
    if scheme == "sqlite":
        return SqliteStore.open(unquote(urlsplit(text).path.removeprefix("/")))
    if scheme in POSTGRES_SCHEMES:
        return _postgres(text)
    raise MemoryNotSupportedError(
        f"a store at {scheme}://… cannot be opened by this version: name a file, such as 'memory.db', "
        "or a PostgreSQL database (postgresql://user@host/database)"
    )


def _store_over(given: object) -> SqlStore:
    # Whoever has such an object has loaded its package; for anything else nothing is.
    if type(given).__module__.partition(".")[0] in {"sqlalchemy", "psycopg", "psycopg_pool"}:
        return _postgres(given)
    raise MemoryConfigError(f"a store cannot be opened by a {type(given).__name__}: pass {PLACES}")


@contextmanager
def driver_of_postgres() -> Iterator[None]:
    """Name the extra when what is imported in the block lacks its packages."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "memoranda":
            raise
        raise ImportError(
            f"a store in PostgreSQL needs more packages ({error.name} is missing): pip install 'memoranda[postgres]'",
            name=error.name,
        ) from error


def _postgres(place: object) -> SqlStore:
    """Open a store in PostgreSQL, whose driver is an extra."""
    with driver_of_postgres():
        from memoranda.stores.postgres import PostgresStore, is_lent  # noqa: PLC0415 - an extra, loaded when named
    if isinstance(place, str):
        return PostgresStore.open(place)
    if is_lent(place):
        return PostgresStore.over(place)
    raise MemoryConfigError(f"a store cannot be opened by this {type(place).__name__}: pass {PLACES}")


@dataclass(frozen=True, slots=True)
class Asked:
    """The providers as the words or objects of ``Memory.open``."""

    embedder: object | None
    llm: object | None
    reranker: object | None
    clock: object | None


def chosen_providers(asked: Asked, config: ProjectConfig) -> Providers:
    """Return what was asked for; where nothing was, what ``memory.voyage`` and ``memory.extraction_llm`` say.

    Raises ``MemoryConfigError`` for an unknown name or a missing key, ``MemoryNotSupportedError`` for a missing extra.
    """
    return Providers(
        clock=chosen_clock(asked.clock),
        count_tokens=estimate_tokens,
        extractor=chosen_extractor(asked.llm, config),
        embedder=chosen_embedder(asked.embedder, config),
        reranker=chosen_reranker(asked.reranker),
    )


def names_providers(config: ProjectConfig) -> bool:
    """Whether a configuration has a say in the providers."""
    return config.voyage is not None or config.extraction_llm is not None


def chosen_embedder(given: object | None, config: ProjectConfig) -> Embedder | None:
    """Return the embedder that was asked for; None means search by text alone."""
    if given is None:
        return None
    if given == DEFAULT_EMBEDDER:
        return LocalEmbedder() if config.voyage is None else _with_dimension(embedder_configured(config.voyage))
    if isinstance(given, str):
        return _with_dimension(embedder_named(given))
    return _satisfying(given, Embedder, "embedder")  # type: ignore[type-abstract]


def _with_dimension(embedder: Embedder) -> Embedder:
    """Return the embedder once it knows its dimension, which a project compares with that of its vectors."""
    try:
        if embedder.dimension > 0:
            return embedder
    except WorkError as error:
        message = f"the embedder {embedder.model_id!r} could not be asked for the dimension of its vectors: {error}"
        if error.failure_class in (FailureClass.TRANSIENT, FailureClass.RATE_LIMIT):
            raise MemoryConnectionError(message) from error
        raise MemoryConfigError(message) from error
    raise MemoryConfigError(f"the embedder {embedder.model_id!r} says that its vectors have no numbers")


def chosen_reranker(given: object | None) -> Reranker | None:
    if given is None:
        return None
    return reranker_named(given) if isinstance(given, str) else _satisfying(given, Reranker, "reranker")  # type: ignore[type-abstract]


def chosen_clock(given: object | None) -> Clock:
    return SystemClock() if given is None else _satisfying(given, Clock, "clock")  # type: ignore[type-abstract]


def chosen_extractor(given: object | None, config: ProjectConfig) -> Extractor:
    """Return what distils turns: a chat model asked by our prompt, an extractor, or (default) the built-in one."""
    if given is None and config.extraction_llm is not None:
        return _asking(chat_model_configured(config.extraction_llm))
    if given is None or given == LOCAL:
        return LocalExtractor()
    if isinstance(given, str):
        return _asking(chat_model_named(given))
    if isinstance(given, ChatModel):
        return _asking(given)
    return _satisfying(given, Extractor, "llm")  # type: ignore[type-abstract]


def _asking(model: ChatModel) -> ModelExtractor:
    return ModelExtractor(MeteredChatModel(model))


def chosen_config(given: object | None) -> ProjectConfig | None:
    """Return the configuration that was given, read and checked; None leaves the stored one in force."""
    if given is None or isinstance(given, ProjectConfig):
        return given
    if isinstance(given, os.PathLike):
        return load_config(Path(os.fspath(given)))
    if isinstance(given, str | Mapping):
        return load_config(given)
    raise MemoryConfigError(f"config is a {type(given).__name__}: pass a path, a mapping or a ProjectConfig")


def _satisfying(given: object, port: type[_T], name: str) -> _T:
    if isinstance(given, port):
        return given
    missing = sorted(member for member in _members(port) if not hasattr(given, member))
    raise MemoryConfigError(f"the {name} that was passed ({type(given).__name__}) lacks {', '.join(missing)}")


def _members(port: type) -> set[str]:
    declared = set(getattr(port, "__annotations__", ())) | set(vars(port))
    return {name for name in declared if not name.startswith("_")}
