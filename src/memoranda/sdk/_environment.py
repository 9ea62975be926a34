"""The environment variables of the SDK, read here and nowhere else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

TOKEN_VARIABLE: Final = "AGENTIC_MEMORY_SERVICE_ACCOUNT_TOKEN"
LEGACY_TOKEN_VARIABLE: Final = "AGENTIC_MEMORY_API_KEY"
BASE_URL_VARIABLE: Final = "AGENTIC_MEMORY_BASE_URL"
PROJECT_VARIABLE: Final = "AGENTIC_MEMORY_PROJECT_ID"


@dataclass(frozen=True, slots=True)
class Environment:
    """The variables as found; a blank one is None, a set one is not trimmed."""

    service_account_token: str | None = None
    api_key: str | None = None
    base_url: str | None = None
    project_id: str | None = None


def read_environment() -> Environment:
    """Read the variables now; nothing is remembered between calls."""
    return Environment(
        service_account_token=_variable(TOKEN_VARIABLE),
        api_key=_variable(LEGACY_TOKEN_VARIABLE),
        base_url=_variable(BASE_URL_VARIABLE),
        project_id=_variable(PROJECT_VARIABLE),
    )


def _variable(name: str) -> str | None:
    value = os.environ.get(name)
    return value if value and value.strip() else None
