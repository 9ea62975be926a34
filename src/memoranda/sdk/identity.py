"""Who a call is for: call argument, else the bound context, else the ambient one, field by field."""

from __future__ import annotations

from collections.abc import Iterable

from memoranda.sdk.errors import MemoryIdentityError
from memoranda.sdk.protocol import MemoryRequestContext


def is_blank(value: str | None) -> bool:
    """Whether a value counts as not given: None, empty or only whitespace."""
    return value is None or (isinstance(value, str) and not value.strip())


def resolve_identity(
    call: MemoryRequestContext | None = None,
    *,
    bound: MemoryRequestContext | None = None,
    ambient: MemoryRequestContext | None = None,
    required: Iterable[str] = (),
) -> MemoryRequestContext:
    """Return the first value that is not blank of call, bound and ambient, per field; values are not trimmed.

    Raises MemoryIdentityError naming every `required` field that stays unset.
    """
    tiers = [tier for tier in (call, bound, ambient) if tier is not None]
    resolved = MemoryRequestContext(
        user_id=_first_set(tiers, "user_id"),
        agent_id=_first_set(tiers, "agent_id"),
        session_id=_first_set(tiers, "session_id"),
    )
    missing = [name for name in required if getattr(resolved, name) is None]
    if missing:
        raise MemoryIdentityError(f"could not resolve required identity field(s): {', '.join(missing)}")
    return resolved


def _first_set(tiers: list[MemoryRequestContext], name: str) -> str | None:
    for tier in tiers:
        value: str | None = getattr(tier, name)
        if not is_blank(value):
            return value
    return None


def widens(visibility: str | None) -> bool:
    """Whether a read with this visibility reaches beyond one user, so that an ambient user must not narrow it.

    Anything that was given counts, except `private`: also a blank string.
    """
    return visibility is not None and visibility != "private"


def without_user(context: MemoryRequestContext | None) -> MemoryRequestContext | None:
    """Return the context without its user."""
    return context and context.model_copy(update={"user_id": None})
