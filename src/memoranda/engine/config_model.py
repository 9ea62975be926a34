"""A project's configuration as data: the ``memory:`` block of ``project-config.yaml`` with its defaults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Final

from pydantic import TypeAdapter

DEFAULT_ENABLED: Final = ("semantic", "episodic", "taxonomic", "procedural")
PREFERENCES: Final = "preferences"


@dataclass(frozen=True, slots=True)
class VoyageConfig:
    """The hosted embedding model, for a project that is opened with the default embedder."""

    model: str | None = None
    dimension: int | None = None


@dataclass(frozen=True, slots=True)
class ShortTermConfig:
    """``embed_on_write``: whether turns get vectors; unset means yes where there is an embedder."""

    embed_on_write: bool | None = None


@dataclass(frozen=True, slots=True)
class ExtractionModelConfig:
    """The language model for extraction, for a project that is opened without an ``llm``."""

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key_secret: str | None = None
    auth_header: str | None = None


@dataclass(frozen=True, slots=True)
class SnapshotConfig:
    """When a session's turns become a snapshot, and what happens to them then. ``ttl_days`` is the snapshot's life."""

    max_messages: int = 20
    stale_minutes: int = 3
    embed_stm_before_promotion: bool | None = None
    topic_shift_enabled: bool = False
    topic_shift_threshold: float = 0.35
    delete_promoted: bool = False
    ttl_days: int = 30


@dataclass(frozen=True, slots=True)
class BackgroundExtractionConfig:
    """The background work on turns."""

    snapshot: SnapshotConfig = SnapshotConfig()


@dataclass(frozen=True, slots=True)
class ExtractionPrompt:
    """Instructions of the project's own for one extraction type, at most 4,096 characters; a model is given them."""

    type: str
    prompt: str


@dataclass(frozen=True, slots=True)
class ExtractionConfig:
    """What is extracted, with which prompts, and for whom the extracted memories are visible."""

    enabled: tuple[str, ...] = DEFAULT_ENABLED
    visibility: str = "private"
    prompts: tuple[ExtractionPrompt, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of memory that are extracted, in order; ``preferences`` are of kind ``semantic``."""
        return tuple(dict.fromkeys("semantic" if name == PREFERENCES else name for name in self.enabled))

    @property
    def instructions(self) -> dict[str, str]:
        """The project's own instructions by kind; those for ``preferences`` are for semantic memories."""
        found: dict[str, list[str]] = {}
        for own in self.prompts:
            kind = "semantic" if own.type == PREFERENCES else own.type
            if own.type in self.enabled:
                found.setdefault(kind, []).append(own.prompt)
        return {kind: "\n".join(prompts) for kind, prompts in found.items()}

    @property
    def preferences_only(self) -> bool:
        """Whether of the semantic memories only those of record type ``preference`` are extracted."""
        return PREFERENCES in self.enabled and "semantic" not in self.enabled


@dataclass(frozen=True, slots=True)
class CapacityConfig:
    """Replicas of a hosted memory server; no meaning here."""

    min_replicas: int | None = None
    max_replicas: int | None = None


@dataclass(frozen=True, slots=True)
class CustomType:
    """A memory type of the project's own; never changes once it is stored."""

    name: str
    collection: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MetadataKey:
    """A metadata key that can be filtered; its type never changes once it is stored."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class SourceLegs:
    """The search legs (``text``, ``vector``) of one source that serve metadata filters."""

    source: str
    legs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpendingConfig:
    """What extraction may ask of models from 00:00 to 24:00 UTC; unset is unlimited. At the cap it pauses."""

    tokens_per_day: int | None = None
    calls_per_day: int | None = None


@dataclass(frozen=True, slots=True)
class AnalyserConfig:
    """The language whose words the text index stems."""

    language: str = "english"


@dataclass(frozen=True, slots=True)
class IdentityConfig:
    """``enforce``: on a server, reads name a user or a visibility, and writes the user they are for."""

    enforce: bool = False


@dataclass(frozen=True, slots=True)
class ChangeFeedConfig:
    """What the change feed tells of, and for how long an entry is kept."""

    memories: bool = True
    turns: bool = False
    keep_days: int = 30

    @property
    def enabled(self) -> bool:
        """Whether the feed tells of anything."""
        return self.memories or self.turns


@dataclass(frozen=True, slots=True)
class RetentionConfig:
    """Lifetimes in days of what is written through the thread API: unless it says one, and at the most."""

    default_ttl_days: int | None = None
    max_ttl_days: int | None = None


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """The whole configuration of one project; every field has the default of the documentation.

    ``tasks`` is the block as canonical JSON: its contents are not ours to know.
    """

    log_level: str | None = None
    voyage: VoyageConfig | None = None
    short_term: ShortTermConfig = ShortTermConfig()
    extraction_llm: ExtractionModelConfig | None = None
    background_extraction: BackgroundExtractionConfig = BackgroundExtractionConfig()
    extraction: ExtractionConfig = ExtractionConfig()
    capacity: CapacityConfig | None = None
    custom_memory_types: tuple[CustomType, ...] = ()
    metadata_partition_key: tuple[MetadataKey, ...] = ()
    metadata_partition_index: tuple[SourceLegs, ...] = ()
    tasks: str | None = None
    analyser: AnalyserConfig = AnalyserConfig()
    spending: SpendingConfig = SpendingConfig()
    identity: IdentityConfig = IdentityConfig()
    change_feed: ChangeFeedConfig = ChangeFeedConfig()
    retention: RetentionConfig = RetentionConfig()

    @property
    def snapshot(self) -> SnapshotConfig:
        """When turns become a snapshot: ``background_extraction.snapshot``."""
        return self.background_extraction.snapshot

    @property
    def filter_keys(self) -> dict[str, str]:
        """The declared filter keys, name to type, as the filter grammar takes them."""
        return {key.name: key.type for key in self.metadata_partition_key}

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each setting that is kept but has no effect, beginning with its path."""
        return tuple(_warnings(self))

    def custom_type(self, name: str) -> CustomType | None:
        """The custom type of this name, if it is declared."""
        return next((custom for custom in self.custom_memory_types if custom.name == name), None)

    def filter_legs(self, source: str) -> tuple[str, ...] | None:
        """The legs of a source that serve filters; ``None`` when the configuration does not say."""
        return next((entry.legs for entry in self.metadata_partition_index if entry.source == source), None)

    def to_json(self) -> str:
        """Canonical JSON: equal configurations give equal text."""
        plain = _adapter().dump_python(self, mode="json")
        return json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> ProjectConfig:
        """The configuration that ``to_json`` wrote; ``ValueError`` for any other text."""
        return _adapter().validate_json(text)


@cache
def _adapter() -> TypeAdapter[ProjectConfig]:
    return TypeAdapter(ProjectConfig)


def _warnings(config: ProjectConfig) -> Iterator[str]:
    if config.capacity is not None:
        yield "memory.capacity has no effect here: there are no replicas to count"
    if config.tasks is not None:
        yield "memory.tasks has no effect here"


BLOCK_KEYS: Final = tuple(field.name for field in fields(ProjectConfig))
"""The keys of the ``memory:`` block."""
