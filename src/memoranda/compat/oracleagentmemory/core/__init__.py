"""Clients, threads, cards and settings, under their names in `oracleagentmemory.core`."""

from memoranda.compat.oracleagentmemory.absent import absent
from memoranda.compat.oracleagentmemory.core.oracleagentmemory import OracleAgentMemory
from memoranda.threads import (
    BackgroundExtractionQueueFullBehavior,
    ImageInputLimitConfig,
    MemoryExtractionConfig,
    MemoryExtractionImageContext,
    MemoryExtractionMode,
    MemoryLink,
    MemoryLinkExtractionMode,
    MemoryLinkOppositeType,
    MemoryLinkType,
    MemoryRetentionConfig,
    MemorySearchConfig,
    PruningEvaluationMode,
    PruningMemorySearchConfig,
    RecordRelation,
    RelationType,
    Reranker,
    SchemaPolicy,
    SearchIndexSyncMode,
    SearchResultFormatConfig,
    SearchStrategy,
    TopKMemorySearchConfig,
)
from memoranda.threads import (
    ContextCard as OracleContextCard,
)
from memoranda.threads import (
    IMemoryStore as OracleMemoryStore,
)
from memoranda.threads import (
    SearchResult as OracleSearchResult,
)
from memoranda.threads import (
    SearchResultFormatConfig as OracleSearchResultFormatConfig,
)
from memoranda.threads import (
    Summary as OracleSummary,
)
from memoranda.threads import (
    Thread as OracleThread,
)

OracleDBMemoryStore = absent("OracleDBMemoryStore")

__all__ = [
    "BackgroundExtractionQueueFullBehavior",
    "ImageInputLimitConfig",
    "MemoryExtractionConfig",
    "MemoryExtractionImageContext",
    "MemoryExtractionMode",
    "MemoryLink",
    "MemoryLinkExtractionMode",
    "MemoryLinkOppositeType",
    "MemoryLinkType",
    "MemoryRetentionConfig",
    "MemorySearchConfig",
    "OracleAgentMemory",
    "OracleContextCard",
    "OracleDBMemoryStore",
    "OracleMemoryStore",
    "OracleSearchResult",
    "OracleSearchResultFormatConfig",
    "OracleSummary",
    "OracleThread",
    "PruningEvaluationMode",
    "PruningMemorySearchConfig",
    "RecordRelation",
    "RelationType",
    "Reranker",
    "SchemaPolicy",
    "SearchIndexSyncMode",
    "SearchResultFormatConfig",
    "SearchStrategy",
    "TopKMemorySearchConfig",
]
