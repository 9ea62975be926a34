"""What the parts of a client share."""

from __future__ import annotations

from abc import ABC, abstractmethod

from memoranda.threads.client_parts import ClientParts
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.scope import check_id

OptionalId = str | NotSet | None


class ClientState(ABC):
    """A client's backend, model and settings."""

    @abstractmethod
    def _client_parts(self) -> ClientParts:
        """Return what the client stands on, whether it is closed or not."""


def owner_of(name: str, value: OptionalId) -> str | None:
    """Return the id of an owner; omitted and None are none. ``ValueError`` for an id that is empty or no text."""
    return None if value is NOT_SET or value is None else check_id(name, value)
