"""Project configuration: reading and checking it, and what may never change in it.

The keys are those of the ``memory:`` block of ``project-config.yaml``; ours besides: ``extraction.visibility``,
``analyser.language``, ``spending``, ``identity.enforce``, ``change_feed`` and ``retention``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from memoranda.engine.config_model import (
    BLOCK_KEYS,
    AnalyserConfig,
    BackgroundExtractionConfig,
    CapacityConfig,
    ChangeFeedConfig,
    CustomType,
    ExtractionConfig,
    ExtractionModelConfig,
    ExtractionPrompt,
    MetadataKey,
    ProjectConfig,
    RetentionConfig,
    ShortTermConfig,
    SnapshotConfig,
    SourceLegs,
    SpendingConfig,
    VoyageConfig,
)
from memoranda.engine.config_rules import BLOCK, read_block
from memoranda.engine.config_source import ConfigError, Node, Problem, from_plain, read_file
from memoranda.sdk.errors import MemoryConfigError

__all__ = [
    "AnalyserConfig",
    "BackgroundExtractionConfig",
    "CapacityConfig",
    "ChangeFeedConfig",
    "ConfigChangeError",
    "ConfigError",
    "CustomType",
    "ExtractionConfig",
    "ExtractionModelConfig",
    "ExtractionPrompt",
    "MetadataKey",
    "Problem",
    "ProjectConfig",
    "RetentionConfig",
    "ShortTermConfig",
    "SnapshotConfig",
    "SourceLegs",
    "SpendingConfig",
    "VoyageConfig",
    "check_change",
    "load_config",
]


class ConfigChangeError(MemoryConfigError):
    """A new configuration takes back what the stored one promised; ``problems`` has every such change."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def load_config(source: Path | str | Mapping[str, object] | None) -> ProjectConfig:
    """Read and check a configuration: a YAML file by its path, a mapping, or ``None`` for the defaults.

    A whole ``project-config.yaml`` or its ``memory:`` block alone, either way. Raises ``ConfigError`` that lists every
    problem with its line and remedy.
    """
    if source is None:
        return ProjectConfig()
    if isinstance(source, Mapping):
        root, path = from_plain(source), None
    else:
        root, path = read_file(Path(source)), str(source)
    return read_block(_block(root, path), path)


def check_change(old: ProjectConfig, new: ProjectConfig) -> None:
    """Raise ``ConfigChangeError`` where the new configuration changes what is written once.

    Filter keys and custom types may be added; a key keeps its type, a custom type its collection and tags.
    """
    problems = [*_key_changes(old, new), *_type_changes(old, new)]
    if problems:
        raise ConfigChangeError(problems)


def _block(root: Node, path: str | None) -> Node:
    """The ``memory:`` block of a document, or the document where it is the block itself."""
    keys = root.value
    if not isinstance(keys, dict) or not keys:
        return root
    if BLOCK in keys:
        block: Node = keys[BLOCK]
        return block
    if path is None or not keys.keys().isdisjoint(BLOCK_KEYS):
        return root
    # Another project's file may well have no memory block; a misspelt one must not pass for that.
    near = difflib.get_close_matches(BLOCK, keys, n=1)
    if near:
        raise ConfigError([Problem(f"unknown key {near[0]!r}; did you mean {BLOCK!r}?", root.line_of(near[0]))], path)
    return Node(None)


def _key_changes(old: ProjectConfig, new: ProjectConfig) -> Iterator[str]:
    for key in old.metadata_partition_key:
        kind = new.filter_keys.get(key.name)
        if kind is None:
            yield f"memory.metadata_partition_key: {key.name!r} cannot be removed; put back its type {key.type!r}"
        elif kind != key.type:
            yield (
                f"memory.metadata_partition_key: {key.name!r} cannot change from {key.type!r} to {kind!r}; "
                "keep its type and declare a key with a new name"
            )


def _type_changes(old: ProjectConfig, new: ProjectConfig) -> Iterator[str]:
    remedy = "keep it and declare a type with a new name"
    for custom in old.custom_memory_types:
        place, found = f"memory.custom_memory_types: {custom.name!r}", new.custom_type(custom.name)
        if found is None:
            yield f"{place} cannot be removed; put back its collection {custom.collection!r} and its tags"
            continue
        if found.collection != custom.collection:
            yield f"{place} cannot change its collection from {custom.collection!r} to {found.collection!r}; {remedy}"
        if set(found.tags) != set(custom.tags):
            yield f"{place} cannot change its tags from {_listed(custom.tags)} to {_listed(found.tags)}; {remedy}"


def _listed(tags: Iterable[str]) -> str:
    return f"[{', '.join(sorted(tags))}]"
