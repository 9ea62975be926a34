"""``docs/conformance.md`` is whole: each row names a test or a decision that exists, and nothing public is left out."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from memoranda.engine.config_model import BLOCK_KEYS
from tests.conformance import checks
from tests.conformance.world import CHECKS
from tests.test_package_contract import SHARED_METHODS, SHARED_NAMES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "conformance.md"
TEXT = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
SUITE = ROOT / "src" / "memoranda" / "testing" / "memory_suite"
OURS = {"analyser", "spending", "identity", "retention", "change_feed"}
"""Keys of the configuration that the original does not have."""
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#]+)(?:#[^)]*)?\)")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: its line, and its cells."""

    line: int
    cells: tuple[str, ...]

    def __str__(self) -> str:
        return f"line {self.line}: {self.cells[0]}"


def rows(text: str) -> list[Row]:
    """Return the rows of every table, less their heads."""
    lines = text.splitlines()
    found = [Row(number, _cells(line)) for number, line in enumerate(lines, 1) if line.startswith("|")]
    rules = {row.line for row in found if set("".join(row.cells)) <= set("-: ")}
    return [row for row in found if row.line not in rules and row.line + 1 not in rules]


def problems(row: Row, short: dict[str, str]) -> Iterator[str]:
    """Say what is wrong with the proofs that a row names."""
    proof = row.cells[-1]
    links, names = _LINK.findall(proof), _CODE.findall(proof)
    if not links and not names:
        yield "names neither a test nor a decision"
    for label, target in links:
        yield from _link_problems(label, target)
    for name in names:
        named = short.get(name, name)
        if not (_exists(named) if "::" in named else named in CHECKS):
            yield f"names {named!r}, which does not exist"


def _link_problems(label: str, target: str) -> Iterator[str]:
    page = PAGE.parent / target
    if not page.is_file():
        yield f"links {target!r}, which does not exist"
    elif label.isdecimal() and len(label) < 4 and not re.search(rf"^{label}\. ", page.read_text(), re.MULTILINE):
        yield f"links point {label} of {target!r}, which has none of that number"


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")))


def _exists(reference: str) -> bool:
    path, *names = reference.split("::")
    file = SUITE / path.removeprefix("suite/") if path.startswith("suite/") else ROOT / "tests" / path
    return file.is_file() and "::".join(names) in _tests_of(file)


@cache
def _tests_of(file: Path) -> frozenset[str]:
    """Return the tests of a file, those of a class with and without its name."""
    module = ast.parse(file.read_text(encoding="utf-8"))
    found = _functions(module.body)
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            tests = _functions(node.body)
            found |= tests | {f"{node.name}::{name}" for name in tests}
    return frozenset(name for name in found if name.rpartition("::")[2].startswith("test_"))


def _functions(body: list[ast.stmt]) -> set[str]:
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


ROWS = rows(TEXT)
SHORT = {row.cells[0].strip("`"): row.cells[1].strip("`") for row in ROWS if re.fullmatch(r"`[A-Z]`", row.cells[0])}
PROMISES = [row for row in ROWS if row.cells[0].strip("`") not in SHORT]


@pytest.mark.parametrize("row", PROMISES, ids=str)
def test_a_row_names_a_test_or_a_decision_that_exists(row: Row) -> None:
    assert checks.__all__
    assert len(row.cells) == 3
    assert list(problems(row, SHORT)) == []


def test_the_short_names_stand_for_tests_that_exist() -> None:
    assert SHORT
    assert [name for name in SHORT.values() if not _exists(name)] == []


@pytest.mark.parametrize(
    ("proof", "wrong"),
    [
        ("", "neither"),
        ("shown somewhere", "neither"),
        ("`sdk/test_identity.py::test_of_nothing`", "does not exist"),
        ("`sdk/test_nothing.py::test_of_nothing`", "does not exist"),
        ("`no-such-check`", "does not exist"),
        ("[9](decisions/none.md)", "does not exist"),
        ("[99](decisions/README.md)", "none of that number"),
    ],
)
def test_a_row_without_a_proof_would_be_seen(proof: str, wrong: str) -> None:
    (row,) = rows(f"| a | b | c |\n|---|---|---|\n| promise | same | {proof} |\n")
    assert wrong in "; ".join(problems(row, SHORT))


@pytest.mark.parametrize("method", sorted(SHARED_METHODS))
def test_every_parameter_of_every_method_has_its_row(method: str) -> None:
    told = "\n".join(row.cells[0] for row in _section_of(method))
    parameters = re.findall(r"(\w+)(?:=[^,]+)?(?:,|$)", SHARED_METHODS[method].replace("*, ", ""))
    assert [name for name in parameters if not re.search(rf"\b{name}\b", told)] == []


def test_every_name_variable_and_setting_of_the_original_is_told_of() -> None:
    variables = [f"AGENTIC_MEMORY_{name}" for name in ("SERVICE_ACCOUNT_TOKEN", "API_KEY", "BASE_URL", "PROJECT_ID")]
    wanted = [*SHARED_NAMES, *variables, *(key for key in BLOCK_KEYS if key not in OURS)]
    assert [name for name in wanted if name not in TEXT] == []


def test_the_sdk_has_the_modules_of_the_original() -> None:
    modules = (
        "memory protocol identity errors models validation _transport _http_runtime _direct_crud _wire _tag_syntax"
    )
    for name in [*modules.split(), "_client", "_denylist"]:
        assert importlib.import_module(f"memoranda.sdk.{name}").__doc__


def _section_of(method: str) -> list[Row]:
    """Return the rows of the section whose heading names a method."""
    heading = next(
        number
        for number, line in enumerate(TEXT.splitlines(), 1)
        if line.startswith("### ") and method in re.split(r"[ ,:]+", line)
    )
    ends = [number for number, line in enumerate(TEXT.splitlines(), 1) if line.startswith("#") and number > heading]
    return [row for row in PROMISES if heading < row.line < min(ends)]
