"""Who is calling, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

PROJECT_OWNER: Final = "PROJECT_OWNER"
AGENT_DEVELOPER: Final = "AGENT_DEVELOPER"

_WRITERS: Final = frozenset({PROJECT_OWNER, AGENT_DEVELOPER})


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller that was let in. With a ``user_id`` it speaks for that one end user, else for any."""

    client_id: str
    project_id: str
    roles: frozenset[str]
    user_id: str | None = None

    @property
    def can_read(self) -> bool:
        return bool(self.roles)

    @property
    def can_write(self) -> bool:
        return bool(self.roles & _WRITERS)

    @property
    def can_manage(self) -> bool:
        """Whether it may act on the project as a whole; whoever speaks for one end user may not."""
        return PROJECT_OWNER in self.roles and self.user_id is None


class Gatekeeper(Protocol):
    """Decides who is let in. Called from many threads."""

    def admit(self, authorization: str | None, *, project_id: str | None, client_host: str | None) -> Principal:
        """Return who sent this ``Authorization`` header; ``project_id`` is that of the path, None on flat routes.

        Raises ``MemoryAuthError`` with ``status`` 401 or 403.
        """
        ...


class OpenGatekeeper:
    """Lets everybody in as owner, whatever they send: for a server that listens on loopback alone."""

    def __init__(self, default_project: str = "default") -> None:
        self._default_project = default_project
        self._roles = frozenset({PROJECT_OWNER})

    def admit(self, authorization: str | None, *, project_id: str | None, client_host: str | None) -> Principal:
        return Principal("anonymous", project_id or self._default_project, self._roles)
