"""docs/configuration.md tells every setting with its default, and none that is not there."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda.cli import environment as command_line
from memoranda.engine.config import ProjectConfig
from memoranda.providers import _secrets as providers
from memoranda.sdk import _environment as sdk
from memoranda.server.serving import ServingSettings
from memoranda.server.settings import ServerSettings

PAGE = (Path(__file__).parents[1] / "docs" / "configuration.md").read_text(encoding="utf-8")
LISTS = {"custom_memory_types", "metadata_partition_key", "metadata_partition_index"}


def rows(heading: str) -> dict[str, list[str]]:
    """The cells of a section's rows, by the name in the first."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"
    ]
    return {cells[0].strip("`"): cells for cells in found}


def keys(of: type, path: str = "") -> Iterator[tuple[str, object]]:
    """The keys of a configuration, dotted, with their defaults."""
    hints = typing.get_type_hints(of)
    for field in dataclasses.fields(of):
        name, kind = path + field.name, hints[field.name]
        optional = [each for each in typing.get_args(kind) if dataclasses.is_dataclass(each)]
        if name == "extraction.prompts":
            yield "extraction.TYPE.prompt", None
        elif name in LISTS:
            yield name, ()
        elif dataclasses.is_dataclass(kind) and isinstance(kind, type):
            yield from keys(kind, f"{name}.")
        elif isinstance(kind, types.UnionType) and optional:
            yield name, None
            yield from keys(typing.cast(type, optional[0]), f"{name}.")
        else:
            yield name, field.default


def shown(value: object) -> str:
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)


KEYS = dict(keys(ProjectConfig))
SETTINGS = {**ServerSettings.model_fields, **ServingSettings.model_fields}


def test_walks_find_what_there_is() -> None:
    assert {"log_level", "voyage.model", "background_extraction.snapshot.ttl_days"} <= set(KEYS)
    assert {"port", "max_body_bytes"} <= set(SETTINGS)


def test_every_key_of_the_block_has_its_row_and_no_other() -> None:
    assert set(rows("The memory block")) == set(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_default_of_a_key_is_told(key: str) -> None:
    cells = rows("The memory block")[key]
    assert len(cells) == 4
    assert cells[1] == shown(KEYS[key])
    assert cells[3]


def test_every_setting_of_the_server_has_its_row_and_no_other() -> None:
    assert set(rows("The server")) == {f"MEMORANDA_SERVER_{name.upper()}" for name in SETTINGS}


@pytest.mark.parametrize("name", SETTINGS)
def test_default_of_a_setting_is_told(name: str) -> None:
    cells = rows("The server")[f"MEMORANDA_SERVER_{name.upper()}"]
    assert len(cells) == 4
    assert cells[2] == shown(SETTINGS[name].default)


def test_every_other_variable_has_its_row_and_no_other() -> None:
    named = {
        value
        for module in (command_line, sdk)
        for name, value in vars(module).items()
        if name.endswith("_VARIABLE") and isinstance(value, str)
    }
    named |= {providers.GENERIC_KEY, providers.OPENAI_BASE_URL, *providers.KEY_VARIABLES.values()}
    assert set(rows("Clients and keys")) == named


def test_flags_are_those_of_serve() -> None:
    from typer.main import get_command

    from memoranda.cli.app import app

    serve = typing.cast(typing.Any, get_command(app)).commands["serve"]
    flags = {option for parameter in serve.params for option in parameter.opts}
    told = {flag for cells in rows("The server").values() for flag in re.findall(r"`(--[a-z-]+)`", cells[1])}
    assert told
    assert told <= flags
