"""`python -m bench [NAME ...] [--quick] [--json] [--conversations FILE]`: measure, print one table, say what missed."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench import drain, postgres, recall, searches, server, starting, turns
from bench.figures import Figure, as_json, table
from bench.options import Options

MEASURES: dict[str, Callable[[Options], Iterator[Figure]]] = {
    "turns": turns.measure,
    "starting": starting.measure,
    "searches": searches.measure,
    "recall": recall.measure,
    "drain": drain.measure,
    "server": server.measure,
    "postgres": postgres.measure,
}
CONVERSATIONS = "MEMORANDA_LOCOMO"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named measures (all by default); return 1 when a figure misses its target, 0 otherwise."""
    asked = _parser().parse_args(arguments)
    file = asked.conversations or os.environ.get(CONVERSATIONS)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        options = Options(Path(folder), asked.quick, Path(file) if file else None)
        for name in asked.names or MEASURES:
            print(f"{name} ...", file=sys.stderr, flush=True)
            figures += MEASURES[name](options)
    print(as_json(figures) if asked.json else table(figures))
    return int(any(figure.met is False for figure in figures))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(MEASURES)} (all)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data: shows that everything works")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--conversations", metavar="FILE", help=f"questions with evidence; default ${CONVERSATIONS}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
