"""Where and as whom a `Memory` connects over HTTP: arguments and environment, resolved and checked. No I/O."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from memoranda.sdk._environment import (
    BASE_URL_VARIABLE,
    LEGACY_TOKEN_VARIABLE,
    TOKEN_VARIABLE,
    Environment,
)

HOSTED_BASE_URL: Final = "https://agentengine.mongodb.com"


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """A base URL without trailing slash, the token (verbatim) and the project, the last two optional."""

    base_url: str
    token: str | None = field(default=None, repr=False)
    project_id: str | None = None

    @property
    def base_path(self) -> str:
        """The path that every memory route starts with. Only the presence of a project picks its shape."""
        if self.project_id is None:
            return "/api/v1/memory"
        return f"/api/v1/projects/{quote(self.project_id, safe='')}/memory"


def resolve_settings(
    *,
    service_account_token: str | None,
    api_key: str | None,
    base_url: str | None,
    project_id: str | None,
    environment: Environment,
) -> HttpSettings:
    """Return the settings of a connection; an argument wins over the environment.

    Raises ValueError on a blank token or base URL argument, on both kinds of token, and where no base URL results.
    Warns (DeprecationWarning) when the token is an `api_key`.
    """
    _require_text(service_account_token=service_account_token, api_key=api_key, base_url=base_url)
    token = service_account_token or environment.service_account_token
    legacy = api_key or environment.api_key
    if token and legacy:
        raise ValueError(
            f"pass only one of service_account_token ({TOKEN_VARIABLE}) and the deprecated api_key "
            f"({LEGACY_TOKEN_VARIABLE})"
        )
    url = _base_url(base_url or environment.base_url, has_token=bool(token or legacy))
    if legacy:
        warnings.warn(
            f"api_key ({LEGACY_TOKEN_VARIABLE}) is deprecated; use service_account_token ({TOKEN_VARIABLE})",
            DeprecationWarning,
            stacklevel=3,
        )
    # A blank argument is a choice: it unsets a project that the environment names.
    project = environment.project_id if project_id is None else project_id
    return HttpSettings(base_url=url, token=token or legacy, project_id=(project or "").strip() or None)


def _require_text(**arguments: str | None) -> None:
    for name, value in arguments.items():
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise ValueError(f"{name} must be a non-empty string")


def _base_url(url: str | None, *, has_token: bool) -> str:
    if url is None and has_token:
        url = HOSTED_BASE_URL
    if url is None:
        raise ValueError(
            f"Memory requires base_url, the {BASE_URL_VARIABLE} environment variable, or an auth token "
            f"(service_account_token; deprecated alias api_key), which falls back to the hosted default "
            f"{HOSTED_BASE_URL}; for a memory in a local file use Memory.open('memory.db')"
        )
    return url.strip().removesuffix("/")
