"""The example of the original SDK's README runs as it is; only the port is the one that our server got."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conformance import original
from tests.conformance.servers import Servers

EXAMPLE = Path(__file__).with_name("readme_example.txt")
ADDRESS = "http://localhost:8080"


def test_the_readme_example_prints_what_was_recorded(original_python: Path, servers: Servers) -> None:
    text = EXAMPLE.read_text()
    assert text.count(ADDRESS) == 1
    script = text.replace(ADDRESS, servers.readme_url.replace("127.0.0.1", "localhost"))
    done = subprocess.run(
        [original_python, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=original.environment(),
    )
    assert (done.stdout, done.stderr, done.returncode) == ("eng-alpha\n", "", 0)
