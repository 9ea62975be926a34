"""The original SDK, unmodified, gets from our server what its documentation says: every method, each way to connect.

What is checked is in ``tests/conformance/checks``; the original runs in an environment and process of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.conformance import checks, original
from tests.conformance.servers import WAYS, Servers
from tests.conformance.world import CHECKS

PUBLIC = (
    "bind build_context build_context_from_sources discover_procedures get_procedure get_semantic get_taxonomic_term "
    "list_domains list_episodes record_turn retrieve save save_episode save_procedure save_semantic save_taxonomic "
    "search search_episodes search_semantic search_taxonomic"
).split()
"""Every public method of the original but ``close``, which every check calls."""


@pytest.fixture(scope="session")
def driver(original_python: Path) -> Iterator[original.Driver]:
    """Return the process that has the original."""
    with closing(original.Driver(original_python)) as driver:
        yield driver


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("way", WAYS)
def test_the_original_gets_what_its_documentation_says(
    driver: original.Driver, servers: Servers, way: str, name: str
) -> None:
    failed = driver.run(servers.ways[way], name)
    assert failed is None, failed


def test_every_public_method_is_checked_at_its_least_and_its_most() -> None:
    assert checks.__all__
    variants: dict[str, set[str]] = {}
    for name in CHECKS:
        method, _, variant = name.partition("-")
        variants.setdefault(method, set()).add(variant.partition("-")[0])
    assert set(PUBLIC) <= set(variants)
    wire = set(PUBLIC) - {"bind", "search"}  # these have a least form of another name
    assert {name for name in wire if not {"min", "max"} <= variants[name]} == {"get_taxonomic_term"}
