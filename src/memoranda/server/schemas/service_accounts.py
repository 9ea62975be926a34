"""Service accounts as they arrive and as they are told."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict, StrictBool, StrictInt

from memoranda.engine.control import ServiceAccount
from memoranda.server.access.accounts import DEFAULT_GRACE, DEFAULT_SECRET_HOURS


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CreateBody(_Body):
    """A new account; the lifetime of its secret is 90 days unless said."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "agents", "roles": ["AGENT_DEVELOPER"]}]})

    name: str
    roles: list[str]
    description: str = ""
    secret_expires_after_hours: StrictInt = DEFAULT_SECRET_HOURS
    ip_access_list: list[str] = []


class UpdateBody(_Body):
    """What to change; what is left out or null stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"roles": ["PROJECT_READ_ONLY"]}]})

    name: str | None = None
    description: str | None = None
    roles: list[str] | None = None
    is_active: StrictBool | None = None


class RotateBody(_Body):
    """The lifetime of the new secret, and for how long the old one stays good (0 to 168 hours)."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"grace_period_hours": 24}]})

    secret_expires_after_hours: StrictInt = DEFAULT_SECRET_HOURS
    grace_period_hours: StrictInt = int(DEFAULT_GRACE.total_seconds()) // 3600


class IpAccessListBody(_Body):
    """Addresses and CIDR blocks; an empty list allows every address."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ip_access_list": ["10.0.0.0/8", "192.0.2.7"]}]})

    ip_access_list: list[str]


class ServiceAccountView(BaseModel):
    """An account without what it hides."""

    client_id: str
    project_id: str
    name: str
    description: str
    roles: list[str]
    is_active: bool
    created_at: datetime
    updated_at: datetime
    secret_expires_at: datetime
    previous_secret_expires_at: datetime | None
    ip_access_list: list[str]

    @classmethod
    def of(cls, account: ServiceAccount) -> ServiceAccountView:
        previous = account.previous
        return cls(
            client_id=account.client_id,
            project_id=account.project_id,
            name=account.name,
            description=account.description,
            roles=list(account.roles),
            is_active=account.is_active,
            created_at=account.created_at,
            updated_at=account.updated_at,
            secret_expires_at=account.secret.expires_at,
            previous_secret_expires_at=None if previous is None else previous.expires_at,
            ip_access_list=list(account.ip_access_list),
        )


class AccountAnswer(BaseModel):
    """One account."""

    service_account: ServiceAccountView


class SecretAnswer(AccountAnswer):
    """One account with its new secret, which is told this once."""

    client_secret: str


class AccountsAnswer(BaseModel):
    """A page of accounts."""

    service_accounts: list[ServiceAccountView]
    next_cursor: str | None


class TokenAnswer(BaseModel):
    """An access token, for `expires_in` seconds."""

    access_token: str
    expires_in: int
    token_type: str
