"""The client under its name in `oracleagentmemory`."""

from __future__ import annotations

from typing import Any

from memoranda.threads import AgentMemory


class OracleAgentMemory(AgentMemory):
    """``AgentMemory`` whose threads may read other users' memories, as those of `oracleagentmemory` may.

    ``allow_cross_user=False`` forbids it, which is the default of ``AgentMemory``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_cross_user": True, **options})


__all__ = ["OracleAgentMemory"]
