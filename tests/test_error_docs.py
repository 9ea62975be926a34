"""Every error class and every code that the program can raise is in docs/errors.md, and nothing else is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda.sdk import errors
from memoranda.server.errors import status_of

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "memoranda"
DOCS = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
_CODE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_CELLS = re.compile(r"^\| (.+) \|$", re.MULTILINE)

# What other services say, which our client tells apart.
_FROM_ELSEWHERE = {"AGENT_NOT_DEPLOYED"}


def modules() -> list[ast.Module]:
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if "testing" not in path.parts]
    return [ast.parse(path.read_text(encoding="utf-8")) for path in paths]


def constants(trees: list[ast.Module]) -> dict[str, set[str]]:
    """Names at the top of modules, with the codes that they stand for."""
    found: dict[str, set[str]] = {}
    for node in (node for tree in trees for node in tree.body):
        match node:
            case (
                ast.AnnAssign(target=ast.Name(id=name), value=value)
                | ast.Assign(targets=[ast.Name(id=name)], value=value)
            ):
                found.setdefault(name, set()).update(texts(value))
    return found


def texts(node: ast.expr | None) -> set[str]:
    match node:
        case ast.Constant(value=str(text)) if _CODE.fullmatch(text):
            return {text}
    return set()


def code_expressions(tree: ast.Module) -> Iterator[ast.expr]:
    """What is given as a code: `code=…` of a call, what is called `code`, a text among the arguments of an error."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="code", value=value):
                yield value
            case ast.Assign(targets=targets, value=value) if any(map(_is_code, targets)):
                yield value
            case ast.AnnAssign(target=ast.Name(id="code"), value=ast.expr() as value):
                yield value
            case ast.Call(func=func, args=arguments) if ast.unparse(func).endswith("Error"):
                yield from arguments


def _is_code(target: ast.expr) -> bool:
    return ast.unparse(target).rpartition(".")[2] == "code"


def raised_codes() -> set[str]:
    trees = modules()
    named = constants(trees)
    found = set()
    for tree in trees:
        for node in code_expressions(tree):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            found |= texts(node) | named.get(name, set())
    return found


def rows(heading: str) -> list[list[str]]:
    _, _, rest = DOCS.partition(f"\n## {heading}\n")
    lines = _CELLS.findall(rest.partition("\n## ")[0])
    return [[cell.strip() for cell in line.split(" | ")] for line in lines][1:]


def documented_codes() -> list[str]:
    return [row[0].strip("`") for row in rows("Codes")]


def test_every_code_that_can_be_raised_is_documented() -> None:
    assert raised_codes() - set(documented_codes()) == set()


def test_no_code_is_documented_that_nothing_raises() -> None:
    assert set(documented_codes()) - raised_codes() - _FROM_ELSEWHERE == set()


def test_codes_are_found_in_each_of_their_forms() -> None:
    forms = {"IDEMPOTENCY_CONFLICT", "ALL_SOURCES_FAILED", "CUSTOM_TYPES_DISABLED", "METHOD_NOT_ALLOWED", "NOT_JSON"}
    assert forms <= raised_codes()


def test_codes_stand_in_order_and_once() -> None:
    found = documented_codes()
    assert found == sorted(set(found))


def test_every_class_is_documented_with_its_code_and_status() -> None:
    documented = {row[0].split("`")[1]: (row[1].strip("`"), row[2]) for row in rows("Classes")}
    expected = {name: (getattr(errors, name).error_code, status(getattr(errors, name))) for name in errors.__all__}
    assert documented == expected


def status(cls: type[Exception]) -> str:
    if cls is errors.MemoryReplyNotRecordedError:
        return "–"  # the client's own: no server ever says it
    return str(status_of(cls("…")))


@pytest.mark.parametrize("heading", ["Classes", "Codes"])
def test_every_row_is_whole(heading: str) -> None:
    found = rows(heading)
    width = {"Classes": 5, "Codes": 4}[heading]
    assert [row for row in found if len(row) != width and row[0] != "`MemoryAPIError` (`Exception`)"] == []
    assert {row[1].strip("`") for row in rows("Classes")} != set()
    classes = {name for row in rows("Codes") for name in re.findall(r"`(\w+)`", row[1])}
    assert classes <= set(errors.__all__)
