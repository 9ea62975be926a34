"""Rows of the control plane: service accounts by client id, and the list of projects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

from sqlalchemy import BindParameter, bindparam, select

from memoranda.engine.control import ListedProject, SecretHash, ServiceAccount
from memoranda.stores.schema import projects, service_accounts
from memoranda.stores.sql.codec import from_micros, optional_micros, to_json, to_micros
from memoranda.stores.sql.statement import Executor, Row, Statement
from memoranda.stores.sql.upsert import insert

_PROJECT: BindParameter[str] = bindparam("project_id")
_AFTER: BindParameter[str] = bindparam("after")
_LIMIT: BindParameter[int] = bindparam("limit")
_FIXED = ("client_id", "project_id", "created_at")
_CHANGING = (
    "name",
    "description",
    "roles",
    "updated_at",
    "secret_hash",
    "secret_expires_at",
    "previous_hash",
    "previous_expires_at",
    "is_active",
    "ip_access_list",
)
_COLUMNS = [service_accounts.c[name] for name in (*_FIXED, *_CHANGING)]

_GET = Statement(select(*_COLUMNS).where(service_accounts.c.client_id == bindparam("client_id")))
_PUT = Statement(
    insert(service_accounts)
    .values({name: bindparam(name) for name in (*_FIXED, *_CHANGING)})
    .on_conflict_do_update(index_elements=["client_id"], set_={name: bindparam(name) for name in _CHANGING})
)
_OF_PROJECT = Statement(
    select(*_COLUMNS)
    .where(service_accounts.c.project_id == _PROJECT, service_accounts.c.client_id > _AFTER)
    .order_by(service_accounts.c.client_id)
    .limit(_LIMIT)
)
_PROJECTS = Statement(
    select(projects.c.project_id, projects.c.org_id, projects.c.created_at)
    .where(projects.c.project_id > _AFTER)
    .order_by(projects.c.project_id)
    .limit(_LIMIT)
)
_HAS_PROJECT = Statement(select(projects.c.project_id).where(projects.c.project_id == _PROJECT))


class SqlAccountRows:
    """``AccountRows`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def get(self, client_id: str) -> ServiceAccount | None:
        row = self._sql.one(_GET, client_id=client_id)
        return None if row is None else _account(row)

    def put(self, account: ServiceAccount) -> None:
        previous = account.previous
        self._sql.execute(
            _PUT,
            client_id=account.client_id,
            project_id=account.project_id,
            created_at=to_micros(account.created_at),
            name=account.name,
            description=account.description,
            roles=to_json(account.roles),
            updated_at=to_micros(account.updated_at),
            secret_hash=account.secret.digest,
            secret_expires_at=to_micros(account.secret.expires_at),
            previous_hash=None if previous is None else previous.digest,
            previous_expires_at=optional_micros(None if previous is None else previous.expires_at),
            is_active=int(account.is_active),
            ip_access_list=to_json(account.ip_access_list),
        )

    def of_project(self, project_id: str, *, after: str = "", limit: int) -> Sequence[ServiceAccount]:
        rows = self._sql.all(_OF_PROJECT, project_id=project_id, after=after, limit=limit)
        return [_account(row) for row in rows]


class SqlProjectList:
    """``ProjectList`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    def all(self, *, after: str = "", limit: int) -> Sequence[ListedProject]:
        rows = self._sql.all(_PROJECTS, after=after, limit=limit)
        return [ListedProject(row[0], row[1], from_micros(row[2])) for row in rows]

    def has(self, project_id: str) -> bool:
        return self._sql.one(_HAS_PROJECT, project_id=project_id) is not None


class SqlControl:
    """``ControlTransaction`` over SQL."""

    def __init__(self, sql: Executor) -> None:
        self._sql = sql

    @cached_property
    def accounts(self) -> SqlAccountRows:
        return SqlAccountRows(self._sql)

    @cached_property
    def projects(self) -> SqlProjectList:
        return SqlProjectList(self._sql)


def _account(row: Row) -> ServiceAccount:
    client_id, project_id, created_at, name, description, roles, updated_at = row[:7]
    digest, expires_at, previous_digest, previous_expires_at, is_active, ip_access_list = row[7:]
    kept = previous_digest is not None
    return ServiceAccount(
        client_id=client_id,
        project_id=project_id,
        name=name,
        description=description,
        roles=tuple(json.loads(roles)),
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
        secret=SecretHash(digest, from_micros(expires_at)),
        previous=SecretHash(previous_digest, from_micros(previous_expires_at)) if kept else None,
        is_active=bool(is_active),
        ip_access_list=tuple(json.loads(ip_access_list)),
    )
