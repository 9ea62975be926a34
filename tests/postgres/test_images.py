"""Images of the engine on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memoranda.runtime.opening import open_store
from memoranda.testing.postgres_integrity import check
from tests.engine.image_rules import EndingRules, Images, KeepingRules, open_images


@pytest.fixture
def images(postgres_url: str) -> Iterator[Images]:
    with open_images(open_store(postgres_url)) as opened:
        yield opened
    assert check(postgres_url) == []


class TestKeeping(KeepingRules):
    """On PostgreSQL."""


class TestEnding(EndingRules):
    """On PostgreSQL."""
