"""Check the shape of the package against its hard limits and print its figures.

Limits: module, function and class size, parameters, swallowing broad `except`, uncoded `type: ignore`, import
cycles (imports inside functions count), and imports inside functions that no entry below gives a reason for.
Usage: `python -m tools.shape [SOURCE_ROOT]`; exit code 1 and one `file:line` a finding when a limit is broken.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.shape_imports import import_cycles, lazy_imports
from tools.shape_source import Function, Module, read_modules

MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_CLASS_METHODS = 25
MAX_CLASS_LINES = 400
MAX_PARAMETERS = 8
MAX_SWALLOWS_PER_KLOC = 0.3
MAX_TYPE_IGNORES_PER_KLOC = 2.0

LONG_MODULE_NAMES = frozenset({"errors"})  # one tree of exceptions is read as one page
FACADES = frozenset({"Memory", "AsyncMemory"})  # their surface is given by the public API


@dataclass(frozen=True, slots=True)
class LazyImport:
    """An allowed import inside a function: who, what, and why it cannot stand at the top."""

    importer: str
    imported: str
    reason: str

    def covers(self, importer: str, imported: str) -> bool:
        """Tell whether this entry allows the import; both names stand for their sub-packages too."""
        return _within(importer, self.importer) and (self.imported == "*" or _within(imported, self.imported))


LAZY_IMPORTS = (
    LazyImport("memoranda.sdk._opening", "memoranda.runtime", "Memory.open: the SDK must load without the engine"),
    LazyImport("memoranda.sdk._connecting", "memoranda.sdk._http_runtime", "importing Memory must not load httpx"),
    LazyImport("memoranda.sdk.aio._connecting", "memoranda.sdk.aio", "importing AsyncMemory must not load httpx"),
    LazyImport("memoranda.__main__", "memoranda.cli", "the base install has no Typer, and is told the remedy"),
    LazyImport("memoranda.cli", "*", "`--help` and a usage error must not pay for the engine"),
    LazyImport("memoranda.engine.extraction.local", "*", "its tables are loaded by the first extraction"),
    LazyImport("memoranda.engine.context", "jinja2", "templates are made for the first context, not at opening"),
    LazyImport("memoranda.providers", "*", "a provider's package is loaded only when it is named"),
    LazyImport("memoranda.runtime", "memoranda.stores.postgres", "its driver is an extra, loaded when it is named"),
    LazyImport("memoranda.stores", "alembic", "loaded only when a migration is due"),
    LazyImport("memoranda.stores", "memoranda.stores.migrations", "brings Alembic: loaded only when one is due"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken limit at one place."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def check_module_size(module: Module) -> Iterator[Finding]:
    """Report a module that is too long; generated files and the error tree are exempt."""
    exempt = module.is_generated or module.name.rpartition(".")[2] in LONG_MODULE_NAMES
    if module.line_count > MAX_MODULE_LINES and not exempt:
        yield Finding(module.path, 1, f"module has {module.line_count} lines, at most {MAX_MODULE_LINES}")


def check_functions(module: Module) -> Iterator[Finding]:
    """Report functions that are too long or take too many positional-or-keyword parameters."""
    for function in module.functions:
        yield from _check_function(module, function)


def _check_function(module: Module, function: Function) -> Iterator[Finding]:
    if function.line_count > MAX_FUNCTION_LINES and not module.is_generated:
        text = f"{function.name}() has {function.line_count} lines, at most {MAX_FUNCTION_LINES}"
        yield Finding(module.path, function.line, text)
    if function.parameter_count > MAX_PARAMETERS:
        text = f"{function.name}() takes {function.parameter_count} positional parameters, at most {MAX_PARAMETERS}"
        yield Finding(module.path, function.line, text)


def check_classes(module: Module) -> Iterator[Finding]:
    """Report classes with too many methods or lines; the facades are exempt."""
    for cls in module.classes:
        if cls.name in FACADES or module.is_generated:
            continue
        if cls.method_count > MAX_CLASS_METHODS:
            text = f"class {cls.name} has {cls.method_count} methods, at most {MAX_CLASS_METHODS}"
            yield Finding(module.path, cls.line, text)
        if cls.line_count > MAX_CLASS_LINES:
            text = f"class {cls.name} has {cls.line_count} lines, at most {MAX_CLASS_LINES}"
            yield Finding(module.path, cls.line, text)


def check_swallows(module: Module) -> Iterator[Finding]:
    """Report a broad `except` that neither raises nor both logs and says why."""
    for swallow in module.swallows:
        if not (swallow.logs and swallow.has_comment):
            yield Finding(module.path, swallow.line, "broad except swallows: raise, or log it and comment why")


def check_type_ignores(module: Module) -> Iterator[Finding]:
    """Report a `type: ignore` without an error code."""
    for ignore in module.type_ignores:
        if not ignore.has_code:
            yield Finding(module.path, ignore.line, "type: ignore without an error code")


def check_rates(modules: list[Module]) -> Iterator[Finding]:
    """Report when explained exceptions to a rule are more than their share of the code."""
    kloc = sum(module.line_count for module in modules) / 1000
    counted = (
        ("swallowing broad excepts", sum(len(m.swallows) for m in modules), MAX_SWALLOWS_PER_KLOC),
        ("type: ignore comments", sum(len(m.type_ignores) for m in modules), MAX_TYPE_IGNORES_PER_KLOC),
    )
    for what, count, rate in counted:
        allowed = math.ceil(rate * kloc)
        if count > allowed:
            yield Finding(modules[0].path.parent, 1, f"{count} {what}, at most {allowed} in {kloc:.1f} KLOC")


def check_lazy_imports(modules: list[Module], allowed: Iterable[LazyImport] = LAZY_IMPORTS) -> Iterator[Finding]:
    """Report imports inside functions that no allow-list entry gives a reason for."""
    entries = tuple(allowed)
    for module in modules:
        for edge in lazy_imports(module):
            if not any(entry.covers(module.name, edge.imported) for entry in entries):
                yield Finding(module.path, edge.line, f"import of {edge.imported} inside a function")


def check_cycles(modules: list[Module]) -> Iterator[Finding]:
    """Report every group of modules that import each other."""
    by_name = {module.name: module for module in modules}
    for cycle in import_cycles(modules):
        yield Finding(by_name[cycle[0]].path, 1, "import cycle: " + ", ".join(cycle))


MODULE_CHECKS: tuple[Callable[[Module], Iterator[Finding]], ...] = (
    check_module_size,
    check_functions,
    check_classes,
    check_swallows,
    check_type_ignores,
)
PACKAGE_CHECKS: tuple[Callable[[list[Module]], Iterator[Finding]], ...] = (
    check_rates,
    check_lazy_imports,
    check_cycles,
)


def check(modules: list[Module]) -> list[Finding]:
    """Return all broken limits, ordered by place."""
    findings = [finding for module in modules for run in MODULE_CHECKS for finding in run(module)]
    findings += [finding for run in PACKAGE_CHECKS for finding in run(modules)]
    return sorted(findings, key=lambda finding: (finding.path, finding.line, finding.message))


def figures(modules: list[Module]) -> str:
    """Return the figures that the limits are about, one line each."""
    sizes = sorted(module.line_count for module in modules)
    functions = [function.line_count for module in modules for function in module.functions] or [0]
    code = sum(module.code_line_count for module in modules)
    comments = sum(module.comment_count for module in modules)
    over_40 = sum(length > 40 for length in functions)
    return "\n".join(
        (
            f"modules    {len(sizes)} with {sum(sizes)} lines: median {statistics.median(sizes):g},"
            f" p90 {sizes[math.ceil(0.9 * len(sizes)) - 1]}, longest {sizes[-1]}",
            f"functions  {len(functions)}: median {statistics.median(functions):g}, longest {max(functions)},"
            f" {100 * over_40 / len(functions):.1f}% over 40 lines",
            f"comments   {100 * comments / max(code, 1):.1f} per 100 code lines",
        )
    )


def main(arguments: list[str]) -> int:
    """Print figures and findings of the source root given (default `src`); return the exit code."""
    modules = read_modules(Path(arguments[0] if arguments else "src"))
    if not modules:
        print("shape: no module found", file=sys.stderr)
        return 2
    findings = check(modules)
    print(figures(modules))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
