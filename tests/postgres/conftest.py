"""One server for a process of the test run, one database, emptied for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memoranda.testing import postgres


@pytest.fixture(scope="session")
def postgres_database() -> Iterator[str]:
    with postgres.server() as server, postgres.database(server) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_database: str) -> str:
    postgres.empty(postgres_database)
    return postgres_database
