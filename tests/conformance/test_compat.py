"""A program on the original gets the same from our SDK once its import line is changed: the same checks, our names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.conformance import checks, original
from tests.conformance.servers import Servers
from tests.conformance.world import CHECKS

COMPAT = "memoranda.compat.agent_engine_sdk_memory"
MORE = {
    "errors-update_existing": "MemoryNotSupportedError was expected; the call returned CreateProceduralResult",
    "errors-limits": "MemoryClientError: empty query",
}
"""Where our SDK does otherwise on purpose, and how the check tells: it updates, and raises as it does in process."""


@pytest.fixture(scope="session")
def driver() -> Iterator[original.Driver]:
    with closing(original.Driver(Path(sys.executable), COMPAT)) as driver:
        yield driver


@pytest.mark.parametrize("name", [name for name in CHECKS if name not in MORE])
def test_our_sdk_gets_what_the_original_gets(driver: original.Driver, servers: Servers, name: str) -> None:
    assert checks.__all__
    # Checks keep their records apart by the name of the way.
    failed = driver.run(servers.ways["hosted"].called("compat"), name)
    assert failed is None, failed


@pytest.mark.parametrize("name", MORE)
def test_what_our_sdk_does_otherwise_is_still_so(driver: original.Driver, servers: Servers, name: str) -> None:
    told = driver.run(servers.ways["hosted"].called("more"), name)
    assert MORE[name] in (told or "")
