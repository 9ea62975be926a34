"""The thread API's backend over an engine in this process."""

from memoranda.threads.engine_backend.backend import EngineBackend

__all__ = ["EngineBackend"]
