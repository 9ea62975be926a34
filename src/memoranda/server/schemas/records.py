"""Typed records as they arrive and are asked for."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from memoranda.server.schemas.base import AsOf, Embedding, Json, ReadBody, RecordBody, SharedBody, TopK, WriteBody


class SemanticBody(RecordBody):
    """A fact under a label."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"label": "home", "text": "Lives in Oslo.", "user_id": "ada", "upsert": True}]}
    )

    label: str
    text: str
    source: str | None = None
    agent_id: str | None = None
    upsert: bool | None = Field(None, description="Replace the user's memory of this label.")
    contextual_metadata: Json | None = Field(None, description="An older name of `metadata`.")

    def arguments(self, *left_out: str) -> dict[str, Any]:
        given = super().arguments("contextual_metadata", *left_out)
        older = {} if self.contextual_metadata is None else {"metadata": self.contextual_metadata}
        return {**older, **given}


class EpisodicBody(RecordBody):
    """What happened in a session."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"title": "The move", "content": "She moved in May.", "user_id": "ada", "session_id": "s1"}]
        }
    )

    title: str
    content: str
    summary_text: str | None = None
    session_id: str | None = Field(None, description="Required.")
    agent_id: str | None = None
    participants: list[str] | None = None
    tags: list[str] | None = None


class TaxonomicBody(RecordBody):
    """A term and what it means."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"domain": "rail", "term": "EMU", "definition": "Electric multiple unit.", "user_id": "ada"}]
        }
    )

    domain: str
    term: str
    definition: str
    related_terms: list[str] | None = None


class ProceduralBody(RecordBody):
    """How something is done."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "procedure": "refund",
                    "description": "Give money back",
                    "content": "1. Find the order. 2. Refund it.",
                    "user_id": "ada",
                }
            ]
        }
    )

    procedure: str
    description: str
    content: str
    steps: list[Json] | None = None
    resources: list[Json] | None = None
    allowed_tools: list[str] | None = None
    compatibility: str | None = None
    license: str | None = None
    trigger_conditions: list[str] | None = None
    tags: list[str] | None = None
    agent_id: str | None = None
    extraction_source: str | None = None
    source_format: str | None = None
    source_path: str | None = None
    update_existing: bool | None = Field(None, description="Replace the user's procedure of this name.")


class SemanticPatch(SharedBody):
    """Changes of a semantic memory; null leaves a field as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Lives in Bergen."}]})

    text: str | None = None
    source: str | None = None
    visibility: str | None = None
    user_id: str | None = None


class ProceduralPatch(SharedBody):
    """Changes of a procedure; null leaves a field as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"content": "1. Ask why. 2. Refund it."}]})

    description: str | None = None
    content: str | None = None
    steps: list[Json] | None = None
    resources: list[Json] | None = None
    allowed_tools: list[str] | None = None
    trigger_conditions: list[str] | None = None
    tags: list[str] | None = None
    visibility: str | None = None
    user_id: str | None = None
    metadata: Json | None = None


class CustomBody(WriteBody):
    """A memory of a declared type."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"content": "Printer 3 jams.", "tags": {"queue": "it"}}]})

    content: str
    tags: Json | None = None
    contextual_metadata: Json | None = None
    user_id: str | None = None
    agent_id: str | None = None
    visibility: str | None = None
    namespace: str | None = None
    key: str | None = None
    embedding: Embedding | None = None

    def arguments(self) -> dict[str, Any]:
        """Return what was given as the arguments of the runtime, the user left out."""
        return {name: value for name, value in dict(self).items() if value is not None and name != "user_id"}


class RetrieveBody(ReadBody):
    """A search of a declared type."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "printer", "tags": {"queue": "it"}}]})

    top_k: Annotated[TopK, Field(le=100)] | None = Field(None, description="1 to 100.")
    tags: Json | None = Field(None, description="Only those whose tags equal these.")


class EntriesQuery(SharedBody):
    """Which records of a kind."""

    user_id: str | None = None
    visibility: str | None = None
    as_of: AsOf | None = None
    include_superseded: bool = False


class SemanticQuery(EntriesQuery):
    label: str | None = None


class EpisodicQuery(EntriesQuery):
    session_id: str | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 20


class TaxonomicQuery(EntriesQuery):
    domain: str | None = None


class ProceduralQuery(EntriesQuery):
    procedure: str | None = None
    include_deleted: bool = False


class EntryQuery(SharedBody):
    """Who asks for one record."""

    user_id: str | None = None
    as_of: AsOf | None = None


class DomainsQuery(SharedBody):
    user_id: str | None = None
    visibility: str | None = None


class DeletedQuery(SharedBody):
    """``soft``: ended, and still read among the deleted; else removed with its history."""

    user_id: str | None = None
    visibility: str | None = None
    soft: bool = True


class Entries(SharedBody):
    """Records as the typed getters show them: ``id``, the caller's ``metadata``, and the fields of the kind."""

    entries: list[Json]
    count: int


class Domains(SharedBody):
    domains: list[str]
