"""docs/cli.md tells every command, option and exit code, and nothing that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from memoranda.cli.app import app
from memoranda.cli.chat_file import FIELDS
from memoranda.cli.ending import EXIT_CODES
from memoranda.cli.environment import STORE_VARIABLE
from memoranda.cli.options import SOURCES

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its words; groups are walked through."""
    children = getattr(command, "commands", None)
    if children is None:
        yield " ".join(path), command
        return
    for name, child in children.items():
        yield from commands(child, (*path, name))


COMMANDS = dict(commands(get_command(app)))


def section(name: str) -> str:
    """The part of the page under a command's heading."""
    found = re.search(rf"^#+ {re.escape(name)}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"docs/cli.md has no heading for {name!r}"
    return found[1]


def options(command: Any) -> set[str]:
    return {name for each in command.params for name in each.opts if name.startswith("--")} - {"--help"}


def test_the_walk_finds_the_commands() -> None:
    assert {"demo", "ingest", "search", "context", "status", "promote", "failures list"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_has_its_row(name: str) -> None:
    rows = set(re.findall(r"^\| `(--[a-z-]+)", section(name), re.MULTILINE))
    assert rows == options(COMMANDS[name])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_explains_itself(name: str) -> None:
    assert COMMANDS[name].help
    assert all(each.help for each in COMMANDS[name].params)


def test_exit_codes_are_those_that_are_used() -> None:
    rows = re.findall(r"^\| (\d+) \| ", PAGE, re.MULTILINE)
    assert [int(row) for row in rows] == list(EXIT_CODES)


def test_fields_sources_and_variables_are_told() -> None:
    assert re.findall(r"^\| `([a-z_]+)` \| ", section("ingest"), re.MULTILINE) == list(FIELDS)
    assert all(f"`{source}`" in section("search") for source in SOURCES)
    assert f"`{STORE_VARIABLE}`" in PAGE
