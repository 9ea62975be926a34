"""`memoranda changes` prints the change feed of a store, and follows it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memory
from tests.cli.conftest import Run


def remember(memory: Memory, label: str) -> str:
    return memory.save_semantic(label=label, text=f"about {label}", user_id="ada").id


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=None, worker=False) as memory:
        for label in ("one", "two"):
            remember(memory, label)
    return str(path)


def test_changes_are_printed_a_line_each_without_content(run: Run, store: str) -> None:
    done = run("changes", "--store", store)
    lines = done.out.splitlines()
    assert (done.code, [line.split()[0] for line in lines]) == (0, ["1", "2"])
    assert all("memory created" in line and line.endswith("of ada") for line in lines)
    assert "about" not in done.out


def test_a_script_goes_on_where_it_ended(run: Run, store: str) -> None:
    first = run("changes", "--json", "--store", store).json
    assert [each["entity"] for each in first["changes"]] == ["memory", "memory"]  # type: ignore[attr-defined]
    again = run("changes", "--json", "--after", str(first["next"]), "--store", store)
    assert again.json == {"changes": [], "next": first["next"]}
    assert run("changes", "--after", "nonsense", "--store", store).code == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_who_follows_sees_what_another_process_changes(store: str) -> None:
    words = [sys.executable, "-m", "memoranda", "changes", "--follow", "--json", "--store", store]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        before = page(process.stdout.readline())
        with Memory.open(store, embedder=None, worker=False) as memory:
            node = remember(memory, "three")
        after = page(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        left, complaint = process.communicate()
    assert [each["position"] for each in before + after] == [1, 2, 3]
    assert after[0]["entity_id"] == node
    assert (process.returncode, left, complaint) == (130, "", "")


def page(line: str) -> list[dict[str, Any]]:
    changes: list[dict[str, Any]] = json.loads(line)["changes"]
    return changes
