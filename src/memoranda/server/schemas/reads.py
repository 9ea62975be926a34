"""Searches and contexts as they are asked for."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from memoranda.sdk.models import FormatStyle, MemoryChunk, SourceSpec
from memoranda.server.schemas.base import Json, OwnBody, ReadBody, TopK, named_only

Kind = Literal["semantic", "episodic", "taxonomic", "procedural"]
Source = Literal["stm", "episodic", "semantic", "taxonomic", "procedural"]

_KIND_OF_FIELD: Final = {
    "session_id": "episodic",
    "domain": "taxonomic",
    "tags": "procedural",
    "metadata_filter": "procedural",
}
"""Which kind of memory takes which narrowing."""

DEFAULT_TOP_K: Final = {"semantic": 50, "episodic": 50, "taxonomic": 50, "procedural": 10}


class KindSearchBody(ReadBody):
    """A search of the kind that the path names."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "where does she live", "user_id": "ada"}]})

    top_k: Annotated[TopK, Field(le=500)] | None = Field(None, description="1 to 500.")
    session_id: str | None = Field(None, description="Episodes of this session only.")
    domain: str | None = Field(None, description="Terms of this domain only.")
    tags: list[str] | None = Field(None, description="Procedures that have one of these tags.")
    metadata_filter: Json | None = Field(None, description="Procedures whose declared metadata keys match.")

    def arguments(self, kind: str) -> dict[str, Any]:
        """Return what the search of this kind is asked with, the identity left out."""
        narrowing = named_only(self, *(name for name, taker in _KIND_OF_FIELD.items() if taker == kind))
        top_k = self.top_k or DEFAULT_TOP_K[kind]
        return {"query": self.query, "visibility": self.visibility, "top_k": top_k, **narrowing, **self.options()}


class SearchBody(KindSearchBody):
    """A search of one kind of memory; a field that the kind does not take is refused."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"type": "semantic", "query": "where does she live", "user_id": "ada", "top_k": 10}]
        }
    )

    type: Kind


class SearchResult(OwnBody):
    """What a search found, best first."""

    memories: list[MemoryChunk]


def misplaced(kind: str, body: KindSearchBody) -> dict[str, str]:
    """Return the fields that this kind does not take and that were given, each with what is wrong."""
    return {
        f"body.{name}": f"is for type {taker!r}, not for {kind!r}"
        for name, taker in _KIND_OF_FIELD.items()
        if taker != kind and getattr(body, name) is not None
    }


def _known_style(value: Any) -> Any:
    if value is None or (isinstance(value, str) and value.lower() in [style.value for style in FormatStyle]):
        return value
    raise ValueError(f"must be one of {', '.join(style.value for style in FormatStyle)}")


Style = Annotated[str, BeforeValidator(_known_style)]


class _ContextBody(ReadBody):
    session_id: str | None = Field(None, description="Turns of this session only.")
    max_tokens: Annotated[int, Field(strict=True, ge=1)] | None = Field(None, description="The budget, gross.")
    format_style: Style | None = Field(None, description="`openai` (messages), `claude` (XML) or `jinja2` (Markdown).")
    include_memories: bool | None = Field(None, description="Give the chosen records as `selected_memories` as well.")

    def shared_arguments(self) -> dict[str, Any]:
        """Return what both forms of the question have in common, the user left out."""
        set_only = named_only(self, "max_tokens", "format_style", "include_memories")
        return {
            "query": self.query,
            "session_id": self.session_id,
            "visibility": self.visibility,
            **set_only,
            **self.options(),
        }


class ContextBody(_ContextBody):
    """A context from several sources, all searched alike."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "plan the trip", "user_id": "ada", "max_tokens": 2000}]}
    )

    top_k: Annotated[TopK, Field(le=200)] | None = Field(None, description="Candidates a source, 1 to 200.")
    metadata_filter: Json | None = None
    enabled_sources: list[Source] | None = Field(None, description="Default: episodic and semantic.")

    def arguments(self) -> dict[str, Any]:
        """Return what the runtime is asked with, the user left out."""
        sources = {} if self.enabled_sources is None else {"enabled_sources": self.enabled_sources}
        return {**self.shared_arguments(), **named_only(self, "top_k", "metadata_filter"), **sources}


class SourcesBody(_ContextBody):
    """A context whose sources are searched each in its own way."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "query": "plan the trip",
                    "user_id": "ada",
                    "sources": [{"source": "semantic", "mode": "hybrid", "top_k": 20}],
                }
            ]
        }
    )

    sources: Annotated[list[SourceSpec], Field(min_length=1, max_length=5)]
    rerank: bool | None = None

    @model_validator(mode="after")
    def _each_source_once(self) -> SourcesBody:
        names = [spec.source for spec in self.sources]
        if len(set(names)) != len(names):
            raise ValueError("sources names a source twice: name each once")
        return self

    def arguments(self) -> dict[str, Any]:
        """Return what the runtime is asked with, the user left out."""
        return {**self.shared_arguments(), "sources": self.sources, **named_only(self, "rerank")}
