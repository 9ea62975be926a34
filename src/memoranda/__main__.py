"""Run the command line, or name the extra that brings it: the base install has no Typer."""

from __future__ import annotations

import sys

EXIT_USAGE = 2
REMEDY = "memoranda: the command line needs the engine extra: pip install 'memoranda[engine]'"


def main(argv: list[str] | None = None) -> int:
    """Run the command line with `argv` (default: the process's own) and return its exit code."""
    try:
        from memoranda.cli.app import run
    except ModuleNotFoundError as error:
        if _is_ours(error.name):
            raise
        print(REMEDY, file=sys.stderr)
        return EXIT_USAGE
    return run(argv)


def _is_ours(module: str | None) -> bool:
    # A module of ours that is missing is a broken install; naming an extra would hide it.
    return module is None or module.partition(".")[0] == "memoranda"


if __name__ == "__main__":
    sys.exit(main())
