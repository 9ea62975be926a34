"""The environment variables of the command line, read here and nowhere else."""

from __future__ import annotations

import os
from typing import Final

STORE_VARIABLE: Final = "MEMORANDA_STORE"
KEYS_VARIABLE: Final = "MEMORANDA_SIGNING_KEYS_FILE"


def store_from_environment() -> str | None:
    """Return the store that the environment names; a blank variable is not set."""
    return _named_by(STORE_VARIABLE)


def keys_file_from_environment() -> str | None:
    """Return the file of signing keys that the environment names; a blank variable is not set."""
    return _named_by(KEYS_VARIABLE)


def _named_by(variable: str) -> str | None:
    value = os.environ.get(variable, "")
    return value if value.strip() else None
