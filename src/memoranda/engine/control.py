"""The control plane: what a store knows beside its projects, found before a project is known.

A service account is looked up by its client id alone, which says nothing of the project it belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class SecretHash:
    """A client secret as it is kept: what it hashes to, and until when it is good."""

    digest: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """A credential of one project. ``previous`` is the secret before the last rotation, while it is still good."""

    client_id: str
    project_id: str
    name: str
    description: str
    roles: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    secret: SecretHash
    previous: SecretHash | None = None
    is_active: bool = True
    ip_access_list: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedProject:
    """A project of the store, as a listing of all of them shows it."""

    project_id: str
    org_id: str
    created_at: datetime


class AccountRows(Protocol):
    """The service accounts of all projects."""

    def get(self, client_id: str) -> ServiceAccount | None:
        """Return an account of whatever project, active or not."""
        ...

    def put(self, account: ServiceAccount) -> None:
        """Insert or replace; the project and the time of creation of an account never change."""
        ...

    def of_project(self, project_id: str, *, after: str = "", limit: int) -> Sequence[ServiceAccount]:
        """Return accounts of a project by client id, those behind ``after``."""
        ...


class ProjectList(Protocol):
    """The projects of the store."""

    def all(self, *, after: str = "", limit: int) -> Sequence[ListedProject]:
        """Return projects by id, those behind ``after``."""
        ...

    def has(self, project_id: str) -> bool: ...


class ControlTransaction(Protocol):
    """One consistent view, or one atomic change, of the control plane."""

    @property
    def accounts(self) -> AccountRows: ...
    @property
    def projects(self) -> ProjectList: ...


@runtime_checkable
class ControlStore(Protocol):
    """A store's control plane. Thread-safe; survives a fork."""

    def control(self, *, write: bool = False) -> AbstractContextManager[ControlTransaction]:
        """Open a consistent view, or with ``write`` an atomic, durable change; an exception undoes all of it."""
        ...
