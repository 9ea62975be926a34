"""Which project configuration is meant where none is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoranda.cli.ending import WrongUsageError

CONFIG_FILE: Final = "project-config.yaml"
STACK_MARKER: Final = "agent.yaml"
_ROOT_MARKER: Final = ".git"


def nearest_config(folder: Path) -> Path | None:
    """Return the `project-config.yaml` of a folder or the nearest one above it, up to the root of its repository."""
    return _nearest(folder, CONFIG_FILE)


def stack_config(folder: Path) -> Path:
    """Return the configuration of the stack that a folder is in; where it is in none, the folder's own.

    A stack is a folder with an `agent.yaml`. Its configuration is in it or above it; one without is refused.
    """
    marker = _nearest(folder, STACK_MARKER)
    if marker is None:
        return folder / CONFIG_FILE
    found = nearest_config(marker.parent)
    if found is None:
        raise WrongUsageError(f"the stack in {marker.parent} has no {CONFIG_FILE}, neither there nor above it")
    return found


def _nearest(folder: Path, name: str) -> Path | None:
    return next((place / name for place in _upwards(folder.absolute()) if (place / name).is_file()), None)


def _upwards(folder: Path) -> Iterator[Path]:
    """The folder and those above it, up to the root of its repository."""
    for place in (folder, *folder.parents):
        yield place
        if (place / _ROOT_MARKER).exists():
            return
