"""Memoranda: a memory engine for AI agents. These are the public names of the SDK."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from memoranda._version import __version__

if TYPE_CHECKING:
    from memoranda.sdk.aio.ambient import AsyncAgentHost
    from memoranda.sdk.aio.memory import AsyncMemory
    from memoranda.sdk.ambient import AgentHost
    from memoranda.sdk.errors import (
        MemoryAPIError,
        MemoryAuthError,
        MemoryBadRequestError,
        MemoryClientError,
        MemoryConfigError,
        MemoryConflictError,
        MemoryConnectionError,
        MemoryEmbedderMismatchError,
        MemoryIdentityError,
        MemoryNotFoundError,
        MemoryNotProvisionedError,
        MemoryNotSupportedError,
        MemoryReplyNotRecordedError,
        MemoryRouteNotFoundError,
        MemoryServerError,
        MemoryStoreError,
    )
    from memoranda.sdk.memory import Memory
    from memoranda.sdk.models import (
        BreakerEntry,
        BulkCreateSemanticResult,
        BulkItemResult,
        ChangeEntry,
        ChangePage,
        ChunkExplanation,
        ContextMetadata,
        ContextResponse,
        CreateEpisodicResult,
        CreateProceduralResult,
        CreateSemanticResult,
        CreateSnapshotResult,
        CreateTaxonomicResult,
        CreateUserContextResult,
        CustomInput,
        CustomMemoryRetrieveResult,
        CustomMemorySaveResult,
        DeleteResult,
        DeletionReport,
        EpisodicInput,
        FailureEntry,
        FailurePage,
        FormatStyle,
        InternalStateResult,
        ISGenerationResult,
        LegScore,
        MemoryChunk,
        MemoryEntry,
        MemoryInput,
        MemoryPage,
        MemorySource,
        MemoryUpdate,
        ProceduralInput,
        PromoteSnapshotResult,
        RetrievalMode,
        RetrievedCustomMemory,
        SearchSource,
        SemanticInput,
        SourceOutcome,
        SourceSpec,
        StatusReport,
        TagScalar,
        TaxonomicInput,
        TurnEntry,
        TurnInput,
        TurnPage,
        WriteTurnResult,
    )
    from memoranda.sdk.protocol import (
        AmbientIdentityRuntime,
        MemoryCrudClient,
        MemoryManagement,
        MemoryRequestContext,
        MemoryRuntime,
    )

__all__ = [
    "AgentHost",
    "AmbientIdentityRuntime",
    "AsyncAgentHost",
    "AsyncMemory",
    "BreakerEntry",
    "BulkCreateSemanticResult",
    "BulkItemResult",
    "ChangeEntry",
    "ChangePage",
    "ChunkExplanation",
    "ContextMetadata",
    "ContextResponse",
    "CreateEpisodicResult",
    "CreateProceduralResult",
    "CreateSemanticResult",
    "CreateSnapshotResult",
    "CreateTaxonomicResult",
    "CreateUserContextResult",
    "CustomInput",
    "CustomMemoryRetrieveResult",
    "CustomMemorySaveResult",
    "DeleteResult",
    "DeletionReport",
    "EpisodicInput",
    "FailureEntry",
    "FailurePage",
    "FormatStyle",
    "ISGenerationResult",
    "InternalStateResult",
    "LegScore",
    "Memory",
    "MemoryAPIError",
    "MemoryAuthError",
    "MemoryBadRequestError",
    "MemoryChunk",
    "MemoryClientError",
    "MemoryConfigError",
    "MemoryConflictError",
    "MemoryConnectionError",
    "MemoryCrudClient",
    "MemoryEmbedderMismatchError",
    "MemoryEntry",
    "MemoryIdentityError",
    "MemoryInput",
    "MemoryManagement",
    "MemoryNotFoundError",
    "MemoryNotProvisionedError",
    "MemoryNotSupportedError",
    "MemoryPage",
    "MemoryReplyNotRecordedError",
    "MemoryRequestContext",
    "MemoryRouteNotFoundError",
    "MemoryRuntime",
    "MemoryServerError",
    "MemorySource",
    "MemoryStoreError",
    "MemoryUpdate",
    "ProceduralInput",
    "PromoteSnapshotResult",
    "RetrievalMode",
    "RetrievedCustomMemory",
    "SearchSource",
    "SemanticInput",
    "SourceOutcome",
    "SourceSpec",
    "StatusReport",
    "TagScalar",
    "TaxonomicInput",
    "TurnEntry",
    "TurnInput",
    "TurnPage",
    "WriteTurnResult",
    "__version__",
]

_HOMES = ("memoranda.sdk.memory", "memoranda.sdk.errors", "memoranda.sdk.protocol", "memoranda.sdk.models")
# Loaded when they are named: most programs need none of them, and some bring asyncio.
_LATE_HOMES = {
    "AgentHost": "memoranda.sdk.ambient",
    "AsyncAgentHost": "memoranda.sdk.aio.ambient",
    "AsyncMemory": "memoranda.sdk.aio.memory",
}


def __getattr__(name: str) -> object:
    # The names are loaded at the first use of any: two thirds of what pydantic costs to import is paid when its
    # first model is made, and a program that only names the package should not pay it.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _LATE_HOMES:
        return vars(import_module(_LATE_HOMES[name]))[name]
    for home in _HOMES:
        module = import_module(home)
        globals().update({public: vars(module)[public] for public in __all__ if public in vars(module)})
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
