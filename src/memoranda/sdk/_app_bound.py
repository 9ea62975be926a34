"""The connection of an agent that its host runs: the host's own, under the identity of the present run."""

from __future__ import annotations

from memoranda.sdk._connection import Connection
from memoranda.sdk._management_port import MemoryManagement
from memoranda.sdk.errors import MemoryIdentityError
from memoranda.sdk.protocol import (
    AmbientIdentityRuntime,
    MemoryCrudClient,
    MemoryRequestContext,
    MemoryRuntime,
)


class AppBoundConnection(Connection):
    """Everything the host's connection can do, but only within a run: outside of one every call is refused.

    A thread that lost its context would else read every user's memory. Closing it closes nothing.
    """

    __slots__ = ("_host", "_identities")

    def __init__(self, host: Connection, identities: AmbientIdentityRuntime) -> None:
        # Nothing is kept of what the host's connection holds: closing that one closes this one.
        self._host = host
        self._identities = identities
        self.client_is_platform = host.client_is_platform

    @property
    def runtime(self) -> MemoryRuntime:
        self.ambient()
        return self._host.runtime

    @property
    def client(self) -> MemoryCrudClient:
        self.ambient()
        return self._host.client

    @property
    def management(self) -> MemoryManagement:
        self.ambient()
        return self._host.management

    def ambient(self) -> MemoryRequestContext:
        present = self._identities.request_context()
        if present is None:
            raise MemoryIdentityError(
                "no run is present: an app-bound memory works within a run of its host; in a thread of your own wrap "
                "the function with the host's carry()"
            )
        return present

    def close(self) -> None:
        """Do nothing: what the host opened, the host closes."""
