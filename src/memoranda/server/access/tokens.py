"""Access tokens: signed for an hour, pinned to a project, and optionally bound to one end user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import jwt

from memoranda.engine.control import ServiceAccount
from memoranda.engine.ports import Clock
from memoranda.engine.text import require_storable_id
from memoranda.sdk.errors import MemoryAuthError, MemoryBadRequestError
from memoranda.server.access.signing_keys import TOKEN_LIFETIME, SigningKeys

AUDIENCE: Final = "memoranda/memory"
ISSUER: Final = "memoranda"
MAX_USER_ID: Final = 512
_ALGORITHM: Final = "HS256"
_MAX_TOKEN: Final = 8192
_REQUIRED: Final = ["iss", "aud", "sub", "iat", "exp", "project_id"]
_SECOND: Final = timedelta(seconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_REMEDY: Final = "get one from POST /api/v1/oauth/token"


@dataclass(frozen=True, slots=True)
class MintedToken:
    """A token, as its bearer gets it."""

    access_token: str = field(repr=False)
    expires_in: int


@dataclass(frozen=True, slots=True)
class Claims:
    """What a token that verified says."""

    client_id: str
    project_id: str
    user_id: str | None


class Tokens:
    """Mints and verifies tokens. Thread-safe."""

    def __init__(self, keys: SigningKeys, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    def mint(self, account: ServiceAccount, *, user_id: str | None = None) -> MintedToken:
        """Return a token for the account; with ``user_id`` it is good for the memory of that one end user only."""
        key = self._keys.current()
        issued = (self._clock.now() - _EPOCH) // _SECOND
        lifetime = TOKEN_LIFETIME // _SECOND
        claims: dict[str, object] = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": account.client_id,
            "project_id": account.project_id,
            "roles": list(account.roles),
            "iat": issued,
            "exp": issued + lifetime,
        }
        if user_id is not None:
            claims["user_id"] = _checked_user(user_id)
        return MintedToken(jwt.encode(claims, key.secret, _ALGORITHM, headers={"kid": key.kid}), lifetime)

    def verify(self, token: str) -> Claims:
        """Return what a token says; ``MemoryAuthError`` (401) for one that we did not sign, or that has expired."""
        if len(token) > _MAX_TOKEN:
            raise _invalid("it is too long")
        try:
            claims, expires = _read(self._decoded(token))
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
            raise _invalid(_why(error)) from None
        if expires <= (self._clock.now() - _EPOCH) / _SECOND:
            raise MemoryAuthError(
                f"the access token has expired (tokens live for an hour): {_REMEDY}", status=401, code="TOKEN_EXPIRED"
            )
        return claims

    def _decoded(self, token: str) -> dict[str, object]:
        kid = jwt.get_unverified_header(token).get("kid")
        key = self._keys.find(kid) if isinstance(kid, str) else None
        if key is None:
            raise jwt.InvalidKeyError
        return jwt.decode(
            token,
            key.secret,
            algorithms=[_ALGORITHM],
            audience=AUDIENCE,
            issuer=ISSUER,
            # The times are compared with our own clock.
            options={"require": _REQUIRED, "verify_exp": False, "verify_iat": False, "verify_nbf": False},
        )


def _read(claims: Mapping[str, object]) -> tuple[Claims, int]:
    """Return what is claimed, and until when; ``TypeError`` for a claim of another type."""
    client_id, project_id, user_id, expires = (claims.get(name) for name in ("sub", "project_id", "user_id", "exp"))
    if not isinstance(client_id, str) or not isinstance(project_id, str) or not isinstance(expires, int):
        raise TypeError("a claim has another type")
    if user_id is not None and not isinstance(user_id, str):
        raise TypeError("a claim has another type")
    return Claims(client_id, project_id, user_id), expires


def _checked_user(user_id: str) -> str:
    if not user_id.strip() or len(user_id) > MAX_USER_ID:
        raise MemoryBadRequestError(
            f"user_id must have 1 to {MAX_USER_ID} characters, not all blank (got {user_id[:40]!r})",
            code="INVALID_REQUEST",
        )
    return require_storable_id("user_id", user_id)


def _why(error: Exception) -> str:
    if isinstance(error, jwt.InvalidKeyError):
        return "its signing key is not known here, or was retired"
    if isinstance(error, jwt.InvalidAudienceError | jwt.InvalidIssuerError | jwt.MissingRequiredClaimError):
        return "it is not one of this service"
    return "it is malformed, or its signature is wrong"


def _invalid(why: str) -> MemoryAuthError:
    return MemoryAuthError(f"the access token is not valid: {why}; {_REMEDY}", status=401, code="TOKEN_INVALID")
