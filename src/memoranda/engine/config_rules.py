"""The rules of the ``memory:`` block: which keys there are, what they may hold, and what belongs together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeVar

from memoranda.engine.analyser import known_languages
from memoranda.engine.config_model import (
    BLOCK_KEYS,
    DEFAULT_ENABLED,
    PREFERENCES,
    AnalyserConfig,
    BackgroundExtractionConfig,
    CapacityConfig,
    ChangeFeedConfig,
    CustomType,
    ExtractionConfig,
    ExtractionModelConfig,
    ExtractionPrompt,
    IdentityConfig,
    MetadataKey,
    ProjectConfig,
    RetentionConfig,
    ShortTermConfig,
    SnapshotConfig,
    SourceLegs,
    SpendingConfig,
    VoyageConfig,
)
from memoranda.engine.config_reading import Section
from memoranda.engine.config_source import ConfigError, Node, Problem, canonical_json
from memoranda.engine.filters import ValueType

BLOCK: Final = "memory"
MAX_PROMPT: Final = 4096
_MOST_A_DAY: Final = 10**12
MAX_CUSTOM_TYPES: Final = 5
MAX_TAGS: Final = 10
MAX_METADATA_KEYS: Final = 10

_LOG_LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_PROVIDERS: Final = ("openai", "anthropic", "gemini", "cerebras")
_EXTRACTION_TYPES: Final = (*DEFAULT_ENABLED, PREFERENCES)
_REMOVED_TYPE: Final = "entity"
_VISIBILITIES: Final = ("private", "org", "shared")
_SOURCES: Final = ("short_term", *DEFAULT_ENABLED)
_LEGS: Final = ("vector", "text", "both")
_SNAPSHOT_KEYS: Final = (
    "max_messages",
    "stale_minutes",
    "embed_stm_before_promotion",
    "topic_shift_enabled",
    "topic_shift_threshold",
    "delete_promoted",
    "ttl_days",
)
_MODEL_KEYS: Final = ("provider", "model", "base_url", "api_key_secret", "auth_header")

_SEGMENT: Final = "[a-z][a-z0-9_]{0,63}"
_TYPE_NAME: Final = re.compile(_SEGMENT)
_KEY_NAME: Final = re.compile(rf"{_SEGMENT}(?:\.{_SEGMENT})?")
_NAME_RULE: Final = "must be a lower-case letter, then at most 63 lower-case letters, digits or underscores"
_KEY_RULE: Final = f"{_NAME_RULE}; at most two such parts joined by one dot"
_RESERVED_TYPES: Final = frozenset(
    {
        "semantic",
        "episodic",
        "taxonomic",
        "procedural",
        "snapshot",
        "entity",
        "preferences",
        "turn",
        "stm",
        "short_term",
        "profile",
        "image",
    }
)
_RESERVED_METADATA_KEYS: Final = frozenset(
    {"org_id", "project_id", "user_id", "agent_id", "content", "embedding", "embedding_model_id", "created_at"}
)

_MOST_DAYS: Final = 36_500
_Value = TypeVar("_Value")


def read_block(node: Node, path: str | None = None) -> ProjectConfig:
    """Check a ``memory:`` block and build the configuration; raises ``ConfigError`` with every problem found."""
    problems: list[Problem] = []
    block = Section(node, BLOCK, BLOCK_KEYS, problems)
    config = ProjectConfig(
        log_level=block.choice("log_level", _LOG_LEVELS),
        voyage=_voyage(block),
        short_term=ShortTermConfig(block.section("short_term", ("embed_on_write",)).flag("embed_on_write")),
        extraction_llm=_extraction_model(block),
        background_extraction=_background(block),
        extraction=_extraction(block),
        capacity=_capacity(block),
        custom_memory_types=tuple(_custom_types(block)),
        metadata_partition_key=tuple(_metadata_keys(block)),
        metadata_partition_index=tuple(_metadata_index(block)),
        tasks=_tasks(block),
        analyser=_analyser(block),
        spending=_spending(block),
        change_feed=_change_feed(block),
        retention=_retention(block),
        identity=IdentityConfig(_or(block.section("identity", ("enforce",)).flag("enforce"), IdentityConfig().enforce)),
    )
    _check_short_term_leg(block, config)
    if problems:
        raise ConfigError(sorted(problems, key=lambda problem: problem.line or 0), path)
    return config


def _voyage(block: Section) -> VoyageConfig | None:
    section = block.section("voyage", ("model", "dimension"))
    return VoyageConfig(section.text("model"), section.whole("dimension", 1, 65_536)) if "voyage" in block else None


def _extraction_model(block: Section) -> ExtractionModelConfig | None:
    section = block.section("extraction_llm", _MODEL_KEYS)
    if "extraction_llm" not in block:
        return None
    return ExtractionModelConfig(section.choice("provider", _PROVIDERS), *map(section.text, _MODEL_KEYS[1:]))


def _spending(block: Section) -> SpendingConfig:
    section = block.section("spending", ("tokens_per_day", "calls_per_day"))
    return SpendingConfig(
        section.whole("tokens_per_day", 1, _MOST_A_DAY), section.whole("calls_per_day", 1, _MOST_A_DAY)
    )


def _change_feed(block: Section) -> ChangeFeedConfig:
    section = block.section("change_feed", ("memories", "turns", "keep_days"))
    default = ChangeFeedConfig()
    return ChangeFeedConfig(
        memories=_or(section.flag("memories"), default.memories),
        turns=_or(section.flag("turns"), default.turns),
        keep_days=_or(section.whole("keep_days", 1, 3_650), default.keep_days),
    )


def _retention(block: Section) -> RetentionConfig:
    section = block.section("retention", ("default_ttl_days", "max_ttl_days"))
    return RetentionConfig(
        section.whole("default_ttl_days", 1, _MOST_DAYS), section.whole("max_ttl_days", 1, _MOST_DAYS)
    )


def _background(block: Section) -> BackgroundExtractionConfig:
    section = block.section("background_extraction", ("snapshot",)).section("snapshot", _SNAPSHOT_KEYS)
    default = SnapshotConfig()
    return BackgroundExtractionConfig(
        SnapshotConfig(
            max_messages=_or(section.whole("max_messages", 1, 1_000), default.max_messages),
            stale_minutes=_or(section.whole("stale_minutes", 1, 525_600), default.stale_minutes),
            embed_stm_before_promotion=section.flag("embed_stm_before_promotion"),
            topic_shift_enabled=_or(section.flag("topic_shift_enabled"), default.topic_shift_enabled),
            topic_shift_threshold=_or(section.share("topic_shift_threshold"), default.topic_shift_threshold),
            delete_promoted=_or(section.flag("delete_promoted"), default.delete_promoted),
            ttl_days=_or(section.whole("ttl_days", 1, _MOST_DAYS), default.ttl_days),
        )
    )


def _extraction(block: Section) -> ExtractionConfig:
    section = block.section("extraction", ("enabled", "visibility", *_EXTRACTION_TYPES))
    prompts = [
        ExtractionPrompt(name, prompt)
        for name in _EXTRACTION_TYPES
        if (prompt := section.section(name, ("prompt",)).text("prompt", MAX_PROMPT)) is not None
    ]
    return ExtractionConfig(
        enabled=tuple(_enabled(section)) if "enabled" in section else DEFAULT_ENABLED,
        visibility=_or(section.choice("visibility", _VISIBILITIES), ExtractionConfig().visibility),
        prompts=tuple(prompts),
    )


def _enabled(section: Section) -> Iterable[str]:
    seen: set[str] = set()
    for path, node in section.items("enabled"):
        if node.value == _REMOVED_TYPE:
            section.note(node, f"{path} is {_REMOVED_TYPE!r}: this extraction type was removed; take it out")
        elif (name := section.choice_of(node, path, _EXTRACTION_TYPES)) and _is_first(section, node, path, seen):
            yield name


def _capacity(block: Section) -> CapacityConfig | None:
    section = block.section("capacity", ("min_replicas", "max_replicas"))
    least, most = section.whole("min_replicas", 1, 10), section.whole("max_replicas", 1, 10)
    if least is not None and most is not None and least > most:
        section.note(None, f"{section.path}.min_replicas is {least}, more than max_replicas, {most}")
    return CapacityConfig(least, most) if "capacity" in block else None


def _custom_types(block: Section) -> Iterable[CustomType]:
    names: set[str] = set()
    collections: set[str] = set()
    for path, node in block.items("custom_memory_types", MAX_CUSTOM_TYPES):
        section = _entry(block, node, path, ("name", "collection", "tags"), ("name", "collection"))
        name = _name(section, _TYPE_NAME, _NAME_RULE, _RESERVED_TYPES)
        collection = section.text("collection", 120)
        if name and collection:
            unique = _is_first(section, section.node("name"), f"{path}.name", names)
            unique &= _is_first(section, section.node("collection"), f"{path}.collection", collections)
            if unique:
                yield CustomType(name, collection, tuple(_tags(section)))


def _tags(custom: Section) -> Iterable[str]:
    seen: set[str] = set()
    for path, node in custom.items("tags", MAX_TAGS):
        section = _entry(custom, node, path, ("name",), ("name",))
        name = _name(section, _KEY_NAME, _KEY_RULE, frozenset())
        if name and _is_first(section, section.node("name"), f"{path}.name", seen):
            yield name


def _metadata_keys(block: Section) -> Iterable[MetadataKey]:
    seen: set[str] = set()
    for path, node in block.items("metadata_partition_key", MAX_METADATA_KEYS):
        section = _entry(block, node, path, ("name", "type"), ("name", "type"))
        name = _name(section, _KEY_NAME, _KEY_RULE, _RESERVED_METADATA_KEYS)
        kind = section.choice("type", tuple(ValueType))
        if name and kind and _is_first(section, section.node("name"), f"{path}.name", seen):
            yield MetadataKey(name, kind)


def _metadata_index(block: Section) -> Iterable[SourceLegs]:
    section = block.section("metadata_partition_index", _SOURCES)
    for source in sorted(_SOURCES):
        found = {section.choice_of(node, path, _LEGS) for path, node in section.items(source)}
        node = section.node(source)
        if node is not None and node.value == []:
            section.refuse(node, f"{section.path}.{source}", f"must have at least one of: {', '.join(_LEGS)}")
        elif found:
            legs = ("text", "vector") if "both" in found else tuple(sorted(leg for leg in found if leg))
            yield SourceLegs(source, legs)


def _check_short_term_leg(block: Section, config: ProjectConfig) -> None:
    legs = config.filter_legs("short_term") or ()
    if "vector" in legs and config.short_term.embed_on_write is False:
        index = block.node("metadata_partition_index")
        node = index.value.get("short_term") if index and isinstance(index.value, dict) else None
        block.note(
            node,
            "memory.metadata_partition_index.short_term has a vector leg, but memory.short_term.embed_on_write is "
            "false; set it to true or use [text]",
        )


def _tasks(block: Section) -> str | None:
    node = block.node("tasks")
    return None if node is None else canonical_json(node)


def _analyser(block: Section) -> AnalyserConfig:
    section = block.section("analyser", ("language",))
    return AnalyserConfig(_or(section.choice("language", known_languages()), AnalyserConfig().language))


def _entry(parent: Section, node: Node, path: str, known: tuple[str, ...], required: tuple[str, ...]) -> Section:
    """An item of a list that must be a mapping."""
    section = parent.at(node, path, known)
    for key in required:
        section.require(key)
    return section


def _name(section: Section, pattern: re.Pattern[str], rule: str, reserved: frozenset[str]) -> str | None:
    name, node = section.text("name"), section.node("name")
    if name is None or node is None:
        return None
    if name in reserved:
        section.refuse(node, f"{section.path}.name", f"is reserved; choose another than: {', '.join(sorted(reserved))}")
        return None
    if not pattern.fullmatch(name):
        section.refuse(node, f"{section.path}.name", rule)
        return None
    return name


def _is_first(section: Section, node: Node | None, path: str, seen: set[str]) -> bool:
    """Whether a name comes for the first time; a problem when not."""
    if node is None or not isinstance(node.value, str):
        return False
    if node.value in seen:
        section.note(node, f"{path} is {node.value!r}, which is there already; take one out")
        return False
    seen.add(node.value)
    return True


def _or(value: _Value | None, default: _Value) -> _Value:
    return default if value is None else value
