"""What every part of the facade stands on: the shared connection and the identity bound to a handle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel

from memoranda.sdk._connection import Connection
from memoranda.sdk.identity import resolve_identity, widens, without_user
from memoranda.sdk.protocol import MemoryRequestContext

M = TypeVar("M", bound=BaseModel)


class Handle:
    """A connection with the identity bound to it; base of the parts of `Memory`."""

    _connection: Connection
    _context: MemoryRequestContext | None

    def _identity(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        required: tuple[str, ...] = (),
    ) -> MemoryRequestContext:
        call = MemoryRequestContext(user_id=user_id, agent_id=agent_id, session_id=session_id)
        return resolve_identity(call, bound=self._context, ambient=self._connection.ambient(), required=required)

    def _reader(
        self, *, user_id: str | None = None, session_id: str | None = None, visibility: str | None = None
    ) -> MemoryRequestContext:
        """Resolve who reads: a visibility wider than private sets the ambient user aside."""
        call = MemoryRequestContext(user_id=user_id, session_id=session_id)
        ambient = self._connection.ambient()
        if widens(visibility):
            ambient = without_user(ambient)
        return resolve_identity(call, bound=self._context, ambient=ambient)


def as_model(model: type[M], result: M | Mapping[str, object]) -> M:
    """Return a client's result as the model; clients may answer with plain mappings."""
    return result if isinstance(result, model) else model.model_validate(result)
