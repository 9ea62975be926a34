"""A runtime with its CRUD client, shared by the handles that `bind` makes, and who closes them."""

from __future__ import annotations

from typing import ClassVar, Generic, Protocol, TypeVar

from memoranda.sdk.errors import MemoryNotSupportedError
from memoranda.sdk.protocol import (
    AmbientIdentityRuntime,
    MemoryCrudClient,
    MemoryManagement,
    MemoryRequestContext,
    MemoryRuntime,
)

R = TypeVar("R")
C = TypeVar("C")
G = TypeVar("G")


class Closeable(Protocol):
    """Something that holds resources."""

    def close(self) -> None:
        """Release them; more than once is harmless."""
        ...


class ConnectionBase(Generic[R, C, G]):
    """What a connection knows without waiting for anything: what it can do, and whether it is open.

    `R`, `C` and `G` are the runtime, its CRUD client and its management as the facade calls them. `owned` is what
    closing closes, None for an injected runtime, which outlives every handle.
    """

    __slots__ = ("_ambient", "_client", "_closed", "_kind", "_management", "_owned", "_runtime", "client_is_platform")

    facade: ClassVar[str]
    _runtime: R
    _client: C | None
    _management: G | None

    def __init__(self, runtime: MemoryRuntime, client: MemoryCrudClient | None, owned: Closeable | None) -> None:
        self._owned = owned
        self._closed = False
        # What the runtime can do does not change, and asking a Protocol costs more than a call.
        self._kind = type(runtime).__name__
        self._ambient = runtime if isinstance(runtime, AmbientIdentityRuntime) else None
        # Whether the client is Memoranda itself, which updates procedures and stamps custom types.
        self.client_is_platform = isinstance(client, MemoryManagement)

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError(
                f"this {self.facade} has been closed; open a new one (close() on a bound handle closes all)"
            )

    @property
    def runtime(self) -> R:
        self._require_open()
        return self._runtime

    @property
    def client(self) -> C:
        self._require_open()
        if self._client is None:
            raise MemoryNotSupportedError(
                "type-specific save/get/list operations require a CRUD client; provide one via the client= constructor "
                "arg when injecting a custom runtime, or use record_turn, build_context, or search"
            )
        return self._client

    @property
    def management(self) -> G:
        self._require_open()
        if self._management is None:
            raise MemoryNotSupportedError(
                f"the runtime {self._kind} does not implement MemoryManagement; "
                f"use {self.facade}.open(...), or a runtime that does"
            )
        return self._management

    def ambient(self) -> MemoryRequestContext | None:
        return None if self._ambient is None else self._ambient.request_context()


class Connection(ConnectionBase[MemoryRuntime, MemoryCrudClient, MemoryManagement]):
    """A connection whose calls run in the caller's thread."""

    __slots__ = ()

    facade = "Memory"

    def __init__(
        self, runtime: MemoryRuntime, client: MemoryCrudClient | None = None, owned: Closeable | None = None
    ) -> None:
        super().__init__(runtime, client, owned)
        self._runtime = runtime
        self._client = client
        self._management = runtime if isinstance(runtime, MemoryManagement) else None

    def close(self) -> None:
        if self._owned is not None and not self._closed:
            self._closed = True
            self._owned.close()
