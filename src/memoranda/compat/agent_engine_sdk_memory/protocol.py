"""The seam under its other address."""

from memoranda.sdk.protocol import AmbientIdentityRuntime, MemoryCrudClient, MemoryRequestContext, MemoryRuntime

__all__ = ["AmbientIdentityRuntime", "MemoryCrudClient", "MemoryRequestContext", "MemoryRuntime"]
