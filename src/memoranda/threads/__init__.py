"""The thread API: users, agents, threads and context cards on the same engine. These are its public names."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memoranda.threads.apis import (
        IAgentMemory,
        IEmbedder,
        ILlm,
        IMemoryStore,
        IReranker,
        ISearchConfig,
        IThread,
        LlmResponse,
        RerankResponse,
        RerankResponseResult,
    )
    from memoranda.threads.cards_text import ContextCard, Summary
    from memoranda.threads.client import AgentMemory
    from memoranda.threads.content import ImageContent, ImageMimeType, Message, MessageContent, TextContent
    from memoranda.threads.embedders import Embedder
    from memoranda.threads.llms import Llm, LlmApiType
    from memoranda.threads.not_set import NOT_SET
    from memoranda.threads.options import (
        BackgroundExtractionQueueFullBehavior,
        ImageInputLimitConfig,
        MemoryExtractionConfig,
        MemoryExtractionImageContext,
        MemoryExtractionMode,
        MemoryLinkExtractionMode,
        MemoryRetentionConfig,
        SchemaPolicy,
        SearchIndexSyncMode,
        SearchStrategy,
        TimeToLiveAnchor,
    )
    from memoranda.threads.record_text import SearchResultFormatConfig
    from memoranda.threads.records import (
        AgentProfileRecord,
        FactRecord,
        GuidelineRecord,
        ImageRecord,
        MemoryRecord,
        MessageRecord,
        PreferenceRecord,
        Record,
        RecordStatus,
        ScopedRecord,
        ThreadRecord,
        ThreadSummaryRecord,
        UserProfileRecord,
        build_record,
    )
    from memoranda.threads.relations import (
        MemoryLink,
        MemoryLinkOppositeType,
        MemoryLinkType,
        MemoryRecordType,
        RecordRelation,
        RelationType,
        ThreadRecordType,
    )
    from memoranda.threads.rerankers import Reranker
    from memoranda.threads.results import SearchResult
    from memoranda.threads.scope import Scope, SearchScope
    from memoranda.threads.search_config import (
        MemorySearchConfig,
        PruningEvaluationMode,
        PruningMemorySearchConfig,
        TopKMemorySearchConfig,
    )
    from memoranda.threads.thread import Thread

__all__ = [
    "NOT_SET",
    "AgentMemory",
    "AgentProfileRecord",
    "BackgroundExtractionQueueFullBehavior",
    "ContextCard",
    "Embedder",
    "FactRecord",
    "GuidelineRecord",
    "IAgentMemory",
    "IEmbedder",
    "ILlm",
    "IMemoryStore",
    "IReranker",
    "ISearchConfig",
    "IThread",
    "ImageContent",
    "ImageInputLimitConfig",
    "ImageMimeType",
    "ImageRecord",
    "Llm",
    "LlmApiType",
    "LlmResponse",
    "MemoryExtractionConfig",
    "MemoryExtractionImageContext",
    "MemoryExtractionMode",
    "MemoryLink",
    "MemoryLinkExtractionMode",
    "MemoryLinkOppositeType",
    "MemoryLinkType",
    "MemoryRecord",
    "MemoryRecordType",
    "MemoryRetentionConfig",
    "MemorySearchConfig",
    "Message",
    "MessageContent",
    "MessageRecord",
    "PreferenceRecord",
    "PruningEvaluationMode",
    "PruningMemorySearchConfig",
    "Record",
    "RecordRelation",
    "RecordStatus",
    "RelationType",
    "RerankResponse",
    "RerankResponseResult",
    "Reranker",
    "SchemaPolicy",
    "Scope",
    "ScopedRecord",
    "SearchIndexSyncMode",
    "SearchResult",
    "SearchResultFormatConfig",
    "SearchScope",
    "SearchStrategy",
    "Summary",
    "TextContent",
    "Thread",
    "ThreadRecord",
    "ThreadRecordType",
    "ThreadSummaryRecord",
    "TimeToLiveAnchor",
    "TopKMemorySearchConfig",
    "UserProfileRecord",
    "build_record",
]

# Where the names are, in the order in which they are looked up; the values first, which load nothing else.
_HOMES = tuple(
    f"memoranda.threads.{name}"
    for name in (
        "not_set",
        "content",
        "options",
        "relations",
        "records",
        "scope",
        "apis",
        "llms",
        "embedders",
        "rerankers",
        "cards_text",
        "results",
        "record_text",
        "search_config",
        "thread",
        "client",
    )
)


def __getattr__(name: str) -> object:
    # Loaded when they are named: the values alone do not need the engine.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for home in _HOMES:
        found = vars(import_module(home))
        if name in found:
            globals()[name] = found[name]
            return found[name]
    raise AttributeError(f"{name!r} is in none of {', '.join(_HOMES)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
