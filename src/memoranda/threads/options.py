"""The settings of a client and of a thread: what callers hand in, each field with its own ``NOT_SET``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum, StrEnum
from typing import Final

from memoranda.threads.not_set import NOT_SET, NotSet

_MIB: Final = 1024 * 1024


class MemoryExtractionMode(StrEnum):
    """When memories are extracted: within the call that adds the messages, or by a job after it."""

    INLINE = "INLINE"
    BACKGROUND = "BACKGROUND"


class MemoryLinkExtractionMode(StrEnum):
    """When links between memories are found: never, with the extraction, or by a request after it."""

    DISABLED = "DISABLED"
    DURING_EXTRACTION = "DURING_EXTRACTION"
    POST_EXTRACTION = "POST_EXTRACTION"


class MemoryExtractionImageContext(StrEnum):
    """How images of messages take part in extraction; ``MEMORY`` is not supported and refused."""

    DISABLED = "disabled"
    IMAGE = "image"
    CAPTION = "caption"
    MEMORY = "memory"


class BackgroundExtractionQueueFullBehavior(StrEnum):
    """What to do when background extraction has no room. Accepted work is durable here, so nothing is dropped."""

    DROP = "DROP"
    WAIT_THEN_DROP = "WAIT_THEN_DROP"
    WAIT_THEN_RAISE = "WAIT_THEN_RAISE"


class SchemaPolicy(StrEnum):
    """What opening may do to the store's schema."""

    REQUIRE_EXISTING = "require_existing"
    CREATE_IF_EMPTY = "create_if_empty"
    CREATE_IF_NECESSARY = "create_if_necessary"
    RECREATE = "recreate"
    NO_CHECK = "no_check"


class SearchStrategy(Enum):
    """Which indexes a search asks: vectors, words, or both."""

    VECTOR = "vector"
    HYBRID = "hybrid"
    KEYWORD = "keyword"


class SearchIndexSyncMode(Enum):
    """When the search index follows a write. Ours always does so with the commit."""

    ON_COMMIT = "on_commit"
    MANUAL = "manual"
    AUTO = "auto"


class TimeToLiveAnchor(StrEnum):
    """From when ``ttl_days`` counts: the creation of the record, or its event time."""

    CREATED_AT = "created_at"
    TIMESTAMP = "timestamp"


@dataclass(frozen=True, slots=True)
class MemoryExtractionConfig:
    """Settings of extraction and of the running summary.

    Nothing is checked here: a field resolves on its own, argument of the call before saved thread before client before
    default, and is checked when it does (``resolution.resolve_extraction``). Limits are in tokens, the queue's in
    seconds.
    """

    extract_memories: bool | NotSet = NOT_SET
    extraction_mode: MemoryExtractionMode | NotSet = NOT_SET
    memory_extraction_window: int | NotSet = NOT_SET
    memory_extraction_frequency: int | NotSet = NOT_SET
    memory_extraction_token_limit: int | NotSet = NOT_SET
    enable_context_summary: bool | NotSet = NOT_SET
    context_summary_update_frequency: int | NotSet = NOT_SET
    memory_extraction_custom_instructions: str | NotSet | None = NOT_SET
    memory_link_extraction_mode: MemoryLinkExtractionMode | NotSet = NOT_SET
    memory_link_extraction_token_limit: int | NotSet = NOT_SET
    memory_link_extraction_custom_instructions: str | NotSet | None = NOT_SET
    memory_extraction_inherit_message_metadata: bool | Sequence[str] | NotSet = NOT_SET
    memory_extraction_image_context: MemoryExtractionImageContext | NotSet = NOT_SET
    background_extraction_queue_full_behavior: BackgroundExtractionQueueFullBehavior | NotSet = NOT_SET
    background_extraction_queue_put_timeout_seconds: float | NotSet = NOT_SET


@dataclass(frozen=True, slots=True)
class ImageInputLimitConfig:
    """Limits on images, in bytes and in images a model request: 10 MiB, 100 and 100 MiB where omitted.

    Raises ``ValueError`` for a value that is not a positive integer or is above 32 MiB, 512 or 256 MiB.
    """

    max_raw_image_bytes: int | NotSet = NOT_SET
    max_images_per_llm_request: int | NotSet = NOT_SET
    max_total_raw_image_bytes_per_llm_request: int | NotSet = NOT_SET

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not NOT_SET:
                _check_limit(field.name, value)


IMAGE_LIMIT_DEFAULTS: Final = {
    "max_raw_image_bytes": 10 * _MIB,
    "max_images_per_llm_request": 100,
    "max_total_raw_image_bytes_per_llm_request": 100 * _MIB,
}
_IMAGE_LIMIT_MAXIMA: Final = {
    "max_raw_image_bytes": 32 * _MIB,
    "max_images_per_llm_request": 512,
    "max_total_raw_image_bytes_per_llm_request": 256 * _MIB,
}


@dataclass(frozen=True, slots=True)
class MemoryRetentionConfig:
    """How long records of a store are kept, in days.

    Omitted and ``None`` both keep for ever. Checked when a store is opened with it.
    """

    default_ttl_days: int | NotSet | None = NOT_SET
    max_ttl_days: int | NotSet | None = NOT_SET


def is_integer(value: object) -> bool:
    """Whether a value is an integer; ``True`` and ``False`` are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def schema_policy_of(value: SchemaPolicy | str) -> SchemaPolicy:
    """Read a policy or its value, which is compared case by case. Raises ``ValueError`` naming the five values."""
    try:
        return SchemaPolicy(value)
    except ValueError:
        known = ", ".join(repr(policy.value) for policy in SchemaPolicy)
        raise ValueError(f"schema_policy {value!r} is unknown; use one of {known}") from None


def _check_limit(name: str, value: object) -> None:
    most = _IMAGE_LIMIT_MAXIMA[name]
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise ValueError(f"{name} is {value!r}; give an integer from 1 to {most}")
