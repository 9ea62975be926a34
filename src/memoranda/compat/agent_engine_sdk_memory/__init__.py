"""The public names of `agent_engine_sdk_memory`, so that a program moves by changing its import line.

::

    from memoranda.compat.agent_engine_sdk_memory import Memory, MemoryRequestContext

Names only: each is Memoranda's own, so that `Memory.open` and everything else that Memoranda adds is there as well.
"""

from memoranda.sdk.errors import (
    MemoryAPIError,
    MemoryAuthError,
    MemoryBadRequestError,
    MemoryClientError,
    MemoryConnectionError,
    MemoryIdentityError,
    MemoryNotProvisionedError,
    MemoryNotSupportedError,
    MemoryRouteNotFoundError,
    MemoryServerError,
)
from memoranda.sdk.memory import Memory
from memoranda.sdk.models import (
    BulkCreateSemanticResult,
    ContextMetadata,
    ContextResponse,
    CreateEpisodicResult,
    CreateProceduralResult,
    CreateSemanticResult,
    CreateSnapshotResult,
    CreateTaxonomicResult,
    CreateUserContextResult,
    CustomMemoryRetrieveResult,
    CustomMemorySaveResult,
    DeleteResult,
    FormatStyle,
    InternalStateResult,
    ISGenerationResult,
    MemoryChunk,
    MemorySource,
    PromoteSnapshotResult,
    RetrievalMode,
    RetrievedCustomMemory,
    SearchSource,
    SourceOutcome,
    SourceSpec,
    TagScalar,
    WriteTurnResult,
)
from memoranda.sdk.protocol import AmbientIdentityRuntime, MemoryRequestContext, MemoryRuntime

__all__ = [
    "AmbientIdentityRuntime",
    "BulkCreateSemanticResult",
    "ContextMetadata",
    "ContextResponse",
    "CreateEpisodicResult",
    "CreateProceduralResult",
    "CreateSemanticResult",
    "CreateSnapshotResult",
    "CreateTaxonomicResult",
    "CreateUserContextResult",
    "CustomMemoryRetrieveResult",
    "CustomMemorySaveResult",
    "DeleteResult",
    "FormatStyle",
    "ISGenerationResult",
    "InternalStateResult",
    "Memory",
    "MemoryAPIError",
    "MemoryAuthError",
    "MemoryBadRequestError",
    "MemoryChunk",
    "MemoryClientError",
    "MemoryConnectionError",
    "MemoryIdentityError",
    "MemoryNotProvisionedError",
    "MemoryNotSupportedError",
    "MemoryRequestContext",
    "MemoryRouteNotFoundError",
    "MemoryRuntime",
    "MemoryServerError",
    "MemorySource",
    "PromoteSnapshotResult",
    "RetrievalMode",
    "RetrievedCustomMemory",
    "SearchSource",
    "SourceOutcome",
    "SourceSpec",
    "TagScalar",
    "WriteTurnResult",
]
