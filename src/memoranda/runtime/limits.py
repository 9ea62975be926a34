"""How much one call may ask for."""

from __future__ import annotations

from memoranda.sdk.errors import MemoryBadRequestError

MAX_PAGE = 1_000


def page_size(limit: int) -> int:
    """Return how many items a page has; ``MemoryBadRequestError`` unless it is 1 to 1,000."""
    if not 1 <= limit <= MAX_PAGE:
        raise MemoryBadRequestError(f"limit is {limit}: give 1 to {MAX_PAGE} and follow next_cursor for more")
    return limit
