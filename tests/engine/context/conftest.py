"""Worlds to assemble contexts from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.retrieval.world import SearchWorld, open_search_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[SearchWorld]:
    with open_search_world(tmp_path / "memory.db", embeds=True) as opened:
        yield opened
