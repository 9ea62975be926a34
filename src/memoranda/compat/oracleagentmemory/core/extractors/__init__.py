"""The settings of extraction."""

from memoranda.compat.oracleagentmemory.absent import absent
from memoranda.threads import (
    BackgroundExtractionQueueFullBehavior,
    MemoryExtractionConfig,
    MemoryExtractionImageContext,
    MemoryExtractionMode,
    MemoryLinkExtractionMode,
)

ThreadMemoryExtractor = absent("ThreadMemoryExtractor")
OneShotThreadMemoryExtractor = absent("OneShotThreadMemoryExtractor")
PendingRecordBatch = absent("PendingRecordBatch")

__all__ = [
    "BackgroundExtractionQueueFullBehavior",
    "MemoryExtractionConfig",
    "MemoryExtractionImageContext",
    "MemoryExtractionMode",
    "MemoryLinkExtractionMode",
    "OneShotThreadMemoryExtractor",
    "PendingRecordBatch",
    "ThreadMemoryExtractor",
]
