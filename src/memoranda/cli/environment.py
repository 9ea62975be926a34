"""The environment variables of the command line, read here and nowhere else."""

from __future__ import annotations

import os
from typing import Final

STORE_VARIABLE: Final = "MEMORANDA_STORE"


def store_from_environment() -> str | None:
    """Return the store that the environment names; a blank variable is not set."""
    value = os.environ.get(STORE_VARIABLE, "")
    return value if value.strip() else None
