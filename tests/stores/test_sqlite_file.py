"""The file under an open SQLite store."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from memoranda.sdk.errors import MemoryStoreError
from memoranda.stores.sqlite import SqliteStore

NOBODY = 65534


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


def test_only_a_durable_change_waits_for_the_disk(store: SqliteStore, path: Path) -> None:
    modes = []
    for durable in (True, False, True):
        with store.write("p", durable=durable) as tx:
            modes.append(tx._sql._cursor.execute("PRAGMA synchronous").fetchone()[0])  # type: ignore[attr-defined]
    assert modes == [2, 1, 2]


def test_a_change_is_durable_after_one_that_should_last_less_and_failed(store: SqliteStore) -> None:
    with pytest.raises(LookupError), store.write("p", durable=False):
        raise LookupError
    with store.write("p") as tx:
        mode = tx._sql._cursor.execute("PRAGMA synchronous").fetchone()[0]  # type: ignore[attr-defined]
    assert mode == 2


def test_a_file_that_was_replaced_is_an_error(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    SqliteStore.open(other).close()
    other.replace(path)
    with pytest.raises(MemoryStoreError, match="deleted or replaced"), store.write("p"):
        pass
    SqliteStore.open(path).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.skipif(sys.platform == "win32", reason="rights as POSIX has them")
def test_a_folder_that_may_not_be_written_to_is_named() -> None:
    with TemporaryDirectory() as folder:
        SqliteStore.open(Path(folder) / "memory.db").close()
        os.chmod(folder, 0o555)
        with not_as_root(), pytest.raises(MemoryStoreError, match=f"the folder '{folder}' may not be written to"):
            SqliteStore.open(Path(folder) / "memory.db")


@contextmanager
def not_as_root() -> Iterator[None]:
    """Give up the rights of root for a while: they are above all others."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_temporary_store_outlives_a_forked_child() -> None:
    code = f"from {__name__} import leave_a_child; leave_a_child()"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_a_temporary_store_goes_when_it_is_closed() -> None:
    store = SqliteStore.open_temporary()
    folder = Path(store.describe().location).parent
    assert folder.exists()
    store.close()
    assert not folder.exists()


def leave_a_child() -> None:
    """Fork a child that ends as a script does, then write."""
    store = SqliteStore.open_temporary()
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
    with store.write("p"):
        pass
    store.close()
