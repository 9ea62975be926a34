"""A scripted HTTP server for both colours of the SDK."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sdk.http.scripted_server import ScriptedServer, serving


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """Return a server that answers plausibly until told otherwise."""
    with serving() as server:
        yield server
