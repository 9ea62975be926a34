"""From the words of ``Memory.open`` to an engine: which store, which providers, which configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from memoranda.engine.config import ProjectConfig, load_config
from memoranda.engine.extraction.items import Extractor
from memoranda.engine.extraction.local import LocalExtractor
from memoranda.engine.extraction.model_extractor import ModelExtractor
from memoranda.engine.ports import ChatModel, Clock, Embedder, Reranker
from memoranda.providers.local_embedder import LocalEmbedder
from memoranda.sdk.errors import MemoryConfigError, MemoryNotSupportedError
from memoranda.sdk.protocol import DEFAULT_EMBEDDER
from memoranda.stores.sqlite import SqliteStore

LOCAL = "local"
"""Names the built-in extractor, as an ``llm``, and the built-in embedder, as an ``embedder``."""

IN_MEMORY = ":memory:"
"""Names a store that leaves nothing behind."""

_T = TypeVar("_T")


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def open_store(path_or_url: str | os.PathLike[str]) -> SqliteStore:
    """Open the store that a path or a URL (``sqlite:///…``) names; ``:memory:`` is gone once it is closed."""
    text = os.fspath(path_or_url)
    if text == IN_MEMORY:
        return SqliteStore.open_temporary()
    if not text.strip():
        raise MemoryConfigError("the path of the store is blank: name a file, such as 'memory.db'")
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    if not scheme:
        return SqliteStore.open(text)
    if scheme == "sqlite":
        return SqliteStore.open(unquote(urlsplit(text).path.removeprefix("/")))
    raise MemoryNotSupportedError(
        f"a store at {scheme}://… cannot be opened by this version: name a file, such as 'memory.db'"
    )


def chosen_embedder(given: object | None) -> Embedder | None:
    """Return the embedder that was asked for; None means search by text alone."""
    if given is None:
        return None
    if given in (DEFAULT_EMBEDDER, LOCAL):
        return LocalEmbedder()
    if isinstance(given, str):
        raise MemoryNotSupportedError(
            f"embedder {given!r} cannot be named in this version: pass {LOCAL!r}, None, or an object with the "
            "attributes of memoranda.engine.ports.Embedder"
        )
    return _satisfying(given, Embedder, "embedder")  # type: ignore[type-abstract]


def chosen_reranker(given: object | None) -> Reranker | None:
    return None if given is None else _satisfying(given, Reranker, "reranker")  # type: ignore[type-abstract]


def chosen_clock(given: object | None) -> Clock:
    return SystemClock() if given is None else _satisfying(given, Clock, "clock")  # type: ignore[type-abstract]


def chosen_extractor(given: object | None) -> Extractor:
    """Return what distils turns: a chat model asked by our prompt, an extractor, or (default) the built-in one."""
    if given is None or given == LOCAL:
        return LocalExtractor()
    if isinstance(given, str):
        raise MemoryNotSupportedError(
            f"llm {given!r} cannot be named in this version: pass {LOCAL!r}, None, or an object with the "
            "attributes of memoranda.engine.ports.ChatModel"
        )
    if isinstance(given, ChatModel):
        return ModelExtractor(given)
    return _satisfying(given, Extractor, "llm")  # type: ignore[type-abstract]


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
