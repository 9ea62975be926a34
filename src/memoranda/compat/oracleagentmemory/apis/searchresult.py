"""A result of a search."""

from memoranda.threads import SearchResult

__all__ = [
    "SearchResult",
]
