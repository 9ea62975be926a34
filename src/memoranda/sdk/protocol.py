"""The seam between the facade and whatever does the work, in process or behind HTTP.

`MemoryRuntime` and `MemoryCrudClient` are the shared contract: the facade passes identity that is already resolved.
Parameters below the line `# ours` in a signature are forwarded **only when the caller set them**, so a runtime
written for the shared contract alone may leave them out. Times arrive as aware UTC datetimes, vectors as lists of
floats, `ttl_days` above 0. `MemoryManagement` is ours alone; a runtime without it works, and those calls raise
`MemoryNotSupportedError`.

Every runtime raises the classes of `errors` (embedded: with `status=None`) and is safe to use from many threads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from pydantic import ConfigDict

from memoranda.sdk._management_port import MemoryManagement
from memoranda.sdk._model import Model
from memoranda.sdk.models import (
    ContextResponse,
    CreateEpisodicResult,
    CreateProceduralResult,
    CreateSemanticResult,
    CreateTaxonomicResult,
    CustomMemoryRetrieveResult,
    CustomMemorySaveResult,
    FormatStyle,
    MemoryChunk,
    RetrievalMode,
    SourceSpec,
    WriteTurnResult,
)

__all__ = [
    "DEFAULT_EMBEDDER",
    "AmbientIdentityRuntime",
    "MemoryCrudClient",
    "MemoryManagement",
    "MemoryRequestContext",
    "MemoryRuntime",
]

Json: TypeAlias = dict[str, Any]

# The value of `Memory.open(embedder=…)` that asks for the local embedder of the `engine` extra.
DEFAULT_EMBEDDER: Final = "default"


class MemoryRequestContext(Model):
    """Who a call is for; each field is optional, and blank means not set."""

    model_config = ConfigDict(frozen=True)

    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None


@runtime_checkable
class AmbientIdentityRuntime(Protocol):
    """A runtime that knows who the present request is for."""

    def request_context(self) -> MemoryRequestContext | None:
        """Return the identity of the present request, or None. Asked on every call, never cached."""
        ...


@runtime_checkable
class MemoryRuntime(Protocol):
    """Recording and reading: turns, contexts, searches."""

    def record_turn(
        self,
        *,
        role: str,
        content: str | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        tool_calls: list[Json] | None = None,
        tool_call_id: str | None = None,
        tool_name: str | None = None,
        is_error: bool = False,
        model_name: str | None = None,
        metadata: Json | None = None,
        idempotency_key: str | None = None,
        # ours
        timestamp: datetime | None = None,
        ttl_days: float | None = None,
    ) -> WriteTurnResult:
        """Store one turn durably. The same key in the session returns the same turn; with other content it is a
        `MemoryConflictError` (`IDEMPOTENCY_CONFLICT`)."""
        ...

    def build_context(
        self,
        *,
        query: str,
        user_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        metadata_filter: Json | None = None,
        enabled_sources: Collection[str] | None = None,
        top_k: int = 50,
        max_tokens: int | None = None,
        format_style: FormatStyle | str | None = None,
        include_memories: bool = False,
        # ours
        mode: RetrievalMode | None = None,
        query_embedding: list[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> ContextResponse:
        """Assemble a context from the enabled sources (default episodic and semantic), all with one filter.

        `top_k`, `max_tokens`, `format_style` and `include_memories` too come only when set. Members of
        `enabled_sources` are not checked by the facade, and `format_style` comes as typed. `source_outcomes` are told
        when `mode` is given.
        """
        ...

    def build_context_from_sources(
        self,
        *,
        query: str,
        sources: Sequence[SourceSpec],
        user_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        rerank: bool = False,
        max_tokens: int | None = None,
        format_style: FormatStyle | str | None = None,
        include_memories: bool = False,
        # ours
        query_embedding: list[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> ContextResponse:
        """Assemble a context with mode, filter and size set per source; report `source_outcomes`.

        `sources` is not empty and names each source once. When every source failed, raise `MemoryServerError`.
        """
        ...

    def search_semantic(
        self,
        *,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        top_k: int = 50,
        # ours
        mode: RetrievalMode | None = None,
        query_embedding: list[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> list[MemoryChunk]:
        """Return the best semantic memories, best first."""
        ...

    def search_episodes(
        self,
        *,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        session_id: str | None = None,
        top_k: int = 50,
        # ours
        mode: RetrievalMode | None = None,
        query_embedding: list[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> list[MemoryChunk]:
        """Return the best episodes, best first."""
        ...

    def search_taxonomic(
        self,
        *,
        query: str,
        user_id: str | None = None,
        domain: str | None = None,
        visibility: str | None = None,
        top_k: int = 50,
        # ours
        mode: RetrievalMode | None = None,
        query_embedding: list[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> list[MemoryChunk]:
        """Return the best terms, best first, of one domain when given."""
        ...

    def discover_procedures(
        self,
        *,
        query: str,
        user_id: str | None = None,
        visibility: str | None = None,
        tags: list[str] | None = None,
        top_k: int = 10,
        similarity_threshold: float = 0.0,
        metadata_filter: Json | None = None,
        # ours
        mode: RetrievalMode | None = None,
        query_embedding: list[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> list[Json]:
        """Return the best procedures as dicts: the chunk's metadata overlaid with `id`, `timestamp`, `procedure`,
        `content`, `score` and, on `explain`, `explanation` (a `ChunkExplanation` or its dump)."""
        ...


@runtime_checkable
class MemoryCrudClient(Protocol):
    """Typed records: create, get, list. Argument names are those of the wire.

    Results may be models or mappings of the same fields. `get_*` return one entry (a dict with at least `id` and the
    caller's `metadata`) or None; text fields match exactly. A client that is also a `MemoryManagement` is the
    platform itself: it is given `user_id` and `agent_id` for custom types, to stamp and to scope by.
    """

    def create_semantic(
        self,
        *,
        label: str,
        text: str,
        user_id: str,
        source: str = "agent",
        visibility: str = "private",
        agent_id: str | None = None,
        metadata: Json | None = None,
        upsert: bool = False,
        # ours
        timestamp: datetime | None = None,
        ttl_days: float | None = None,
        idempotency_key: str | None = None,
        embedding: list[float] | None = None,
    ) -> CreateSemanticResult | Mapping[str, Any]:
        """Save a semantic memory; with `upsert` it replaces the current one of the same user and label."""
        ...

    def get_semantic(
        self, *, label: str, user_id: str | None = None, visibility: str | None = None, as_of: datetime | None = None
    ) -> Any | None:
        """Return the memory with this label, as it was at `as_of` (ours) when given, or None."""
        ...

    def create_episodic(
        self,
        *,
        title: str,
        content: str,
        summary_text: str = "",
        user_id: str,
        session_id: str,
        visibility: str = "private",
        agent_id: str | None = None,
        participants: list[str] | None = None,
        tags: list[str] | None = None,
        metadata: Json | None = None,
        # ours
        timestamp: datetime | None = None,
        ttl_days: float | None = None,
        idempotency_key: str | None = None,
        embedding: list[float] | None = None,
    ) -> CreateEpisodicResult | Mapping[str, Any]:
        """Save an episode of a session."""
        ...

    def list_episodic(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        limit: int = 20,
        # ours
        include_superseded: bool = False,
        as_of: datetime | None = None,
    ) -> list[Any]:
        """Return at most `limit` episodes, latest first."""
        ...

    def create_taxonomic(
        self,
        *,
        domain: str,
        term: str,
        definition: str,
        user_id: str,
        related_terms: list[str] | None = None,
        visibility: str = "org",
        metadata: Json | None = None,
        # ours
        timestamp: datetime | None = None,
        ttl_days: float | None = None,
        idempotency_key: str | None = None,
        embedding: list[float] | None = None,
    ) -> CreateTaxonomicResult | Mapping[str, Any]:
        """Save a term; it replaces the user's current definition of the same domain and term."""
        ...

    def get_taxonomic(
        self,
        *,
        domain: str,
        term: str,
        user_id: str | None = None,
        visibility: str | None = None,
        # ours
        as_of: datetime | None = None,
    ) -> Any | None:
        """Return the entry whose domain and term are exactly these, or None."""
        ...

    def get_distinct_domains(
        self,
        *,
        visibility: str | None = None,
        # ours
        user_id: str | None = None,
    ) -> list[str]:
        """Return the domains in use, sorted, without repeats; with a `user_id` none that only others' private terms
        have."""
        ...

    def create_procedural(
        self,
        *,
        procedure: str,
        description: str,
        content: str,
        user_id: str,
        steps: list[Json] | None = None,
        resources: list[Json] | None = None,
        allowed_tools: list[str] | None = None,
        compatibility: str | None = None,
        license: str | None = None,
        trigger_conditions: list[str] | None = None,
        tags: list[str] | None = None,
        visibility: str = "private",
        agent_id: str | None = None,
        extraction_source: str | None = None,
        source_format: str | None = None,
        source_path: str | None = None,
        metadata: Json | None = None,
        # ours
        update_existing: bool = False,
        timestamp: datetime | None = None,
        ttl_days: float | None = None,
        idempotency_key: str | None = None,
        embedding: list[float] | None = None,
    ) -> CreateProceduralResult | Mapping[str, Any]:
        """Save a procedure. The user's second of one name is a `MemoryConflictError` (`PROCEDURE_EXISTS`) unless
        `update_existing`, which only a client that is also a `MemoryManagement` is given."""
        ...

    def get_procedural(
        self,
        *,
        procedure: str,
        user_id: str | None = None,
        visibility: str | None = None,
        include_deleted: bool = False,
        # ours
        as_of: datetime | None = None,
    ) -> Any | None:
        """Return the procedure of exactly this name, or None."""
        ...

    def create_custom(
        self,
        *,
        memory_type: str,
        content: str,
        tags: Mapping[str, Any] | None = None,
        contextual_metadata: Json | None = None,
        # ours
        user_id: str | None = None,
        agent_id: str | None = None,
        visibility: str | None = None,
        namespace: str | None = None,
        key: str | None = None,
        timestamp: datetime | None = None,
        ttl_days: float | None = None,
        idempotency_key: str | None = None,
        embedding: list[float] | None = None,
    ) -> CustomMemorySaveResult | Mapping[str, Any]:
        """Save a memory of a declared type; `namespace` and `key` together replace the user's earlier one."""
        ...

    def retrieve_custom(
        self,
        *,
        memory_type: str,
        query: str,
        tags: Mapping[str, Any] | None = None,
        top_k: int = 10,
        # ours
        user_id: str | None = None,
        visibility: str | None = None,
        mode: RetrievalMode | None = None,
        query_embedding: list[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> CustomMemoryRetrieveResult | Mapping[str, Any]:
        """Return the best memories of the type whose tags equal those given, best first."""
        ...
