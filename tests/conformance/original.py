"""The original SDK as a black box: its own environment, made from the package index, and a process that drives it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
import venv
from dataclasses import asdict
from pathlib import Path

from tests.conformance.world import Way

ROOT = Path(__file__).parents[2]
PACKAGE = "agent_engine_sdk_memory"
_CONSTRAINTS = Path(__file__).with_name("constraints.txt")
_HOME = ROOT / ".venv-conformance"
_UNREACHABLE = re.compile(r"connection broken by|Failed to establish|name resolution|Max retries|ProxyError|timed out")
_HIDDEN = ("AGENTIC_MEMORY_", "MEMORANDA_", "PYTHON", "VIRTUAL_ENV")


class IndexUnreachableError(Exception):
    """The package index cannot be asked now; nothing is known about the package."""


def python() -> Path:
    """Return the interpreter of the original's environment, making or renewing that when its pins changed.

    Raises ``IndexUnreachableError`` when the package index cannot be reached.
    """
    pins = hashlib.sha256(_CONSTRAINTS.read_bytes() + sys.version.encode()).hexdigest()
    _HOME.mkdir(exist_ok=True)
    with (_HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # processes of one test run share the environment
        stamp = _HOME / "stamp"
        if not stamp.exists() or stamp.read_text() != pins:
            _install()
            stamp.write_text(pins)
    return _HOME / "env" / "bin" / "python"


def _install() -> None:
    venv.create(_HOME / "env", clear=True, with_pip=True)
    pip = [str(_HOME / "env" / "bin" / "python"), "-m", "pip", "install", "--quiet", "--retries", "1"]
    done = subprocess.run([*pip, "-r", str(_CONSTRAINTS)], capture_output=True, text=True, check=False)
    if done.returncode:
        if _UNREACHABLE.search(done.stdout + done.stderr):
            raise IndexUnreachableError(done.stderr.strip().splitlines()[-1])
        raise RuntimeError(f"the original SDK cannot be installed:\n{done.stderr}")


class Driver:
    """A process that runs checks with a package, in the environment that has it."""

    def __init__(self, interpreter: Path, package: str = PACKAGE) -> None:
        self._package = package
        self._process = subprocess.Popen(
            [interpreter, "-m", "tests.conformance.drive"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment(),
        )

    def run(self, way: Way, check: str) -> str | None:
        """Return what a check came to: nothing, or the traceback of its failure."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        print(json.dumps({"package": self._package, "way": asdict(way), "check": check}), file=stdin, flush=True)
        line = stdout.readline()
        if not line:
            raise RuntimeError(f"the process that drives {self._package} ended with {self._process.wait()}")
        result: str | None = json.loads(line)
        return result

    def close(self) -> None:
        """Let the process end."""
        self._process.communicate()


def environment(**more: str) -> dict[str, str]:
    """Return this process's variables without settings of the SDK, of ours or of the interpreter."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_HIDDEN)} | more
