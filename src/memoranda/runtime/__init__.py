"""The engine in this process, behind the protocols of the SDK."""

from memoranda.runtime.runtime import EngineRuntime, open_runtime

__all__ = ["EngineRuntime", "open_runtime"]
