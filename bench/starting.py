"""What a program pays to begin: importing the package, and opening a store that is already large."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figures import Figure
from bench.fresh import seconds_in_fresh_process
from bench.options import Options
from bench.population import populated
from bench.timing import Times

_STATEMENTS = ("import memoranda", "from memoranda import Memory", "import pydantic, httpx")
_OPEN = "Memory.open({path!r})"
_OPEN_WHOLE = "from memoranda import Memory\n" + _OPEN


def measure(options: Options) -> Iterator[Figure]:
    """Yield the import beside that of its two dependencies, and the opening, both in new processes."""
    yield from _imports(options)
    yield from _openings(options)


def _imports(options: Options) -> Iterator[Figure]:
    package, facade, floor = _in_turns([(statement, "") for statement in _STATEMENTS], options.times(15))
    yield Figure("import memoranda", package.p50, floor=floor.p50, target=150.0, note=package.tail)
    yield Figure("from memoranda import Memory", facade.p50, floor=floor.p50, target=150.0, note=facade.tail)


def _openings(options: Options) -> Iterator[Figure]:
    path = str(populated(options))
    statements = [
        (_OPEN.format(path=path), "from memoranda import Memory"),
        (_OPEN_WHOLE.format(path=path), ""),
    ]
    alone, whole = _in_turns(statements, options.times(15))
    yield Figure(f"open {options.memories:,} memories", alone.p50, target=500.0, note=alone.tail)
    yield Figure("  with all imports", whole.p50, target=500.0, note=whole.tail)


def _in_turns(statements: list[tuple[str, str]], repetitions: int) -> list[Times]:
    """Time each statement in new processes, in turns; the first round, which fills the file cache, is not counted."""
    rounds = [
        [seconds_in_fresh_process(statement, before=before) for statement, before in statements]
        for _ in range(repetitions + 1)
    ]
    return [Times.of(column) for column in zip(*rounds[1:], strict=True)]
