"""The success bodies that the original SDK takes, by route: what is required, of which type, and what may be null."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _TurnResult(_Strict):
    id: str
    session_id: str
    turn_seq: int
    acknowledged: bool
    has_embedding: bool


class _Chunk(_Strict):
    id: str
    content: str
    source: str = Field(pattern="^(stm|episodic|semantic|taxonomic|procedural)$")
    timestamp: str
    embedding: list[float] | None = None
    similarity_score: float | None = None
    metadata: dict[str, Any] | None = None

    def model_post_init(self, _: object, /) -> None:
        if datetime.fromisoformat(self.timestamp).tzinfo is None:
            raise ValueError(f"{self.timestamp} has no zone")


class _Outcome(_Strict):
    source: str
    requested_mode: str
    effective_mode: str
    count: int
    error: str | None
    retryable: bool = False


class _ContextMetadata(_Strict):
    token_count: int = Field(ge=0)
    memory_counts: dict[str, int]
    timing: dict[str, float]
    ranking_strategy: str | None
    source_outcomes: list[_Outcome] | None


class _Context(_Strict):
    formatted_context: str | list[dict[str, Any]]
    metadata: _ContextMetadata
    selected_memories: list[_Chunk] | None = None


class _Found(_Strict):
    memories: list[_Chunk]


class _Created(_Strict):
    id: str
    has_embedding: bool
    acknowledged: bool


class _Semantic(_Created):
    label: str


class _Episode(_Created):
    title: str


class _Term(_Created):
    domain: str
    term: str


class _Procedure(_Created):
    procedure: str


class _Entries(_Strict):
    entries: list[dict[str, Any]]
    count: int | None = None


class _Domains(_Strict):
    domains: list[str]


class _Saved(_Strict):
    id: str
    type: str
    tags: dict[str, str | int | float | bool]
    has_embedding: bool


class _Custom(_Strict):
    id: str
    type: str
    content: str
    tags: dict[str, str | int | float | bool]
    contextual_metadata: dict[str, Any] | None = None
    user_id: str | None = None
    agent_id: str | None = None


class _Retrieved(_Strict):
    results: list[_Custom]
    count: int


_SHAPES: dict[str, TypeAdapter[Any]] = {
    name: TypeAdapter(model)
    for name, model in {
        "/turns": _TurnResult,
        "/context": _Context,
        "/search": _Found,
        "create semantic": _Semantic,
        "create episodic": _Episode,
        "create taxonomic": _Term,
        "create procedural": _Procedure,
        "entries": _Entries,
        "/taxonomic/domains": _Domains,
        "custom save": _Saved,
        "custom retrieve": _Retrieved,
    }.items()
}


def check_shape(name: str, body: bytes) -> None:
    """Raise ``pydantic.ValidationError`` unless a body has the shape of that name."""
    _SHAPES[name].validate_json(body)
