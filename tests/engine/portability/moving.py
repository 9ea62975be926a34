"""Moving a project from one store to another, as the command line does it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from memoranda.engine.portability.importing import ImportReport
from memoranda.runtime.portability import export_project, open_import


def exported(store: Path, *, vectors: bool = True) -> str:
    """Return the whole export of a store."""
    lines: list[str] = []
    export_project(store, lines.append, vectors=vectors)
    return "".join(lines)


def imported(store: Path, text: str, **options: Any) -> ImportReport:
    """Import an export into a store; return its report."""
    with open_import(store, io.BytesIO(text.encode()), name="backup.jsonl", **options) as opened:
        opened.check()
        return opened.run()
