"""A project whose memories a test saves, reads and deletes through the services."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda.engine.config_model import CustomType, MetadataKey, ProjectConfig
from tests.engine.memory.world import MemoryWorld, open_memory_world

CONFIG = ProjectConfig(
    metadata_partition_key=(
        MetadataKey("ok", "boolean"),
        MetadataKey("n", "number"),
        MetadataKey("tag", "string"),
        MetadataKey("x", "string"),
    ),
    custom_memory_types=(CustomType("ticket", "tickets", ("status", "profile.location")),),
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[MemoryWorld]:
    with open_memory_world(tmp_path / "memory.db", config=CONFIG) as opened:
        yield opened


@pytest.fixture
def embedding_world(tmp_path: Path) -> Iterator[MemoryWorld]:
    with open_memory_world(tmp_path / "memory.db", config=CONFIG, embeds=True) as opened:
        yield opened
