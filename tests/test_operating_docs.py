"""docs/operating.md tells every event that is logged, with its level, and every metric; and none that is not there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from memoranda.runtime.fleet import Fleet
from memoranda.server.observability.metrics import ServerMetrics
from tests.server.live import open_host

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
LEVELS = ("debug", "info", "warning", "error")


def logged() -> Iterator[tuple[str, str]]:
    """Every event with its level; one whose level is chosen at the call has none."""
    for path in sorted((ROOT / "src" / "memoranda").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="logger"), attr=level), args=[*_, event]):
                    for name in (each.value for each in ast.walk(event) if isinstance(each, ast.Constant)):
                        yield str(name), level if level in LEVELS else ""


def rows(heading: str) -> list[list[str]]:
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"]


def test_every_event_has_its_row_with_its_level() -> None:
    told = {cells[0].strip("`"): cells[1] for cells in rows("Logs")}
    found = dict(logged())
    assert len(found) > 20
    assert set(told) == set(found)
    assert {name: level for name, level in told.items() if found[name]} == {
        name: level for name, level in found.items() if level
    }


def test_every_metric_has_its_row(tmp_path: Path) -> None:
    with closing(open_host(tmp_path)) as host:
        metrics = ServerMetrics(host)
        metrics.watch(Fleet(host))
        metrics.began()
        metrics.ended("GET", "/x", 200, 0.1)
        families = {family.name for family in text_string_to_metric_families(metrics.text().decode())}
    found = {name for name in families if name.startswith("memoranda_") and not name.endswith("_created")}
    told = {cells[0].strip("`") for cells in rows("Watching") if cells[0].startswith("`memoranda_")}
    alerts = re.compile("[ >]")
    assert {name.removesuffix("_total") for name in told if not alerts.search(name)} == found
