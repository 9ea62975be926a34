"""The example of the original SDK's README runs as it is, and so do our first steps with it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import httpx

from tests.conformance import original
from tests.conformance.servers import Servers

FIRST_STEPS = Path(__file__).parents[2] / "docs" / "connecting.md"
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


def test_the_first_steps_lead_to_a_fact(original_python: Path, servers: Servers) -> None:
    (script,) = re.findall(r"^```py\n(.*?)^```$", FIRST_STEPS.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)

    def printed() -> list[str]:
        done = subprocess.run(
            [original_python, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={**original.environment(), "AGENTIC_MEMORY_BASE_URL": servers.readme_url},
        )
        return done.stdout.splitlines()

    assert "allergic to peanuts" in printed()[0]
    wait = httpx.post(f"{servers.readme_url}/api/v1/memory/wait", json={"timeout": 20}, timeout=30)
    assert wait.json() == {"idle": True}
    assert "allergic to peanuts" in printed()[1]
