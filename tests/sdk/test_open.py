"""`Memory.open`: the one way from the SDK to the engine."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from memoranda import Memory, MemoryRequestContext
from memoranda.sdk.protocol import DEFAULT_EMBEDDER
from tests.sdk.recording import FullRuntime


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Stand in for the engine at the seam: what `open_runtime` was asked for, and the runtime it gave."""
    asked: list[dict[str, Any]] = []

    def open_runtime(path_or_url: object, **options: Any) -> FullRuntime:
        runtime = FullRuntime()
        asked.append({"path_or_url": path_or_url, **options, "runtime": runtime})
        return runtime

    module = ModuleType("memoranda.runtime")
    module.open_runtime = open_runtime  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "memoranda.runtime", module)
    return asked


def test_defaults_ask_for_a_local_file_with_the_local_embedder(opened: list[dict[str, Any]]) -> None:
    Memory.open()
    opened[0].pop("runtime")
    assert opened == [
        {
            "path_or_url": "memory.db",
            "project_id": "default",
            "config": None,
            "embedder": DEFAULT_EMBEDDER,
            "llm": None,
            "reranker": None,
            "worker": True,
            "clock": None,
        }
    ]


def test_no_embedder_is_not_the_default_embedder(opened: list[dict[str, Any]]) -> None:
    Memory.open("x.db", embedder=None)
    assert opened[0]["embedder"] is None


def test_the_runtime_serves_everything_and_is_closed_with_the_handle(opened: list[dict[str, Any]]) -> None:
    with Memory.open("x.db") as memory:
        bound = memory.bind(MemoryRequestContext(user_id="u"))
        bound.record_turn(role="user")
        bound.save_semantic(text="t", label="l")
        bound.status()
    runtime = opened[0]["runtime"]
    assert runtime.names == ["record_turn", "create_semantic", "status"]
    assert runtime.closed == 1
    with pytest.raises(RuntimeError, match="closed"):
        bound.status()


def test_the_environment_is_not_consulted(opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTIC_MEMORY_PROJECT_ID", "elsewhere")
    Memory.open("x.db")
    assert opened[0]["project_id"] == "default"


# A finder that makes the engine's import fail the way a missing package does.
WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "memoranda.runtime":
            raise ModuleNotFoundError("No module named '{package}'", name="{package}")
sys.meta_path.insert(0, Missing())
from memoranda import Memory
try:
    Memory.open("never.db")
except ImportError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        (
            "sqlalchemy",
            "ImportError Memory.open needs the engine's packages (sqlalchemy is missing): "
            "pip install 'memoranda[engine]'",
        ),
        ("memoranda.engine.lost", "ModuleNotFoundError No module named 'memoranda.engine.lost'"),
    ],
)
def test_missing_package_names_the_extra_and_a_broken_install_does_not(package: str, expected: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(package=package)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == expected
