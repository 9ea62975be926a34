"""What is wrong with a project configuration, on its own and for a project that is there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from memoranda.engine.analyser import Analyser
from memoranda.engine.config import ConfigChangeError, ConfigError, ProjectConfig, check_change, load_config
from memoranda.engine.config_rules import BLOCK
from memoranda.engine.config_source import Node, read_file
from memoranda.engine.config_writing import config_document
from memoranda.engine.project import stored_config
from memoranda.runtime.opening import open_store


@dataclass(frozen=True, slots=True)
class ConfigFinding:
    """One thing that is wrong or without effect, and its line in the file (from 1) where it has one."""

    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ConfigFindings:
    """What was found in a configuration. It can be used when there are no ``errors``."""

    errors: tuple[ConfigFinding, ...] = ()
    warnings: tuple[ConfigFinding, ...] = ()


def check_config(
    file: Path, store: str | os.PathLike[str] | None = None, *, project_id: str = "default"
) -> ConfigFindings:
    """Check a configuration file; with a ``store`` also what its project would not let it change. Writes nothing."""
    try:
        config = load_config(file)
    except ConfigError as error:
        return ConfigFindings(tuple(ConfigFinding(problem.message, problem.line) for problem in error.problems))
    root = read_file(file)
    changes = () if store is None else tuple(_changes(config, store, project_id))
    return ConfigFindings(
        errors=tuple(_located(root, message) for message in changes),
        warnings=tuple(_located(root, message) for message in config.warnings),
    )


def read_config(file: Path) -> ProjectConfig:
    """Return the configuration of a file; raises ``ConfigError`` with everything that is wrong with it."""
    return load_config(file)


def block_of(file: Path) -> dict[str, object]:
    """Return the ``memory:`` block of a file as plain data; raises as ``read_config`` does."""
    return dict(config_document(load_config(file)))


def _changes(config: ProjectConfig, store: str | os.PathLike[str], project_id: str) -> Iterator[str]:
    with closing(open_store(store)) as opened, opened.read(project_id) as tx:
        row = tx.projects.get()
    if row is None:
        return
    try:
        check_change(stored_config(row), config)
    except ConfigChangeError as error:
        yield from error.problems
    if row.analyser not in ("", Analyser(config.analyser.language).version):
        yield (
            f"{BLOCK}.analyser.language: {config.analyser.language!r} is not what the project was indexed with "
            f"({row.analyser}); put back its language"
        )


def _located(root: Node, message: str) -> ConfigFinding:
    """Find the line of the setting that a message begins with, or of the nearest one around it."""
    names = message.split(maxsplit=1)[0].rstrip(":").split(".")
    keys = root.value
    if isinstance(keys, dict) and BLOCK not in keys:
        names = names[1:]
    node, line = root, None
    for name in names:
        if not isinstance(node.value, dict) or name not in node.value:
            break
        line, node = node.line_of(name), node.value[name]
    return ConfigFinding(message, line)
