"""Service accounts: the credentials of a project, from their making to their end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from memoranda.engine.control import ControlStore, ControlTransaction, SecretHash, ServiceAccount
from memoranda.engine.cursors import decode_cursor, encode_cursor
from memoranda.engine.ports import Clock
from memoranda.engine.project import check_project_id
from memoranda.engine.text import clean_text
from memoranda.sdk.errors import (
    MemoryBadRequestError,
    MemoryConflictError,
    MemoryNotFoundError,
    MemoryNotProvisionedError,
)
from memoranda.server.access.addresses import read_ip_access_list
from memoranda.server.access.roles import read_roles
from memoranda.server.access.secrets import SecretHasher, is_client_id, new_client_id, new_secret

logger = logging.getLogger(__name__)

DEFAULT_SECRET_HOURS: Final = 2160
MAX_SECRET_HOURS: Final = 87_600
DEFAULT_GRACE: Final = timedelta(days=7)
MAX_PAGE: Final = 500
_MAX_NAME: Final = 100
_MAX_DESCRIPTION: Final = 1000


@dataclass(frozen=True, slots=True)
class NewSecret:
    """An account with its secret, which is told this once and kept nowhere."""

    account: ServiceAccount
    client_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class AccountPage:
    """A page of a project's accounts, by client id."""

    items: Sequence[ServiceAccount]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class AccountDraft:
    """What a new account is made from; the lifetime of its secret in hours, 1 to 87,600."""

    name: str
    roles: Sequence[str]
    description: str = ""
    secret_hours: int = DEFAULT_SECRET_HOURS
    ip_access_list: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AccountChange:
    """What is changed of an account; None leaves it as it is. ``is_active`` false ends it for good."""

    name: str | None = None
    description: str | None = None
    roles: Sequence[str] | None = None
    is_active: bool | None = None


class ServiceAccounts:
    """The service accounts of a store. Thread-safe; every change is seen by all processes with their next request."""

    def __init__(self, store: ControlStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._hasher = SecretHasher()

    def create(self, project_id: str, draft: AccountDraft) -> NewSecret:
        """Make an account of an existing project.

        Raises ``MemoryNotProvisionedError`` when there is no such project, ``MemoryBadRequestError`` for a draft that
        cannot be used.
        """
        check_project_id(project_id)
        secret = new_secret()
        now = self._clock.now()
        account = ServiceAccount(
            client_id=new_client_id(),
            project_id=project_id,
            name=_checked_name(draft.name),
            description=_checked_description(draft.description),
            roles=read_roles(draft.roles),
            created_at=now,
            updated_at=now,
            secret=SecretHash(self._hasher.hash(secret), now + _checked_lifetime(draft.secret_hours)),
            ip_access_list=read_ip_access_list(draft.ip_access_list),
        )
        with self._store.control(write=True) as tx:
            if not tx.projects.has(project_id):
                raise _unknown_project(project_id)
            tx.accounts.put(account)
        logger.info("service_account.created", extra={"client_id": account.client_id, "project_id": project_id})
        return NewSecret(account, secret)

    def list(self, project_id: str, *, limit: int = 50, cursor: str | None = None) -> AccountPage:
        """Return accounts of a project, ended ones too, 1 to 500 a page."""
        if not 1 <= limit <= MAX_PAGE:
            raise MemoryBadRequestError(f"limit must be 1 to {MAX_PAGE} (got {limit})", code="INVALID_REQUEST")
        question = ("service-accounts", project_id)
        after = "" if cursor is None else str(decode_cursor(question, cursor, (str,))[0])
        with self._store.control() as tx:
            found = tx.accounts.of_project(project_id, after=after, limit=limit + 1)
        items = found[:limit]
        more = len(found) > limit
        return AccountPage(items, encode_cursor(question, (items[-1].client_id,)) if more else None)

    def get(self, project_id: str, client_id: str) -> ServiceAccount:
        """Return an account of this project; ``MemoryNotFoundError`` when it has no such one."""
        found = self.find(client_id)
        return _of_project(found, project_id, client_id)

    def find(self, client_id: str) -> ServiceAccount | None:
        """Return an account of whatever project."""
        with self._store.control() as tx:
            return _found(tx, client_id)

    def update(self, project_id: str, client_id: str, change: AccountChange) -> ServiceAccount:
        """Change an account; new roles count at once, for tokens that are out already too.

        Raises ``MemoryNotFoundError``, or ``MemoryConflictError`` for an account that was ended.
        """
        if change.is_active is False:
            return self.delete(project_id, client_id)
        return self._changed(project_id, client_id, lambda account: _updated(account, change))

    def set_ip_access_list(self, project_id: str, client_id: str, entries: Sequence[str]) -> ServiceAccount:
        """Set from where an account may be used; an empty list means from everywhere."""
        checked = read_ip_access_list(entries)
        return self._changed(project_id, client_id, lambda account: replace(account, ip_access_list=checked))

    def rotate(
        self,
        project_id: str,
        client_id: str,
        *,
        secret_hours: int = DEFAULT_SECRET_HOURS,
        grace: timedelta = DEFAULT_GRACE,
    ) -> NewSecret:
        """Give an account a new secret; the present one is good for ``grace`` more (0 to 7 days), or until it expires.

        The one before the present, if it is still in its grace, ends now.
        """
        if not timedelta() <= grace <= DEFAULT_GRACE:
            raise MemoryBadRequestError(
                f"the grace period must be 0 to {DEFAULT_GRACE // timedelta(hours=1)} hours "
                f"(got {grace / timedelta(hours=1):g})",
                code="INVALID_REQUEST",
            )
        lifetime = _checked_lifetime(secret_hours)
        secret = new_secret()
        digest = self._hasher.hash(secret)
        now = self._clock.now()
        ends = now + grace

        def rotated(account: ServiceAccount) -> ServiceAccount:
            left = replace(account.secret, expires_at=min(account.secret.expires_at, ends))
            previous = left if left.expires_at > now else None
            return replace(account, secret=SecretHash(digest, now + lifetime), previous=previous)

        account = self._changed(project_id, client_id, rotated)
        logger.info("service_account.rotated", extra={"client_id": client_id, "project_id": project_id})
        return NewSecret(account, secret)

    def delete(self, project_id: str, client_id: str) -> ServiceAccount:
        """End an account for good, with its tokens, at once; again is harmless. It stays listed, not active."""
        now = self._clock.now()
        with self._store.control(write=True) as tx:
            account = _of_project(_found(tx, client_id), project_id, client_id)
            if account.is_active:
                account = replace(account, is_active=False, secret=SecretHash("", now), previous=None, updated_at=now)
                tx.accounts.put(account)
        logger.info("service_account.ended", extra={"client_id": client_id, "project_id": project_id})
        return account

    def authenticate(self, client_id: str, secret: str) -> ServiceAccount | None:
        """Return the active account that a client id and a secret belong to; None for any that do not."""
        account = self.find(client_id)
        now = self._clock.now()
        digests = _good_digests(account, now=now) if account is not None and account.is_active else []
        return account if self._hasher.matches(secret, digests) else None

    def _changed(
        self, project_id: str, client_id: str, change: Callable[[ServiceAccount], ServiceAccount]
    ) -> ServiceAccount:
        with self._store.control(write=True) as tx:
            account = _of_project(_found(tx, client_id), project_id, client_id)
            if not account.is_active:
                raise MemoryConflictError(
                    f"service account {client_id!r} was ended, which cannot be undone: create another",
                    code="ACCOUNT_INACTIVE",
                )
            account = replace(change(account), updated_at=self._clock.now())
            tx.accounts.put(account)
        return account


def _found(tx: ControlTransaction, client_id: str) -> ServiceAccount | None:
    return tx.accounts.get(client_id) if is_client_id(client_id) else None


def _good_digests(account: ServiceAccount, *, now: datetime) -> Sequence[str]:
    secrets = [account.secret] if account.previous is None else [account.secret, account.previous]
    return [secret.digest for secret in secrets if secret.expires_at > now]


def _of_project(account: ServiceAccount | None, project_id: str, client_id: str) -> ServiceAccount:
    """Return the account; one of another project is as unknown as one that is not there."""
    if account is None or account.project_id != project_id:
        raise MemoryNotFoundError(
            f"project {project_id!r} has no service account {client_id[:60]!r}", code="SERVICE_ACCOUNT_NOT_FOUND"
        )
    return account


def _updated(account: ServiceAccount, change: AccountChange) -> ServiceAccount:
    return replace(
        account,
        name=account.name if change.name is None else _checked_name(change.name),
        description=account.description if change.description is None else _checked_description(change.description),
        roles=account.roles if change.roles is None else read_roles(change.roles),
    )


def _checked_name(name: str) -> str:
    cleaned = clean_text(name).strip()
    if not 1 <= len(cleaned) <= _MAX_NAME:
        raise MemoryBadRequestError(
            f"the name of a service account has 1 to {_MAX_NAME} characters (got {name[:40]!r})", code="INVALID_REQUEST"
        )
    return cleaned


def _checked_description(description: str) -> str:
    if len(description) > _MAX_DESCRIPTION:
        raise MemoryBadRequestError(
            f"the description has {len(description)} characters, at most {_MAX_DESCRIPTION} are allowed",
            code="INVALID_REQUEST",
        )
    return clean_text(description)


def _checked_lifetime(hours: int) -> timedelta:
    if not 1 <= hours <= MAX_SECRET_HOURS:
        raise MemoryBadRequestError(
            f"a secret is good for 1 to {MAX_SECRET_HOURS} hours (got {hours})", code="INVALID_REQUEST"
        )
    return timedelta(hours=hours)


def _unknown_project(project_id: str) -> MemoryNotProvisionedError:
    return MemoryNotProvisionedError(
        f"there is no project {project_id!r} in the store: make it with `memoranda project create`",
        code="NO_WORKSPACE_ENDPOINT",
    )
