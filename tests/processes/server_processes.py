"""Servers and workers as processes of their own, started as an operator starts them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SECONDS = 60.0


@dataclass(slots=True)
class Running:
    """A process that has said that it is ready; ``said`` is what it said."""

    process: subprocess.Popen[str]
    said: str

    @property
    def url(self) -> str:
        found = re.search(r"http://[\d.]+:\d+", self.said)
        assert found is not None, self.said
        return found[0]

    def kill(self) -> None:
        """End it as a crash or the kernel does."""
        self.process.kill()
        self.process.wait(SECONDS)

    def end(self) -> int:
        """Ask it to end, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SECONDS)


@contextmanager
def running(*words: str, log: Path) -> Iterator[Running]:
    """Run ``memoranda`` with these words while the block runs; nothing of it outlives the block."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
    with log.open("a", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "memoranda", *words],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**environment, "PYTHONUNBUFFERED": "1"},
        )
        patience = threading.Timer(SECONDS, process.kill)
        patience.start()
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            patience.cancel()
            assert said, f"it did not start: {log.read_text(encoding='utf-8')[-2000:]}"
            yield Running(process, said)
        finally:
            patience.cancel()
            if process.poll() is None:
                process.kill()
            process.communicate()


def serve_words(store: Path, *more: str) -> tuple[str, ...]:
    return ("serve", "--no-auth", "--port", "0", "--store", str(store), *more)


def worker_words(store: Path) -> tuple[str, ...]:
    return ("worker", "--store", str(store))
