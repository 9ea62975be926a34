"""One server for the whole test run, one database for each of its processes, emptied for each test."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda.testing import postgres


@pytest.fixture(scope="session")
def postgres_server(testrun_uid: str) -> Iterator[str]:
    with postgres.server(Path(tempfile.gettempdir()) / f"memoranda-{testrun_uid[:12]}") as url:
        yield url


@pytest.fixture(scope="session")
def postgres_database(postgres_server: str) -> Iterator[str]:
    with postgres.database(postgres_server) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_database: str) -> str:
    postgres.empty(postgres_database)
    return postgres_database
