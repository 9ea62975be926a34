"""What a caller hands over in bulk or for an update. Unknown fields are refused."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field

from memoranda.sdk._model import Model
from memoranda.sdk._values import parse_time, parse_ttl_days, parse_vector

# Wrapped, because pydantic would hand a validator's second parameter its own context object.
UtcTime: TypeAlias = Annotated[datetime, BeforeValidator(lambda value: parse_time(value))]
TtlDays: TypeAlias = Annotated[float, BeforeValidator(lambda value: parse_ttl_days(value))]
Vector: TypeAlias = Annotated[list[float], BeforeValidator(lambda value: parse_vector(value, "embedding"))]


class _Input(Model):
    """`timestamp` is when it happened (default: now), `ttl_days` how long it is kept (default: as configured)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    timestamp: UtcTime | None = None
    ttl_days: TtlDays | None = None
    idempotency_key: str | None = None
    user_id: str | None = None
    agent_id: str | None = None


class TurnInput(_Input):
    """One turn of `record_turns`; identity that is not given comes from the call, then the handle."""

    role: str
    content: str | None = None
    session_id: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    model_name: str | None = None
    metadata: dict[str, Any] | None = None


class _MemoryInput(_Input):
    """`embedding` is the caller's own vector for the text; without it the engine embeds."""

    embedding: Vector | None = None
    metadata: dict[str, Any] | None = None


class SemanticInput(_MemoryInput):
    """The fields of `save_semantic`."""

    kind: Literal["semantic"] = "semantic"
    text: str
    label: str
    source: str = "agent"
    visibility: str = "private"
    upsert: bool = True


class EpisodicInput(_MemoryInput):
    """The fields of `save_episode`."""

    kind: Literal["episodic"] = "episodic"
    title: str
    content: str
    summary: str | None = None
    session_id: str | None = None
    participants: list[str] | None = None
    tags: list[str] | None = None
    visibility: str = "private"


class TaxonomicInput(_MemoryInput):
    """The fields of `save_taxonomic`."""

    kind: Literal["taxonomic"] = "taxonomic"
    domain: str
    term: str
    definition: str
    related_terms: list[str] | None = None
    visibility: str = "org"


class ProceduralInput(_MemoryInput):
    """The fields of `save_procedure`."""

    kind: Literal["procedural"] = "procedural"
    procedure: str
    description: str
    content: str
    steps: list[dict[str, Any]] | None = None
    resources: list[dict[str, Any]] | None = None
    allowed_tools: list[str] | None = None
    compatibility: str | None = None
    license: str | None = None
    trigger_conditions: list[str] | None = None
    tags: list[str] | None = None
    visibility: str = "private"
    extraction_source: str | None = None
    source_format: str | None = None
    source_path: str | None = None
    update_existing: bool = False


class CustomInput(_MemoryInput):
    """The fields of `save`; `namespace` and `key` together name the record that a later save replaces."""

    kind: Literal["custom"] = "custom"
    memory_type: str
    content: str
    tags: Mapping[str, Any] | None = None
    contextual_metadata: dict[str, Any] | None = None
    visibility: str | None = None
    namespace: str | None = None
    key: str | None = None


MemoryInput: TypeAlias = Annotated[
    SemanticInput | EpisodicInput | TaxonomicInput | ProceduralInput | CustomInput, Field(discriminator="kind")
]


class MemoryUpdate(Model):
    """The changes of `update_memory`; `model_fields_set` names what was given, None included.

    `fields` replaces single body fields of the kind. `metadata=None` clears it, `ttl_days=None` keeps forever.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    content: str | None = None
    label: str | None = None
    visibility: str | None = None
    metadata: dict[str, Any] | None = None
    fields: dict[str, Any] = Field(default_factory=dict)
    timestamp: UtcTime | None = None
    ttl_days: TtlDays | None = None
    embedding: Vector | None = None
