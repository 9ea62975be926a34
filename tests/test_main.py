"""The console script of a base install names the extra instead of failing with a traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memoranda.__main__ import main


def test_missing_extra_is_named_in_one_line() -> None:
    code = "import sys; sys.modules['typer'] = None; from memoranda.__main__ import main; sys.exit(main(['status']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "memoranda: the command line needs the engine extra: pip install 'memoranda[engine]'\n"


def test_missing_module_of_ours_is_not_taken_for_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "memoranda.cli.app", None)
    with pytest.raises(ModuleNotFoundError, match=r"memoranda\.cli\.app"):
        main(["status"])
