"""Service accounts of a project, for its owners."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Final, TypeAlias

from fastapi import APIRouter, Depends, Query, Request, Response

from memoranda.engine.control import ServiceAccount
from memoranda.server.access.accounts import MAX_PAGE, AccountChange, AccountDraft, NewSecret, ServiceAccounts
from memoranda.server.answers import answer
from memoranda.server.dependencies import MemoryRoute, Right, TheCall, needs
from memoranda.server.documents import Tag, told
from memoranda.server.schemas.service_accounts import (
    AccountAnswer,
    AccountsAnswer,
    CreateBody,
    IpAccessListBody,
    RotateBody,
    SecretAnswer,
    ServiceAccountView,
    UpdateBody,
)

router = APIRouter(route_class=MemoryRoute)

_ACCOUNT: Final = {
    "client_id": "ae_sa_id_c4v982fdlrjydzm8no7txcwg",
    "project_id": "shop",
    "name": "agents",
    "description": "",
    "roles": ["AGENT_DEVELOPER"],
    "is_active": True,
    "created_at": "2026-03-01T08:30:00Z",
    "updated_at": "2026-03-01T08:30:00Z",
    "secret_expires_at": "2026-05-30T08:30:00Z",
    "previous_secret_expires_at": None,
    "ip_access_list": [],
}
_TOLD: Final[dict[str, Any]] = told(Tag.ACCESS, {"service_account": _ACCOUNT}, model=AccountAnswer)
_CHANGED: Final[dict[str, Any]] = told(Tag.ACCESS, {"service_account": _ACCOUNT}, model=AccountAnswer, errors=(409,))
_SECRET: Final = {"client_secret": "ae_sa_sk_…", "service_account": _ACCOUNT}
_PAGE: Final = {"service_accounts": [_ACCOUNT], "next_cursor": None}

_MANAGES = needs(Right.MANAGE, runtime=False)


async def _the_accounts(request: Request) -> ServiceAccounts:
    accounts: ServiceAccounts = request.app.state.gatekeeper.access.accounts
    return accounts


Accounts: TypeAlias = Annotated[ServiceAccounts, Depends(_the_accounts)]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=MAX_PAGE)]


@router.get("/service-accounts", **told(Tag.ACCESS, _PAGE, model=AccountsAnswer))
@_MANAGES
def list_accounts(call: TheCall, accounts: Accounts, limit: Limit = 50, cursor: str | None = None) -> Response:
    """List the accounts of the project, ended ones too, by client id."""
    page = accounts.list(call.principal.project_id, limit=limit, cursor=cursor)
    views = [ServiceAccountView.of(each) for each in page.items]
    return answer({"service_accounts": views, "next_cursor": page.next_cursor})


@router.post("/service-accounts", **told(Tag.ACCESS, _SECRET, model=SecretAnswer))
@_MANAGES
def create_account(call: TheCall, accounts: Accounts, body: CreateBody) -> Response:
    """Make an account. Its secret is told in this answer and never again."""
    draft = AccountDraft(body.name, body.roles, body.description, body.secret_expires_after_hours, body.ip_access_list)
    return _with_secret(accounts.create(call.principal.project_id, draft))


@router.get("/service-accounts/{client_id}", **_TOLD)
@_MANAGES
def get_account(call: TheCall, accounts: Accounts, client_id: str) -> Response:
    """Tell one account."""
    return _told(accounts.get(call.principal.project_id, client_id))


@router.patch("/service-accounts/{client_id}", **_CHANGED)
@_MANAGES
def update_account(call: TheCall, accounts: Accounts, client_id: str, body: UpdateBody) -> Response:
    """Change an account; new roles count at once. `is_active: false` ends it for good."""
    change = AccountChange(body.name, body.description, body.roles, body.is_active)
    return _told(accounts.update(call.principal.project_id, client_id, change))


@router.delete("/service-accounts/{client_id}", **_TOLD)
@_MANAGES
def delete_account(call: TheCall, accounts: Accounts, client_id: str) -> Response:
    """End an account with its tokens, at once and for good. It stays listed, not active."""
    return _told(accounts.delete(call.principal.project_id, client_id))


@router.post("/service-accounts/{client_id}/rotate", **told(Tag.ACCESS, _SECRET, model=SecretAnswer, errors=(409,)))
@_MANAGES
def rotate_secret(call: TheCall, accounts: Accounts, client_id: str, body: RotateBody | None = None) -> Response:
    """Give an account a new secret; the present one stays good for a while, the one before it ends."""
    asked = body or RotateBody()
    grace = timedelta(hours=asked.grace_period_hours)
    hours = asked.secret_expires_after_hours
    return _with_secret(accounts.rotate(call.principal.project_id, client_id, secret_hours=hours, grace=grace))


@router.put("/service-accounts/{client_id}/ip-access-list", **_CHANGED)
@_MANAGES
def set_ip_access_list(call: TheCall, accounts: Accounts, client_id: str, body: IpAccessListBody) -> Response:
    """Set from which addresses an account may be used."""
    return _told(accounts.set_ip_access_list(call.principal.project_id, client_id, body.ip_access_list))


def _told(account: ServiceAccount) -> Response:
    return answer({"service_account": ServiceAccountView.of(account)})


def _with_secret(new: NewSecret) -> Response:
    made = {"client_secret": new.client_secret, "service_account": ServiceAccountView.of(new.account)}
    response = answer(made)
    response.headers["Cache-Control"] = "no-store"
    return response
