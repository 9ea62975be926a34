"""Requests of the routes that the shared contract does not have."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import ConfigDict, Field

from memoranda.sdk.models import (
    BulkItemResult,
    MemoryEntry,
    MemoryInput,
    MemoryUpdate,
    PromoteSnapshotResult,
    WriteTurnResult,
)
from memoranda.server.schemas.base import AsOf, OwnBody

MAX_WAIT_SECONDS: Final = 20.0

PageSize = Annotated[int, Field(ge=1, le=1000)]


class MemoriesBody(OwnBody):
    """Memories that are saved together or not at all."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"items": [{"kind": "semantic", "label": "home", "text": "Lives in Oslo.", "user_id": "ada"}]}]
        }
    )

    items: list[MemoryInput]


class MemoriesQuery(OwnBody):
    """Which memories; ``metadata_filter`` is the JSON text of an object, pages follow each other by ``cursor``."""

    kind: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    visibility: str | None = None
    metadata_filter: str | None = None
    include_superseded: bool = False
    as_of: AsOf | None = None
    limit: PageSize = 50
    cursor: str | None = None


class UpdateBody(MemoryUpdate):
    """The fields that change; null clears ``metadata`` and, for ``ttl_days``, keeps the memory forever."""

    model_config = ConfigDict(
        defer_build=False, json_schema_extra={"examples": [{"content": "Lives in Bergen.", "metadata": None}]}
    )


class MemoryQuery(OwnBody):
    user_id: str | None = None
    as_of: AsOf | None = None


class UserQuery(OwnBody):
    user_id: str | None = None


class PromoteBody(OwnBody):
    """Which sessions; neither given, all of them."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"session_id": "s1", "user_id": "ada"}]})

    session_id: str | None = None
    user_id: str | None = None


class WaitBody(OwnBody):
    """``timeout`` in seconds, at most 20: ask again while it is not idle."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"timeout": 10, "promote": True}]})

    timeout: Annotated[float, Field(ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False)] = MAX_WAIT_SECONDS
    promote: bool = True


class FailuresQuery(OwnBody):
    failure_class: str | None = None
    limit: PageSize = 50
    cursor: str | None = None


class FailuresBody(OwnBody):
    """Which failures; neither given, all of them."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"failure_class": "transient"}]})

    ids: list[str] | None = None
    failure_class: str | None = None


class ExportQuery(OwnBody):
    """``vectors``: with the vectors, which an import by the same embedder need not make again."""

    vectors: bool = False


class TurnResults(OwnBody):
    results: list[WriteTurnResult]


class ItemResults(OwnBody):
    results: list[BulkItemResult]


class Promotions(OwnBody):
    results: list[PromoteSnapshotResult]


class History(OwnBody):
    """Every state of a memory and of what it superseded, oldest first."""

    entries: list[MemoryEntry]


class Idle(OwnBody):
    idle: bool


class Count(OwnBody):
    count: int
