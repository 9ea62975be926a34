"""Identity and visibility, compiled to the one predicate that every read uses.

Each dimension is ANY (``None``), NONE (the empty string) or a value; dimensions combine with AND. Ids are compared
byte for byte and nothing is a pattern (design-storage.md, "Scope").
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from memoranda.engine.records import VISIBILITIES


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a project that a read may see.

    ``None`` leaves a dimension open, ``""`` asks for records without it.
    """

    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    visibility: str | None = None

    def visibilities(self) -> tuple[str, ...]:
        """Return the visibility values to read, so that a user's records are key ranges and not a filter."""
        return VISIBILITIES if self.visibility is None else (self.visibility,)

    def matches(self, *, user_id: str, agent_id: str, session_id: str, visibility: str) -> bool:
        """Return whether a record with this identity is inside the scope (the plain form of the predicate)."""
        pairs = (
            (self.user_id, user_id),
            (self.agent_id, agent_id),
            (self.session_id, session_id),
            (self.visibility, visibility),
        )
        return all(wanted is None or wanted == actual for wanted, actual in pairs)

    def narrowed(self, *, session_id: str | None) -> Scope:
        """Return this scope with the session dimension replaced."""
        return replace(self, session_id=session_id)


def blank_is_any(value: str | None) -> str | None:
    """Read a caller's identity argument the SDK's way: blank or absent leaves the dimension open."""
    return value if value is not None and value.strip() else None
