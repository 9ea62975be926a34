"""The token desk: a client shows its credentials and gets a token, unless it tries too often."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from memoranda.engine.control import ServiceAccount
from memoranda.sdk.errors import MemoryBadRequestError
from memoranda.server.access.accounts import ServiceAccounts
from memoranda.server.access.addresses import is_allowed
from memoranda.server.access.secrets import is_client_id
from memoranda.server.access.throttle import Throttle
from memoranda.server.access.tokens import MintedToken, Tokens

logger = logging.getLogger(__name__)

GRANT: Final = "client_credentials"
TRIES_PER_MINUTE: Final = 600
"""How often one address may ask."""
FAILURES_PER_MINUTE: Final = 20
"""How often one address may be wrong about one client; no other address is made to wait for it."""
FAILURES_OF_AN_ADDRESS: Final = 300


class TokenRefusedError(Exception):
    """No token: an error of RFC 6749. ``retry_after`` is in seconds, with status 429 only."""

    def __init__(self, status: int, error: str, description: str, *, retry_after: int | None = None) -> None:
        super().__init__(description)
        self.status = status
        self.error = error
        self.description = description
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """What a client asks with. ``user_id`` (ours, beyond the RFC) binds the token to one end user."""

    grant_type: str | None
    client_id: str | None
    client_secret: str | None = field(repr=False)
    user_id: str | None = None


class TokenDesk:
    """Issues tokens. Thread-safe; the limits are those of one process."""

    def __init__(
        self, accounts: ServiceAccounts, tokens: Tokens, *, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._accounts = accounts
        self._tokens = tokens
        self._tries = Throttle(TRIES_PER_MINUTE, seconds=seconds)
        self._failures = Throttle(FAILURES_PER_MINUTE, seconds=seconds)
        self._failures_of_an_address = Throttle(FAILURES_OF_AN_ADDRESS, seconds=seconds)

    def issue(self, request: TokenRequest, client_host: str | None) -> MintedToken:
        """Return a token for the account whose credentials these are. Raises ``TokenRefusedError``."""
        _check_grant(request.grant_type)
        client_id, secret = _credentials(request)
        account = self._admitted(client_id, secret, client_host or "unknown")
        if not is_allowed(client_host, account.ip_access_list):
            raise TokenRefusedError(401, "invalid_client", "the service account may not be used from this address")
        try:
            minted = self._tokens.mint(account, user_id=request.user_id)
        except MemoryBadRequestError as error:
            raise TokenRefusedError(400, "invalid_request", error.message) from None
        logger.info(
            "token.issued",
            extra={
                "client_id": client_id,
                "project_id": account.project_id,
                "bound": request.user_id is not None,
            },
        )
        return minted

    def _admitted(self, client_id: str, secret: str, host: str) -> ServiceAccount:
        known = client_id if is_client_id(client_id) else ""
        wrong = f"{host} {known}"
        waits = (self._failures.wait(wrong), self._failures_of_an_address.wait(host), self._tries.spend(host))
        if any(waits):
            raise _too_often(max(waits))
        account = self._accounts.authenticate(client_id, secret)
        if account is None:
            self._failures.spend(wrong)
            self._failures_of_an_address.spend(host)
            logger.warning("token.refused", extra={"client_id": known, "client_host": host})
            raise TokenRefusedError(
                401,
                "invalid_client",
                "there is no active service account with this client id and secret; the secret may have expired, or "
                "been rotated",
            )
        return account


def _check_grant(grant_type: str | None) -> None:
    if not grant_type:
        raise TokenRefusedError(400, "invalid_request", f"grant_type is missing: send grant_type={GRANT}")
    if grant_type != GRANT:
        raise TokenRefusedError(400, "unsupported_grant_type", f"the only grant_type is {GRANT}")


def _credentials(request: TokenRequest) -> tuple[str, str]:
    if not request.client_id or not request.client_secret:
        raise TokenRefusedError(
            401,
            "invalid_client",
            "the client credentials are missing: send client id and secret by HTTP Basic, or as client_id and "
            "client_secret in the body",
        )
    return request.client_id, request.client_secret


def _too_often(seconds: int) -> TokenRefusedError:
    return TokenRefusedError(
        429,
        "temporarily_unavailable",
        f"too many requests for tokens, or too many wrong ones: try again in {seconds} s",
        retry_after=seconds,
    )
