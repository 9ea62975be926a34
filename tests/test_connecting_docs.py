"""What docs/connecting.md shows runs, and docs/capability-matrix.md has every method and tells the truth of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memoranda import AgentHost, Memory, MemoryNotSupportedError
from memoranda.sdk import _environment
from tests.sdk.recording import CoreClient, CoreRuntime, FullRuntime, over
from tests.test_package_contract import SHARED_METHODS

DOCS = Path(__file__).parent.parent / "docs"
CONNECTING = (DOCS / "connecting.md").read_text(encoding="utf-8")
MATRIX = (DOCS / "capability-matrix.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", CONNECTING, re.DOTALL | re.MULTILINE)
METHODS = {name for name in dir(Memory) if not name.startswith("_")}
OURS = METHODS - SHARED_METHODS.keys() - {"open"}
COLUMNS = ["embedded", "our server", "hosted", "direct", "app-bound"]

# One call of each of our methods, as it is made with the fewest arguments.
CALLS: dict[str, Any] = {
    "changes": (),
    "delete_memory": ("m1",),
    "delete_session": ("s",),
    "delete_turn": ("t1",),
    "delete_user": ("u",),
    "discard_failures": (["f1"],),
    "get_failure": ("f1",),
    "get_memory": ("m1",),
    "get_turn": ("t1",),
    "history": ("m1",),
    "list_failures": (),
    "list_memories": (),
    "list_turns": ("s",),
    "promote": (),
    "record_turns": ([{"role": "user", "content": "c"}],),
    "retry_failures": (),
    "save_many": ([{"kind": "semantic", "text": "t", "label": "l", "user_id": "u"}],),
    "status": (),
    "update_memory": ("m1",),
    "wait_until_idle": (),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_runs(example: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_connection_is_shown() -> None:
    assert len(EXAMPLES) == 7
    for heading in ("Embedded", "Direct", "Hosted", "App-bound"):
        assert f"\n## {heading}\n" in CONNECTING


def test_every_variable_is_documented() -> None:
    names = {value for name, value in vars(_environment).items() if name.endswith("_VARIABLE")}
    assert set(re.findall(r"^\| `(AGENTIC_MEMORY_\w+)` \|", CONNECTING, re.MULTILINE)) == names


def matrix() -> dict[str, dict[str, str]]:
    lines = re.findall(r"^\| `(\w+)` \| (.+) \|$", MATRIX, re.MULTILINE)
    return {method: dict(zip(COLUMNS, cells.split(" | "), strict=True)) for method, cells in lines}


def test_the_matrix_has_every_method_of_the_facade_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", MATRIX, re.MULTILINE)
    assert rows == sorted(METHODS)
    assert f"| method | {' | '.join(COLUMNS)} |" in MATRIX


def test_a_service_of_others_has_the_methods_of_the_shared_contract() -> None:
    without = {method for method, cells in matrix().items() if "✗" in cells["hosted"]}
    assert without == OURS
    assert {method for method, cells in matrix().items() if "✗" in cells["direct"]} - without == {"save", "retrieve"}


def test_what_is_ours_works_everywhere_else() -> None:
    for method, cells in matrix().items():
        assert cells["embedded"].startswith("✓"), method
        assert "✗" not in cells["our server"] + cells["app-bound"], method


@pytest.mark.parametrize("method", CALLS)
def test_a_call_of_ours_is_refused_by_a_runtime_that_lacks_it_and_made_app_bound(method: str) -> None:
    assert CALLS.keys() == OURS
    core = over(CoreRuntime(), CoreClient())
    with pytest.raises(MemoryNotSupportedError):
        call(core, method)
    full = FullRuntime()
    with AgentHost(over(full, full), record_turns=False).run(user_id="ada") as run:
        call(run.memory, method)
    assert len(full.calls) == 1


def call(memory: Memory, method: str) -> None:
    options = {"content": "new"} if method == "update_memory" else {}
    getattr(memory, method)(*CALLS[method], **options)


def test_shared_methods_are_in_the_matrix_with_a_tick_for_both_services_but_custom_types() -> None:
    for method in SHARED_METHODS.keys() - {"save", "retrieve", "close", "bind"}:
        assert set(matrix()[method].values()) == {"✓"}, method
