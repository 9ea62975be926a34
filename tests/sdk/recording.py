"""Runtimes that record what reaches them: fakes at the seam that the facade talks through."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memoranda import (
    AsyncMemory,
    BulkItemResult,
    ChangePage,
    ContextMetadata,
    ContextResponse,
    DeletionReport,
    FailurePage,
    Memory,
    MemoryChunk,
    MemoryCrudClient,
    MemoryEntry,
    MemoryManagement,
    MemoryPage,
    MemoryRequestContext,
    MemoryRuntime,
    StatusReport,
    TurnPage,
    WriteTurnResult,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entry(**fields: Any) -> MemoryEntry:
    times = {"event_time": NOW, "valid_from": NOW, "created_at": NOW, "updated_at": NOW}
    defaults = {"id": "m1", "kind": "semantic", "content": "c", "visibility": "private"}
    return MemoryEntry(**{**defaults, **times, **fields})


def chunk(**fields: Any) -> MemoryChunk:
    return MemoryChunk(**{"id": "m1", "content": "c", "source": "semantic", "timestamp": NOW, **fields})


def default_answers() -> dict[str, Any]:
    context = ContextResponse(formatted_context="", metadata=ContextMetadata())
    custom = {"id": "x", "type": "t", "tags": {}, "has_embedding": True}
    return {
        "record_turn": WriteTurnResult(id="t1", session_id="s1", turn_seq=1),
        "build_context": context,
        "build_context_from_sources": context,
        "search_semantic": [],
        "search_episodes": [],
        "search_taxonomic": [],
        "discover_procedures": [],
        "create_semantic": {"id": "1", "label": "l", "has_embedding": True},
        "create_episodic": {"id": "1", "title": "t", "has_embedding": True},
        "create_taxonomic": {"id": "1", "domain": "d", "term": "t", "has_embedding": True},
        "create_procedural": {"id": "1", "procedure": "p", "has_embedding": True},
        "create_custom": custom,
        "retrieve_custom": {"results": [], "count": 0},
        "list_episodic": [],
        "get_distinct_domains": [],
        "record_turns": [],
        "save_many": [
            BulkItemResult(index=0, id="1", kind="semantic", status="created", version=1, has_embedding=True)
        ],
        "list_memories": MemoryPage(items=[]),
        "update_memory": entry(version=2),
        "delete_memory": DeletionReport(memories=1),
        "history": [],
        "list_turns": TurnPage(items=[]),
        "delete_turn": DeletionReport(turns=1),
        "delete_session": DeletionReport(turns=2),
        "delete_user": DeletionReport(turns=3),
        "promote": [],
        "changes": ChangePage(items=[], next_cursor="c"),
        "status": StatusReport(project_id="default", analyser="a", schema_version="1", store="s"),
        "list_failures": FailurePage(items=[]),
        "retry_failures": 1,
        "discard_failures": 1,
    }


@dataclass
class Recorder:
    """Calls in order, as (method, arguments); `answers` says what each method returns (default None)."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=default_answers)
    closed: int = 0

    def close(self) -> None:
        self.closed += 1

    @property
    def last(self) -> dict[str, Any]:
        return self.calls[-1][1]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


# What the shared contract passes; anything else that arrives unasked breaks a runtime written for it alone.
SHARED_CONTRACT = {
    "record_turn": "role content session_id user_id agent_id tool_calls tool_call_id tool_name is_error model_name "
    "metadata idempotency_key",
    "build_context": "query user_id session_id visibility metadata_filter enabled_sources",
    "build_context_from_sources": "query sources user_id session_id visibility rerank max_tokens",
    "search_semantic": "query user_id visibility top_k",
    "search_episodes": "query user_id visibility session_id top_k",
    "search_taxonomic": "query user_id domain visibility top_k",
    "discover_procedures": "query user_id visibility tags top_k similarity_threshold metadata_filter",
    "create_semantic": "label text user_id source visibility agent_id metadata upsert",
    "get_semantic": "label user_id visibility",
    "create_episodic": "title content summary_text user_id session_id visibility agent_id participants tags metadata",
    "list_episodic": "user_id session_id visibility limit",
    "create_taxonomic": "domain term definition user_id related_terms visibility metadata",
    "get_taxonomic": "domain term user_id visibility",
    "get_distinct_domains": "visibility",
    "create_procedural": "procedure description content user_id steps resources allowed_tools compatibility license "
    "trigger_conditions tags visibility agent_id extraction_source source_format source_path metadata",
    "get_procedural": "procedure user_id visibility include_deleted",
    "create_custom": "memory_type content tags contextual_metadata",
    "retrieve_custom": "memory_type query tags top_k",
}


def methods(protocol: type) -> list[str]:
    return [name for name, value in vars(protocol).items() if inspect.isfunction(value) and not name.startswith("_")]


def _recorded(protocol: type, name: str) -> Callable[..., Any]:
    signature = inspect.signature(getattr(protocol, name))

    def call(self: Recorder, **arguments: Any) -> Any:
        signature.bind(self, **arguments)  # an argument the protocol does not have is a TypeError, as in a real one
        self.calls.append((name, arguments))
        return self.answers.get(name)

    return call


def _implements(*protocols: type) -> Callable[[type], Any]:
    def decorate(cls: type) -> type:
        for protocol in protocols:
            for name in methods(protocol):
                setattr(cls, name, _recorded(protocol, name))
        return cls

    return decorate


@_implements(MemoryRuntime)
class CoreRuntime(Recorder):
    """A runtime of the shared contract: turns, contexts, searches."""


@_implements(MemoryCrudClient)
class CoreClient(Recorder):
    """A CRUD client of the shared contract."""


@_implements(MemoryRuntime)
class AmbientRuntime(Recorder):
    """A runtime that knows who the present request is for."""

    present: MemoryRequestContext | None = None

    def request_context(self) -> MemoryRequestContext | None:
        return self.present


@_implements(MemoryRuntime, MemoryCrudClient, MemoryManagement)
class FullRuntime(Recorder):
    """Everything, as the embedded engine is."""


def over(runtime: Any, client: Any = None) -> Memory:
    """Return a handle over fakes, whose methods are made at run time and so unknown to a type checker."""
    return Memory(runtime=runtime, client=client)


def over_async(runtime: Any, client: Any = None) -> AsyncMemory:
    """Return an asynchronous handle over fakes."""
    return AsyncMemory(runtime=runtime, client=client)
