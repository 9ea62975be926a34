"""A store's accounts, keys and projects without a server: what an operator works on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memoranda.engine.control import ControlStore, ListedProject
from memoranda.engine.ports import Clock, StoreDescription
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked, SystemClock, chosen_config, open_store
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConfigError, MemoryNotFoundError
from memoranda.server.access.accounts import ServiceAccounts
from memoranda.server.access.gatekeeper import Access
from memoranda.server.access.signing_keys import SigningKeys

KEYS_SUFFIX = ".signing-keys.json"


def keys_file_of(store: StoreDescription, given: str | os.PathLike[str] | None = None) -> Path:
    """Return where the signing keys of a store are: the file that was given, else one beside the store's own file.

    Raises ``MemoryConfigError`` for a store that is no file, when none was given.
    """
    if given is not None:
        return Path(given).expanduser().absolute()
    if store.dialect != "sqlite":
        raise MemoryConfigError(
            f"a store at {store.location} has no file to keep the signing keys beside: name one that all processes of "
            "the server can read (MEMORANDA_SIGNING_KEYS_FILE)"
        )
    return Path(store.location + KEYS_SUFFIX)


@dataclass(frozen=True, slots=True)
class Administration:
    """What an operator may change in an open store."""

    access: Access
    host: EngineHost
    store: ControlStore

    @property
    def accounts(self) -> ServiceAccounts:
        return self.access.accounts

    def projects(self, *, limit: int) -> Sequence[ListedProject]:
        """Return the first projects by id."""
        with self.store.control() as tx:
            return tx.projects.all(limit=limit)

    def create_project(self, project_id: str, config: Path | None = None) -> None:
        """Create a project; ``MemoryConflictError`` when there is one of this id."""
        self.host.create(project_id, chosen_config(config))

    def project_of(self, client_id: str, project_id: str | None) -> str:
        """Return the project of an account. Raises when there is no such account, or another project is named."""
        found = self.accounts.find(client_id)
        if found is None:
            raise MemoryNotFoundError(
                f"there is no service account {client_id[:60]!r}; see: memoranda service-account list",
                code="SERVICE_ACCOUNT_NOT_FOUND",
            )
        if project_id is not None and project_id != found.project_id:
            raise MemoryBadRequestError(f"service account {client_id!r} is one of project {found.project_id!r}")
        return found.project_id


@contextmanager
def open_administration(
    store: str | os.PathLike[str],
    *,
    keys_file: str | os.PathLike[str] | None = None,
    clock: Clock | None = None,
) -> Iterator[Administration]:
    """Open a store for its operator and close it afterwards; nothing of it is loaded but what is asked for."""
    opened = open_store(store)
    host = EngineHost(opened, asked=Asked(embedder=None, llm=None, reranker=None, clock=clock))
    try:
        used = clock or SystemClock()
        keys = SigningKeys(keys_file_of(opened.describe(), keys_file), used)
        yield Administration(Access.of(opened, keys, used), host, opened)
    finally:
        host.close()
