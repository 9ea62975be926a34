"""The scope of a search."""

from memoranda.threads import SearchScope

__all__ = [
    "SearchScope",
]
