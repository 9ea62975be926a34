"""The environment of the original SDK and our servers, once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance import original
from tests.conformance.servers import Servers


@pytest.fixture(scope="session")
def original_python() -> Path:
    """Return the interpreter that has the original SDK; skip where the package index cannot be reached."""
    try:
        return original.python()
    except original.IndexUnreachableError as error:
        pytest.skip(f"NOT PROVEN: the package index is unreachable, the original SDK was not driven ({error})")


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Return our servers, running: an open one and a guarded one."""
    with Servers(tmp_path_factory.mktemp("servers")) as running:
        yield running
