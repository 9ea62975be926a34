"""What the README shows runs as it is shown."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CHAT = '{"role": "user", "content": "I am allergic to peanuts.", "session_id": "monday"}\n'


def _blocks(language: str) -> list[str]:
    return [body for name, body in _FENCED.findall(README.read_text(encoding="utf-8")) if name == language]


def _commands() -> list[list[str]]:
    lines = [line for block in _blocks("") for line in block.splitlines() if line.startswith("memoranda ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


def test_readme_is_short_enough_to_be_read() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


def test_example_remembers_what_was_said(tmp_path: Path) -> None:
    example, _ = _blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert "Lisbon" in done.stdout
    assert "peanuts" in done.stdout
    assert (tmp_path / "memory.db").exists()


def test_commands_run_in_the_order_shown(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text(CHAT, encoding="utf-8")
    commands = _commands()
    assert [words[0] for words in commands][:3] == ["ingest", "search", "context"]
    printed = []
    for words in commands:
        done = subprocess.run(
            [sys.executable, "-m", "memoranda", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, (words, done.stderr)
        printed.append(done.stdout)
    assert all("peanuts" in text for text in printed[1:3])


def test_example_talks_to_the_server_that_was_started_as_shown(tmp_path: Path) -> None:
    (shown,) = [line for block in _blocks("sh") for line in block.splitlines() if line.startswith("memoranda ")]
    words = [*shlex.split(shown, comments=True)[1:], "--port", "0"]
    command = [sys.executable, "-m", "memoranda", *words]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            (url,) = re.findall(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            _, example = _blocks("python")
            done = subprocess.run(
                [sys.executable, "-W", "error", "-c", example],
                env=os.environ | {"AGENTIC_MEMORY_BASE_URL": url},
                capture_output=True,
                text=True,
                check=False,
                encoding="utf-8",
            )
            assert done.stderr == ""
            assert "window seats" in done.stdout
        finally:
            server.send_signal(signal.SIGINT)
    assert server.returncode in (0, 130)
