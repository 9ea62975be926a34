"""Imports of the package's modules, inside functions too, and the cycles among them.

Imports under `if TYPE_CHECKING:` do not run and do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tools.shape_source import FunctionNode, Module

Graph = dict[str, set[str]]


@dataclass(frozen=True, slots=True)
class Edge:
    """One import: the dotted name imported, where, and whether it stands inside a function."""

    imported: str
    line: int
    lazy: bool


def imports(module: Module) -> Iterator[Edge]:
    """Yield every import that can run; `from a import b` is yielded as `a.b`."""
    yield from _walk(module, module.tree, lazy=False)


def lazy_imports(module: Module) -> Iterator[Edge]:
    """Yield the imports that stand inside functions."""
    return (edge for edge in imports(module) if edge.lazy)


def import_graph(modules: list[Module]) -> Graph:
    """Return which module of the given ones imports which others."""
    names = {module.name for module in modules}
    return {module.name: set(_targets(module, names)) for module in modules}


def import_cycles(modules: list[Module]) -> list[list[str]]:
    """Return the groups of modules that import each other, each sorted, and all sorted."""
    graph = import_graph(modules)
    reachable = {name: _reach(graph, name) for name in graph}
    groups = {
        tuple(sorted(other for other in reachable[name] if name in reachable[other]))
        for name in graph
        if name in reachable[name]
    }
    return sorted(list(group) for group in groups)


def _walk(module: Module, node: ast.AST, *, lazy: bool) -> Iterator[Edge]:
    for child in _running_children(node):
        if isinstance(child, ast.Import):
            yield from (Edge(alias.name, child.lineno, lazy) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = _base(module, child)
            yield from (Edge(f"{base}.{alias.name}", child.lineno, lazy) for alias in child.names)
        else:
            yield from _walk(module, child, lazy=lazy or isinstance(child, FunctionNode | ast.Lambda))


def _running_children(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.If) and _is_type_checking(node.test):
        return iter(node.orelse)
    return ast.iter_child_nodes(node)


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
    return name == "TYPE_CHECKING"


def _base(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    parents = package[: len(package) - (node.level - 1)]
    return ".".join([*parents, *([node.module] if node.module else [])])


def _targets(module: Module, names: set[str]) -> Iterator[str]:
    for edge in imports(module):
        # `a.b` is the module a.b, or the name b in module a.
        for candidate in (edge.imported, edge.imported.rpartition(".")[0]):
            if candidate in names:
                yield candidate
                break


def _reach(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    pending = list(graph[start])
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending.extend(graph[name])
    return seen
