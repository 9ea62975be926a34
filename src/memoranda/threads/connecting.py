"""From what a client is opened with to its backend: which store, which project, which engine, under which policy."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from memoranda.engine.config import ProjectConfig
from memoranda.engine.engine import MemoryEngine
from memoranda.engine.ports import SharedStore, Store
from memoranda.engine.project import stored_config
from memoranda.engine.retrieval.plan import Mode
from memoranda.providers.registry import LOCAL as LOCAL_MODEL
from memoranda.runtime.databases import SchemaState, schema_state
from memoranda.runtime.opening import IN_MEMORY, POSTGRES_SCHEMES, Asked, chosen_providers, open_store
from memoranda.sdk.errors import MemoryConfigError
from memoranda.sdk.protocol import DEFAULT_EMBEDDER
from memoranda.threads.client_parts import LOCAL, ThreadLlm
from memoranda.threads.embedders import engine_embedder_of
from memoranda.threads.engine_backend import EngineBackend
from memoranda.threads.faults import builtin_faults
from memoranda.threads.llms import chat_model_of
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import (
    MemoryRetentionConfig,
    SchemaPolicy,
    SearchIndexSyncMode,
    SearchStrategy,
    is_integer,
    schema_policy_of,
)
from memoranda.threads.stored import Retention

DEFAULT_PROJECT: Final = "default"
CREATING: Final = frozenset({SchemaPolicy.CREATE_IF_EMPTY, SchemaPolicy.CREATE_IF_NECESSARY, SchemaPolicy.RECREATE})
_STORE_ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,15}")
_PREFIX: Final = re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,63}")
_MODES: Final = {
    SearchStrategy.VECTOR: Mode.SEMANTIC,
    SearchStrategy.HYBRID: Mode.HYBRID,
    SearchStrategy.KEYWORD: Mode.TEXT,
}
_HTTP: Final = ("http", "https")


@dataclass(frozen=True, slots=True)
class StoreArguments:
    """The arguments of a client that are for a store that it opens; what is omitted is ``NOT_SET``."""

    schema_policy: SchemaPolicy | str | NotSet = NOT_SET
    memory_store_id: str | NotSet = NOT_SET
    table_name_prefix: str | NotSet = NOT_SET
    schema_owner: str | NotSet = NOT_SET
    search_strategy: SearchStrategy | NotSet = NOT_SET
    search_index_sync: SearchIndexSyncMode | NotSet = NOT_SET
    memory_retention_config: MemoryRetentionConfig | NotSet = NOT_SET

    def given(self) -> list[str]:
        """Return the names of those that were given."""
        return [name for name in self.__slots__ if getattr(self, name) is not NOT_SET]


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The same, checked and decided."""

    project_id: str = DEFAULT_PROJECT
    policy: SchemaPolicy = SchemaPolicy.REQUIRE_EXISTING
    strategy: SearchStrategy = SearchStrategy.HYBRID
    retention: Retention | None = None

    @classmethod
    def of(cls, given: StoreArguments, *, without_embedder: bool) -> StoreSettings:
        """Check what was given; raises ``ValueError``, ``TypeError`` and ``RuntimeError`` before anything is opened."""
        if given.schema_owner is not NOT_SET:
            raise ValueError("schema_owner has no meaning here: connect as the role that owns the database")
        policy = SchemaPolicy.REQUIRE_EXISTING
        if given.schema_policy is not NOT_SET:
            policy = schema_policy_of(given.schema_policy)
        if policy is SchemaPolicy.NO_CHECK:
            raise RuntimeError(
                "schema_policy 'no_check' is for databases that check end users themselves, which is not supported; "
                "use 'require_existing'"
            )
        strategy = _strategy(given)
        if strategy is SearchStrategy.VECTOR and policy in CREATING and without_embedder:
            raise ValueError("a store that is searched by vectors alone needs an embedder to be created; give one")
        return cls(_project_id(given, policy), policy, strategy, _retention(given.memory_retention_config))


def _strategy(given: StoreArguments) -> SearchStrategy:
    strategy, sync = given.search_strategy, given.search_index_sync
    if strategy is not NOT_SET and not isinstance(strategy, SearchStrategy):
        raise TypeError(f"search_strategy is {strategy!r}; give a SearchStrategy")
    if sync is not NOT_SET and not isinstance(sync, SearchIndexSyncMode):
        raise TypeError(f"search_index_sync is {sync!r}; give a SearchIndexSyncMode")
    if sync is not NOT_SET and strategy is SearchStrategy.VECTOR:
        raise ValueError("search_index_sync is for an index of words; with SearchStrategy.VECTOR leave it out")
    if sync is SearchIndexSyncMode.AUTO and strategy is SearchStrategy.KEYWORD:
        raise ValueError("SearchIndexSyncMode.AUTO is for SearchStrategy.HYBRID alone")
    return SearchStrategy.HYBRID if strategy is NOT_SET else strategy


def _project_id(given: StoreArguments, policy: SchemaPolicy) -> str:
    store_id, prefix = given.memory_store_id, given.table_name_prefix
    if store_id is not NOT_SET and prefix is not NOT_SET:
        raise ValueError("memory_store_id and table_name_prefix both name the project; give memory_store_id")
    if store_id is not NOT_SET:
        if not isinstance(store_id, str) or not _STORE_ID.fullmatch(store_id):
            raise ValueError(
                f"memory_store_id is {store_id!r}; give up to 16 letters, digits and underscores, a letter first"
            )
        return store_id.upper()
    if prefix is NOT_SET or prefix == "":
        return DEFAULT_PROJECT
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise ValueError(f"table_name_prefix is {prefix!r}; give letters, digits and underscores, a letter first")
    if policy is not SchemaPolicy.REQUIRE_EXISTING:
        raise ValueError(f"table_name_prefix names a project that exists; with {policy.value!r} use memory_store_id")
    warnings.warn("table_name_prefix is deprecated; use memory_store_id", DeprecationWarning, stacklevel=5)
    return prefix


def _retention(given: MemoryRetentionConfig | NotSet) -> Retention | None:
    if given is NOT_SET:
        return None
    if not isinstance(given, MemoryRetentionConfig):
        raise TypeError(f"memory_retention_config is {given!r:.80}; give a MemoryRetentionConfig")
    default, most = (None if days is NOT_SET else days for days in (given.default_ttl_days, given.max_ttl_days))
    for name, days in (("default_ttl_days", default), ("max_ttl_days", most)):
        if days is not None and (not is_integer(days) or days < 1):
            raise ValueError(f"{name} is {days!r}; give a positive number of days, or None")
    if default is not None and most is not None and default > most:
        raise ValueError(f"default_ttl_days is {default}, above max_ttl_days, which is {most}; lower it")
    return Retention(default, most)


@dataclass(frozen=True, slots=True)
class OpenedStore:
    """A backend over an engine. ``end`` stops what the client itself started; ``release`` closes what it opened."""

    backend: EngineBackend
    end: Callable[[], None]
    release: Callable[[], None]


def _nothing() -> None:
    return None


def over_store(store: object, *, embedder: object, llm: ThreadLlm | None) -> OpenedStore:
    """Stand on a ready store or engine, which stays the caller's to close; ``TypeError`` for anything else."""
    if isinstance(store, EngineBackend):
        return OpenedStore(store, _nothing, _nothing)
    if isinstance(store, MemoryEngine):
        return OpenedStore(EngineBackend(store), _nothing, _nothing)
    if not all(callable(getattr(store, name, None)) for name in ("read", "write", "after_commit", "describe")):
        raise TypeError(f"store is a {type(store).__name__}; give a store or a MemoryEngine, or use connection=")
    with builtin_faults():
        engine = _engine(store, DEFAULT_PROJECT, _asked(embedder, llm))  # type: ignore[arg-type]  # looked at above
    return OpenedStore(EngineBackend(engine), engine.close, _nothing)


def open_connection(
    connection: object, settings: StoreSettings, *, embedder: object, llm: ThreadLlm | None
) -> OpenedStore:
    """Open what a connection names, as far as the schema policy allows.

    Raises ``TypeError`` for what is no connection, ``ValueError`` for one that cannot be, ``RuntimeError`` where the
    policy forbids it or the database cannot be opened.
    """
    mode = _MODES[settings.strategy]
    with builtin_faults():
        asked = _asked(None if mode is Mode.TEXT and embedder is NOT_SET else embedder, llm)
        # What cannot be had (a key that is missing, a model that is unknown) is told before a file is made.
        chosen_providers(asked, ProjectConfig())
        settings = _check_schema(connection, settings)
        with ExitStack() as undoing:
            store = _open(connection)
            undoing.callback(store.close)
            _check_project(store, settings)
            engine = _engine(store, settings.project_id, asked)
            undoing.callback(engine.close)
            backend = EngineBackend(engine, mode=mode)
            _keep_retention(backend, settings)
            undoing.pop_all()
    return OpenedStore(backend, engine.close, store.close)


def _open(connection: object) -> SharedStore:
    if isinstance(connection, str | os.PathLike):
        if _scheme(os.fspath(connection)) in _HTTP:
            raise ValueError("a server cannot be spoken to by this client; name a file or a database")
        return open_store(connection)
    try:
        return open_store(connection)
    except MemoryConfigError as error:
        raise TypeError(f"connection cannot be used: {error}") from error


def _asked(embedder: object, llm: ThreadLlm | None) -> Asked:
    model = None if llm is None else LOCAL_MODEL if llm == LOCAL else chat_model_of(llm)
    return Asked(embedder=_embedder(embedder), llm=model, reranker=None, clock=None)


def _engine(store: Store, project_id: str, asked: Asked) -> MemoryEngine:
    with store.read(project_id) as tx:
        config = stored_config(tx.projects.get())
    return MemoryEngine(store, project_id, chosen_providers(asked, config), config=None, worker=True)


def _embedder(given: object) -> object | None:
    if given is NOT_SET:
        return DEFAULT_EMBEDDER
    return None if given is None else engine_embedder_of(given)


# --- the schema policy


def _check_schema(connection: object, settings: StoreSettings) -> StoreSettings:
    """Hold what is there against the policy; of an object, only its project can be told, once it is open."""
    if not isinstance(connection, str | os.PathLike):
        return settings
    text = str(os.fspath(connection))
    if text == IN_MEMORY:
        # What leaves nothing behind cannot have been there before.
        return replace(settings, policy=SchemaPolicy.CREATE_IF_NECESSARY)
    if _scheme(text) in _HTTP:
        return settings
    state = _state_of(text)
    if settings.policy is SchemaPolicy.REQUIRE_EXISTING and state is None:
        raise RuntimeError(
            f"there is no store at {_shown(text)}; pass schema_policy='create_if_necessary' to create it"
        )
    outdated = state is not None and not state.is_current
    if outdated and settings.policy in (SchemaPolicy.REQUIRE_EXISTING, SchemaPolicy.CREATE_IF_EMPTY):
        raise RuntimeError(
            f"the store at {_shown(text)} has another schema than this version knows; pass "
            "schema_policy='create_if_necessary' to bring it up to date"
        )
    return settings


def _state_of(text: str) -> SchemaState | None:
    """Return the schema of what a path or a URL names; None where there is nothing yet."""
    if _scheme(text) not in POSTGRES_SCHEMES:
        path = Path(unquote(urlsplit(text).path.removeprefix("/")) if "://" in text else text).expanduser()
        if not path.exists() or path.stat().st_size == 0:
            return None
    state = schema_state(text)
    return None if state.found is None else state


def _check_project(store: SharedStore, settings: StoreSettings) -> None:
    there = settings.project_id in store.projects()
    if settings.policy is SchemaPolicy.REQUIRE_EXISTING and not there:
        raise RuntimeError(
            f"the store has no project {settings.project_id!r}; pass schema_policy='create_if_necessary' to create it, "
            "or name another with memory_store_id"
        )
    if settings.policy is SchemaPolicy.RECREATE and there:
        with store.write(settings.project_id) as tx:
            tx.projects.drop()


def _keep_retention(backend: EngineBackend, settings: StoreSettings) -> None:
    """Keep the lifetimes that were given where the policy lets the schema change; otherwise they have to be those."""
    if settings.retention is None or settings.retention == backend.retention():
        return
    if settings.policy is SchemaPolicy.REQUIRE_EXISTING:
        raise ValueError(
            f"the project keeps {backend.retention()}, not {settings.retention}; pass "
            "schema_policy='create_if_necessary' to change it"
        )
    backend.set_retention(settings.retention)


def _scheme(text: str) -> str:
    return text.partition("://")[0].lower() if "://" in text else ""


def _shown(text: str) -> str:
    """Return a path or a URL for people, without what may be secret."""
    return repr(text.rpartition("@")[2] if "://" in text else text)
