"""The owners of records."""

from memoranda.threads import Scope

__all__ = [
    "Scope",
]
