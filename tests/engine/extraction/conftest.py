"""Worlds of background work, each in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memoranda.engine.config_model import ProjectConfig
from tests.engine.background_world import World, open_world

MakeWorld = Callable[..., World]


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[MakeWorld]:
    with ExitStack() as stack:
        number = 0

        def make(config: ProjectConfig | None = None, *, embeds: bool = False) -> World:
            nonlocal number
            number += 1
            return stack.enter_context(open_world(tmp_path / f"{number}.db", config=config, embeds=embeds))

        yield make


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    return make_world()
