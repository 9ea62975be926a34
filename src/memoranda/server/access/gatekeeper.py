"""Who is let in by a token: its signature, its account as it stands now, its project and its address are all asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from memoranda.engine.control import ControlStore, ServiceAccount
from memoranda.engine.ports import Clock
from memoranda.sdk.errors import MemoryAuthError
from memoranda.server.access.accounts import ServiceAccounts
from memoranda.server.access.addresses import is_allowed
from memoranda.server.access.desk import TokenDesk
from memoranda.server.access.principal import Principal
from memoranda.server.access.signing_keys import SigningKeys
from memoranda.server.access.tokens import Claims, Tokens

_SCHEME: Final = "bearer"


@dataclass(frozen=True, slots=True)
class Access:
    """All that guards one store."""

    accounts: ServiceAccounts
    keys: SigningKeys
    tokens: Tokens

    @classmethod
    def of(cls, store: ControlStore, keys: SigningKeys, clock: Clock) -> Access:
        """Put together what guards a store, with the keys in this file."""
        return cls(ServiceAccounts(store, clock), keys, Tokens(keys, clock))


class AccessGatekeeper:
    """``Gatekeeper`` by access tokens. Thread-safe."""

    def __init__(self, access: Access, desk: TokenDesk | None = None) -> None:
        self.access = access
        self.desk = desk or TokenDesk(access.accounts, access.tokens)

    def admit(self, authorization: str | None, *, project_id: str | None, client_host: str | None) -> Principal:
        """Return who sent the header. 401: no token, or none that is good; 403: a good one that may not do this.

        The account is read with each request: one that was ended is refused at once, and its roles are those of now.
        """
        claims = self.access.tokens.verify(_bearer(authorization))
        account = self._account(claims)
        if not is_allowed(client_host, account.ip_access_list):
            raise MemoryAuthError(
                f"service account {account.client_id!r} may not be used from {client_host or 'an unknown address'}: "
                "add the address to its IP access list",
                status=403,
                code="ADDRESS_NOT_ALLOWED",
            )
        if project_id is not None and project_id != account.project_id:
            raise MemoryAuthError(
                f"the access token is for project {account.project_id!r}, the path names {project_id[:200]!r}",
                status=403,
                code="PROJECT_MISMATCH",
            )
        return Principal(account.client_id, account.project_id, frozenset(account.roles), claims.user_id)

    def _account(self, claims: Claims) -> ServiceAccount:
        account = self.access.accounts.find(claims.client_id)
        if account is None or not account.is_active or account.project_id != claims.project_id:
            raise MemoryAuthError(
                f"service account {claims.client_id!r} was ended: create another", status=401, code="ACCOUNT_INACTIVE"
            )
        return account


def _bearer(authorization: str | None) -> str:
    scheme, _, token = (authorization or "").strip().partition(" ")
    if scheme.lower() != _SCHEME or not token.strip():
        raise MemoryAuthError(
            "this server asks for an access token: send the header `Authorization: Bearer TOKEN`, with a token from "
            "POST /api/v1/oauth/token",
            status=401,
            code="TOKEN_MISSING",
        )
    return token.strip()
