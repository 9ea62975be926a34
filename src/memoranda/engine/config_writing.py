"""A configuration as the document that it can be read from."""

from __future__ import annotations

import json
from typing import Any

from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.records import JsonObject


def config_document(config: ProjectConfig) -> JsonObject:
    """Return the ``memory:`` block of a configuration, defaults written out; ``load_config`` reads it back equal."""
    block: dict[str, Any] = json.loads(config.to_json())
    extraction = block["extraction"]
    prompts = extraction.pop("prompts")
    extraction.update({entry["type"]: {"prompt": entry["prompt"]} for entry in prompts})
    for custom in block["custom_memory_types"]:
        custom["tags"] = [{"name": name} for name in custom["tags"]]
    block["metadata_partition_index"] = {entry["source"]: entry["legs"] for entry in block["metadata_partition_index"]}
    if config.tasks is not None:
        block["tasks"] = json.loads(config.tasks)
    return {key: _given(value) for key, value in block.items() if value is not None}


def changed_keys(old: ProjectConfig, new: ProjectConfig) -> list[str]:
    """Return the keys of the block, dotted and in order, whose values differ."""
    return sorted(_changed(config_document(old), config_document(new), ""))


def _given(value: object) -> object:
    if isinstance(value, dict):
        return {key: _given(item) for key, item in value.items() if item is not None}
    return value


def _changed(old: object, new: object, path: str) -> list[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        found: list[str] = []
        for key in old.keys() | new.keys():
            found += _changed(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
        return found
    return [] if old == new else [path]
