"""What every part of the facade stands on: the shared connection and the identity bound to a handle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from memoranda.sdk.errors import MemoryNotSupportedError
from memoranda.sdk.identity import resolve_identity, widens, without_user
from memoranda.sdk.protocol import (
    AmbientIdentityRuntime,
    MemoryCrudClient,
    MemoryManagement,
    MemoryRequestContext,
    MemoryRuntime,
)

M = TypeVar("M", bound=BaseModel)


class Closeable(Protocol):
    """Something that holds resources."""

    def close(self) -> None:
        """Release them; more than once is harmless."""
        ...


class Connection:
    """A runtime, its CRUD client, and who closes them; shared by all handles that `bind` makes.

    `owned` is what `close` closes, None for an injected runtime, which outlives every handle.
    """

    __slots__ = ("_ambient", "_client", "_closed", "_management", "_owned", "_runtime")

    def __init__(
        self, runtime: MemoryRuntime, client: MemoryCrudClient | None = None, owned: Closeable | None = None
    ) -> None:
        self._runtime = runtime
        self._client = client
        self._owned = owned
        self._closed = False
        # What the runtime can do does not change, and asking a Protocol costs more than a call.
        self._ambient = runtime if isinstance(runtime, AmbientIdentityRuntime) else None
        self._management = runtime if isinstance(runtime, MemoryManagement) else None

    def close(self) -> None:
        if self._owned is not None and not self._closed:
            self._closed = True
            self._owned.close()

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError("this Memory has been closed; open a new one (close() on a bound handle closes all)")

    @property
    def runtime(self) -> MemoryRuntime:
        self._require_open()
        return self._runtime

    @property
    def client(self) -> MemoryCrudClient:
        self._require_open()
        if self._client is None:
            raise MemoryNotSupportedError(
                "type-specific save/get/list operations require a CRUD client; provide one via the client= constructor "
                "arg when injecting a custom runtime, or use record_turn, build_context, or search"
            )
        return self._client

    @property
    def client_is_platform(self) -> bool:
        """Whether the client is Memoranda itself, which updates procedures and stamps custom types."""
        return isinstance(self._client, MemoryManagement)

    @property
    def management(self) -> MemoryManagement:
        self._require_open()
        if self._management is None:
            raise MemoryNotSupportedError(
                f"the runtime {type(self._runtime).__name__} does not implement MemoryManagement; "
                "use Memory.open(...), or a runtime that does"
            )
        return self._management

    def ambient(self) -> MemoryRequestContext | None:
        return None if self._ambient is None else self._ambient.request_context()


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


def as_model(model: type[M], result: M | Mapping[str, Any]) -> M:
    """Return a client's result as the model; clients may answer with plain mappings."""
    return result if isinstance(result, model) else model.model_validate(result)
