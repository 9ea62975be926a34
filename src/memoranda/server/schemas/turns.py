"""Turns as they arrive."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class TurnBody(BaseModel):
    """One turn."""

    session_id: str | None = None
    user_id: str | None = None
    role: str
    content: str | None = None
    agent_id: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
