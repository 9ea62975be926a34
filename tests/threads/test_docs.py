"""What docs/threads.md shows runs, as one program."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

GUIDE = (Path(__file__).parent.parent.parent / "docs" / "threads.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)


def test_the_guide_is_a_program_that_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(BLOCKS)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "memory.db").exists()


def test_the_guide_goes_from_a_first_thread_to_a_card_in_a_prompt() -> None:
    assert len(BLOCKS) == 11
    assert GUIDE.index("create_thread(") < GUIDE.index(".search(") < GUIDE.index("get_context_card(")
