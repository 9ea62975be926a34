"""Turns as they arrive."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue

from memoranda.sdk.models import TurnInput
from memoranda.server.schemas.base import Json, OwnBody, WriteBody

_TURN: dict[str, JsonValue] = {
    "session_id": "s1",
    "user_id": "ada",
    "role": "user",
    "content": "I moved to Oslo in May.",
}


class TurnBody(WriteBody):
    """One turn."""

    model_config = ConfigDict(json_schema_extra={"examples": [_TURN]})

    session_id: str | None = Field(None, description="Which conversation. Required.")
    user_id: str | None = Field(None, description="Who it is with. Required, unless the token speaks for one user.")
    role: str = Field(description="Who speaks: `user`, `assistant`, `tool`, `system`, ….")
    content: str | None = None
    agent_id: str | None = None
    model_name: str | None = None
    tool_calls: list[Json] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    metadata: Json | None = None


class TurnsBody(OwnBody):
    """Turns that are stored together or not at all."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"turns": [_TURN]}]})

    turns: list[TurnInput]


class TurnsQuery(OwnBody):
    """Which turns; pages follow each other by ``cursor``."""

    session_id: str | None = None
    user_id: str | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    cursor: str | None = None
