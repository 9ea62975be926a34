"""The file under an open SQLite store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(path)
    with store.write("p"):
        pass
    yield store
    store.close()


def test_a_file_that_was_deleted_is_an_error_and_is_not_made_anew(store: SqliteStore, path: Path) -> None:
    path.unlink()
    for transaction in (store.write, store.read):
        with pytest.raises(MemoryStoreError, match="deleted or replaced"), transaction("p"):
            pass
    assert not path.exists()


def test_a_file_that_was_replaced_is_an_error(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    SqliteStore.open(other).close()
    other.replace(path)
    with pytest.raises(MemoryStoreError, match="deleted or replaced"), store.write("p"):
        pass
    SqliteStore.open(path).close()
