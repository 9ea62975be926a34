"""Images of the engine on SQLite, and their way from one store to another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda.engine.records import Image
from memoranda.engine.turns import TurnDraft
from memoranda.stores.sqlite import SqliteStore
from memoranda.testing.integrity import check
from tests.engine.image_rules import ANN, BYTES, EndingRules, Images, KeepingRules, open_images
from tests.engine.portability.moving import exported, imported


@pytest.fixture
def images(tmp_path: Path) -> Iterator[Images]:
    with open_images(SqliteStore.open(tmp_path / "memory.db")) as opened:
        yield opened
    assert check(tmp_path / "memory.db") == []


class TestKeeping(KeepingRules):
    """On SQLite."""


class TestEnding(EndingRules):
    """On SQLite."""


def test_images_move_with_their_bytes(images: Images, tmp_path: Path) -> None:
    turn = images.engine.turns.record([TurnDraft(ANN, "user", "look")])[0].turn
    part, alone = images.add("a cat", turn_id=turn.id), images.add("a dog", metadata={"k": "ü"})
    images.work()
    text = exported(tmp_path / "memory.db")
    target = tmp_path / "other.db"
    assert imported(target, text).added["image"] == 2
    assert exported(target) == text.replace(part.blob_id, _blob_of(target, part)).replace(
        alone.blob_id, _blob_of(target, alone)
    )
    assert check(target) == []
    assert imported(target, text, merge=True).existing["image"] == 2


def _blob_of(path: Path, image: Image) -> str:
    store = SqliteStore.open(path)
    try:
        with store.read("default") as tx:
            (found,) = tx.images.get([image.id])
            assert tx.images.data([found.blob_id]) == {found.blob_id: BYTES}
            return found.blob_id
    finally:
        store.close()
