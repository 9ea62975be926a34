"""The errors under their other address."""

from memoranda.sdk.errors import (
    MemoryAPIError,
    MemoryAuthError,
    MemoryBadRequestError,
    MemoryClientError,
    MemoryConnectionError,
    MemoryIdentityError,
    MemoryNotProvisionedError,
    MemoryNotSupportedError,
    MemoryRouteNotFoundError,
    MemoryServerError,
)

__all__ = [
    "MemoryAPIError",
    "MemoryAuthError",
    "MemoryBadRequestError",
    "MemoryClientError",
    "MemoryConnectionError",
    "MemoryIdentityError",
    "MemoryNotProvisionedError",
    "MemoryNotSupportedError",
    "MemoryRouteNotFoundError",
    "MemoryServerError",
]
