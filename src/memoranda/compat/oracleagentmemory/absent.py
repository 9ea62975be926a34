"""What of `oracleagentmemory` has no counterpart here: importable, so that a module loads, and refused when used."""

from __future__ import annotations

from typing import Any, NoReturn

_DATABASE = "Memoranda keeps memories in a file or in PostgreSQL, which AgentMemory(connection=…) opens"
_SECURITY = "Deep Data Security is Oracle's: AgentMemory isolates users by scope, and a server by its tokens"
_EXTRACTOR = "extraction is set by MemoryExtractionConfig, and asks the llm of AgentMemory"

INSTEAD = {
    "OracleDBMemoryStore": _DATABASE,
    "OracleDBEmbedder": f"{_DATABASE}; name an embedding model with Embedder(model=…), 'local' for the built-in one",
    "ThreadMemoryExtractor": _EXTRACTOR,
    "OneShotThreadMemoryExtractor": _EXTRACTOR,
    "PendingRecordBatch": "many messages are one call of thread.add_messages",
    "OracleMemoryEndUserSecurityContext": _SECURITY,
    "UserOwnRowsDeepDataSecurityPolicy": _SECURITY,
    "GlobalMemoriesDeepDataSecurityPolicy": _SECURITY,
    "OciGroupPrincipal": _SECURITY,
    "LocalEndUserPrincipal": _SECURITY,
    "add_deep_data_security_policies": _SECURITY,
    "remove_deep_data_security_policies": _SECURITY,
    "list_deep_data_security_policies": _SECURITY,
    "grant_agent_memory_policies": _SECURITY,
    "revoke_agent_memory_policies": _SECURITY,
    "list_agent_memory_granted_policies": _SECURITY,
    "get_end_user_username": _SECURITY,
}
"""Each name, and what to use in its place."""


class Absent:
    """A name that has no counterpart here; calling or subclassing it raises ``NotImplementedError``."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __repr__(self) -> str:
        return f"<{self.__name__}: not in Memoranda>"

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        self._refuse()

    def __mro_entries__(self, bases: tuple[Any, ...]) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NotImplementedError(f"{self.__name__} has no counterpart in Memoranda: {INSTEAD[self.__name__]}")


def absent(name: str) -> Any:
    """Return what stands for a name of ``INSTEAD``."""
    return Absent(name) if name in INSTEAD else _unknown(name)


def _unknown(name: str) -> NoReturn:
    raise LookupError(f"{name!r} is not among the names that have no counterpart")
